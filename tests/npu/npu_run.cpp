// npu_run CASEDIR...: runs the command stream of a case and compares what must be there after it.
// A case is a folder with meta.txt, cmd.bin and the files they name:
//
//   config ethos-u55-128
//   region INDEX FILE|zero BYTES       memory of a region; `zero` is filled with 0xA5
//   input REGION OFFSET FILE           copied before the run
//   output REGION OFFSET BYTES FILE    compared after it
//
// Other lines are ignored. Prints one line per case, and the first difference per output. With
// --slow only the general paths run; with --time the run's milliseconds are printed.
// Exit code 1 if a case differs or cannot be run.

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "npu/ethos_u/isa/driver_payload.h"
#include "npu/ethos_u/sim/machine.h"

namespace {

namespace ethos_u = thimble::ethos_u;
namespace sim = thimble::ethos_u::sim;
using Bytes = std::vector<uint8_t>;

struct Expected {
  uint32_t region = 0;
  uint64_t offset = 0;
  Bytes bytes;
  std::string file;
};

struct Case {
  std::string error;
  const ethos_u::Config* config = nullptr;
  Bytes commands;
  Bytes regions[sim::kRegions];
  bool read_only[sim::kRegions] = {};
  std::vector<Expected> outputs;
};

bool read_file(const std::filesystem::path& path, Bytes* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

std::string read_region(const std::filesystem::path& folder, std::istringstream& line, Case* c) {
  uint32_t index = 0;
  std::string file;
  uint64_t size = 0;
  line >> index >> file >> size;
  if (!line || index >= sim::kRegions) return "a region line that cannot be read";
  Bytes& region = c->regions[index];
  if (file != "zero") {
    if (!read_file(folder / file, &region)) return "no file " + file;
    c->read_only[index] = true;
  }
  region.resize(size, 0xA5);
  return {};
}

std::string read_input(const std::filesystem::path& folder, std::istringstream& line, Case* c) {
  uint32_t region = 0;
  uint64_t offset = 0;
  std::string file;
  Bytes bytes;
  line >> region >> offset >> file;
  if (!line || !read_file(folder / file, &bytes)) return "no file " + file;
  if (region >= sim::kRegions || offset + bytes.size() > c->regions[region].size()) {
    return "input " + file + " does not fit into its region";
  }
  std::memcpy(c->regions[region].data() + offset, bytes.data(), bytes.size());
  return {};
}

std::string read_output(const std::filesystem::path& folder, std::istringstream& line, Case* c) {
  Expected expected;
  uint64_t size = 0;
  line >> expected.region >> expected.offset >> size >> expected.file;
  if (!line || !read_file(folder / expected.file, &expected.bytes)) {
    return "no file " + expected.file;
  }
  if (expected.bytes.size() != size || expected.region >= sim::kRegions ||
      expected.offset + size > c->regions[expected.region].size()) {
    return "output " + expected.file + " does not fit into its region";
  }
  c->outputs.push_back(std::move(expected));
  return {};
}

Case read_case(const std::filesystem::path& folder) {
  Case c;
  std::ifstream meta(folder / "meta.txt");
  if (!meta) c.error = "no meta.txt";
  if (!read_file(folder / "cmd.bin", &c.commands)) c.error = "no cmd.bin";
  for (int pass = 0; pass < 2 && c.error.empty(); ++pass) {  // regions before what lies in them
    meta.clear();
    meta.seekg(0);
    for (std::string text; c.error.empty() && std::getline(meta, text);) {
      std::istringstream line(text);
      std::string word;
      line >> word;
      if (pass == 0 && word == "config") {
        line >> word;
        c.config = ethos_u::find_config(word.c_str());
      } else if (pass == 0 && word == "region") {
        c.error = read_region(folder, line, &c);
      } else if (pass == 1 && word == "input") {
        c.error = read_input(folder, line, &c);
      } else if (pass == 1 && word == "output") {
        c.error = read_output(folder, line, &c);
      }
    }
  }
  if (c.error.empty() && c.config == nullptr) c.error = "no configuration of this name";
  return c;
}

struct Options {
  bool slow = false, time = false;
};

std::string compare(const Case& c, const std::vector<std::vector<uint64_t>>& regions) {
  std::string report;
  for (const Expected& expected : c.outputs) {
    const auto* bytes =
        reinterpret_cast<const uint8_t*>(regions[expected.region].data()) + expected.offset;
    size_t differing = 0, first = 0;
    for (size_t i = expected.bytes.size(); i-- > 0;) {
      if (bytes[i] != expected.bytes[i]) ++differing, first = i;
    }
    if (differing == 0) continue;
    report += " " + expected.file + ": " + std::to_string(differing) + " of " +
              std::to_string(expected.bytes.size()) + " bytes differ, first at " +
              std::to_string(first) + ": " + std::to_string(bytes[first]) + ", expected " +
              std::to_string(expected.bytes[first]);
  }
  return report;
}

/// Empty if every byte is as expected.
std::string run_case(Case& c, const Options& options, double* milliseconds) {
  ethos_u::DriverPayload payload;
  if (!ethos_u::read_driver_payload(c.commands.data(), static_cast<uint32_t>(c.commands.size()),
                                    payload)) {
    return "cmd.bin is no driver payload";
  }
  if (payload.config != ethos_u::config_word(*c.config)) return "a stream for another NPU";
  std::vector<uint32_t> words(payload.stream_words);
  std::memcpy(words.data(), c.commands.data() + payload.stream_offset, words.size() * 4);
  sim::Job job;
  job.config = c.config;
  job.words = words.data();
  job.word_count = payload.stream_words;
  job.slow = options.slow;
  std::vector<std::vector<uint64_t>> regions(sim::kRegions);
  for (uint32_t i = 0; i < sim::kRegions; ++i) {
    regions[i].resize(c.regions[i].size() / 8 + 2);
    std::memcpy(regions[i].data(), c.regions[i].data(), c.regions[i].size());
    job.regions[i] = {reinterpret_cast<uint8_t*>(regions[i].data()), c.regions[i].size(),
                      c.read_only[i]};
  }
  size_t bytes = 0;
  sim::Fault fault = sim::workspace_bytes(*c.config, words.data(), job.word_count, &bytes);
  std::vector<uint64_t> workspace(bytes / 8 + 1);
  job.workspace = reinterpret_cast<uint8_t*>(workspace.data());
  job.workspace_bytes = bytes;
  const auto start = std::chrono::steady_clock::now();
  if (fault.none()) fault = sim::run(job);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  *milliseconds = took.count();
  if (!fault.none()) {
    return "fault at word " + std::to_string(fault.word) + ": " + fault.detail + " (region " +
           std::to_string(fault.region) + ", address " + std::to_string(fault.address) + ")";
  }
  return compare(c, regions);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  size_t cases = 0, failed = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--slow" || argument == "--time") {
      (argument == "--slow" ? options.slow : options.time) = true;
      continue;
    }
    Case c = read_case(argument);
    double milliseconds = 0;
    const std::string report =
        c.error.empty() ? run_case(c, options, &milliseconds) : "cannot be run: " + c.error;
    ++cases;
    if (!report.empty()) ++failed;
    if (!report.empty() || options.time) {
      std::printf("%s:%s", argument.c_str(), report.empty() ? " equal" : (" " + report).c_str());
      if (options.time) std::printf(" (%.1f ms)", milliseconds);
      std::printf("\n");
    }
  }
  std::printf("%zu cases, %zu failed\n", cases, failed);
  return cases == 0 || failed != 0 ? 1 : 0;
}
