// SPDX-License-Identifier: Apache-2.0
#include "tests/npu/case.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/sim/hazard.h"
#include "engines/ethos_u/text/text.h"

namespace thimble::ethos_u::testing {
namespace {

Bytes read_all(std::istream& file) {
  return {std::istreambuf_iterator<char>(file), {}};
}

const Bytes* find(const Files& files, const std::string& name) {
  const auto found = files.find(name);
  return found == files.end() ? nullptr : &found->second;
}

std::string read_region(const Files& files, std::istringstream& line, Case* c) {
  uint32_t index = 0;
  std::string name;
  uint64_t size = 0;
  line >> index >> name >> size;
  if (!line || index >= sim::kRegions) return "invalid region line";
  Bytes& region = c->regions[index];
  if (name != "zero") {
    const Bytes* file = find(files, name);
    if (file == nullptr) return "no file " + name;
    region = *file;
    c->read_only[index] = true;
  }
  region.resize(size, 0xA5);
  return {};
}

bool fits(const Case& c, uint32_t region, uint64_t offset, uint64_t size) {
  if (region >= sim::kRegions) return false;
  const uint64_t bytes = c.regions[region].size();
  return size <= bytes && offset <= bytes - size;
}

std::string read_input(const Files& files, std::istringstream& line, Case* c) {
  uint32_t region = 0;
  uint64_t offset = 0;
  std::string name;
  line >> region >> offset >> name;
  const Bytes* file = find(files, name);
  if (!line || file == nullptr) return "no file " + name;
  if (!fits(*c, region, offset, file->size())) return name + " does not fit into its region";
  std::memcpy(c->regions[region].data() + offset, file->data(), file->size());
  return {};
}

std::string read_output(const Files& files, std::istringstream& line, Case* c) {
  Expected expected;
  uint64_t size = 0;
  line >> expected.region >> expected.offset >> size >> expected.file;
  const Bytes* file = find(files, expected.file);
  if (!line || file == nullptr) return "no file " + expected.file;
  expected.bytes = *file;
  if (expected.bytes.size() != size || !fits(*c, expected.region, expected.offset, size)) {
    return expected.file + " does not fit into its region";
  }
  c->outputs.push_back(std::move(expected));
  return {};
}

/// Reads the region lines if `regions`, else the inputs and outputs inside regions.
std::string read_meta(const Files& files, const Bytes& meta, bool regions, Case* c) {
  std::istringstream lines(std::string(meta.begin(), meta.end()));
  std::string error;
  for (std::string text; error.empty() && std::getline(lines, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (regions && word == "config") {
      line >> word;
      c->config = find_config(word.c_str());
    } else if (regions && word == "region") {
      error = read_region(files, line, c);
    } else if (!regions && word == "input") {
      error = read_input(files, line, c);
    } else if (!regions && word == "output") {
      error = read_output(files, line, c);
    }
  }
  return error;
}

std::string read_stream(Case* c) {
  DriverPayload payload;
  if (!read_driver_payload(c->commands.data(), static_cast<uint32_t>(c->commands.size()),
                           payload)) {
    return "cmd.bin is not a driver payload";
  }
  if (payload.config != config_word(*c->config))
    return "the command stream is for another NPU configuration";
  c->words.resize(payload.stream_words);
  std::memcpy(c->words.data(), c->commands.data() + payload.stream_offset, c->words.size() * 4);
  return {};
}

using Memories = std::vector<std::vector<uint64_t>>;  // aligned as the NPU requires

std::string compare(const Case& c, const Memories& memories) {
  std::string report;
  for (const Expected& expected : c.outputs) {
    const auto* bytes =
        reinterpret_cast<const uint8_t*>(memories[expected.region].data()) + expected.offset;
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

}  // namespace

Files read_folder(const std::filesystem::path& folder) {
  Files files;
  if (!std::filesystem::exists(folder / "meta.txt")) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = read_all(file);
  }
  return files;
}

std::map<std::string, Files> read_archive(const std::filesystem::path& path, std::string* error) {
  std::map<std::string, Files> cases;
  std::ifstream archive(path, std::ios::binary);
  if (!archive) *error = "no file " + path.string();
  for (std::string text; error->empty() && std::getline(archive, text);) {
    std::istringstream line(text);
    std::string word, name;
    uint64_t size = 0;
    line >> word >> name >> size;
    const size_t slash = name.find('/');
    if (!line || word != "file" || slash == std::string::npos || size > (uint64_t{1} << 30)) {
      *error = "invalid entry";
      break;
    }
    Bytes bytes(size);
    archive.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (static_cast<uint64_t>(archive.gcount()) != size) *error = "the archive ends early";
    cases[name.substr(0, slash)][name.substr(slash + 1)] = std::move(bytes);
  }
  return cases;
}

Case read_case(const Files& files) {
  Case c;
  const Bytes* meta = find(files, "meta.txt");
  const Bytes* commands = find(files, "cmd.bin");
  if (meta == nullptr || commands == nullptr) {
    c.error = "no meta.txt or no cmd.bin";
    return c;
  }
  c.commands = *commands;
  c.error = read_meta(files, *meta, true, &c);
  if (c.error.empty()) c.error = read_meta(files, *meta, false, &c);
  if (c.error.empty() && c.config == nullptr) c.error = "no configuration of this name";
  if (c.error.empty() && c.outputs.empty()) c.error = "no output";
  if (c.error.empty()) c.error = read_stream(&c);
  return c;
}

std::string run_case(const Case& c, const Options& options, double* milliseconds) {
  sim::Job job;
  job.config = c.config;
  job.words = c.words.data();
  job.word_count = static_cast<uint32_t>(c.words.size());
  job.slow = options.slow;
  Memories memories(sim::kRegions);
  for (uint32_t i = 0; i < sim::kRegions; ++i) {
    memories[i].resize(c.regions[i].size() / 8 + 2);
    if (!c.regions[i].empty()) {
      std::memcpy(memories[i].data(), c.regions[i].data(), c.regions[i].size());
    }
    job.regions[i] = {reinterpret_cast<uint8_t*>(memories[i].data()), c.regions[i].size(),
                      c.read_only[i]};
  }
  size_t bytes = 0;
  sim::Fault fault = sim::workspace_bytes(*c.config, job.words, job.word_count, &bytes);
  std::vector<uint64_t> workspace(bytes / 8 + 1);
  job.workspace = reinterpret_cast<uint8_t*>(workspace.data());
  job.workspace_bytes = bytes;
  sim::HazardChecker checker(*c.config);
  const sim::Observer observer = checker.observer();
  if (options.hazards) job.observer = &observer;
  const auto start = std::chrono::steady_clock::now();
  if (fault.none()) fault = sim::run(job);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  if (milliseconds != nullptr) *milliseconds = took.count();
  if (fault.none() && options.hazards) fault = checker.first();
  if (fault.none()) return compare(c, memories);
  return "fault at word " + std::to_string(fault.word) + " (other " +
         std::to_string(fault.other_word) + "): " + fault.detail + " (region " +
         std::to_string(fault.region) + ", address " + std::to_string(fault.address) + ")";
}

std::string round_trip(const Case& c) {
  const std::string text = text::disassemble(c.words, c.config->generation);
  const auto words = text::assemble(text, c.config->generation, "stream");
  if (!words.ok()) return words.error().message;
  if (*words == c.words) return {};
  size_t at = 0;
  while (at < words->size() && at < c.words.size() && (*words)[at] == c.words[at]) ++at;
  return "the stream read back from its text differs at word " + std::to_string(at);
}

}  // namespace thimble::ethos_u::testing
