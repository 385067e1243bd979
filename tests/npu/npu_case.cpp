#include "npu_case.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "npu/ethos_u/isa/driver_payload.h"

namespace thimble::npu_test {
namespace {

namespace sim = ethos_u::sim;
using Bytes = std::vector<uint8_t>;

bool read_file(const std::filesystem::path& path, Bytes* bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return false;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

/// What lies in regions, once all regions are there.
struct Content {
  uint32_t region;
  uint64_t offset;
  std::string file;
};

std::string read_line(const std::filesystem::path& folder, const std::string& text, Case* c,
                      std::vector<Content>* contents) {
  std::istringstream line(text);
  std::string word, file;
  line >> word;
  if (word == "config") {
    line >> word;
    c->config = ethos_u::find_config(word.c_str());
    if (c->config == nullptr) return "no configuration " + word;
  } else if (word == "memory") {
    line >> c->memory;
  } else if (word == "region") {
    uint32_t index = 0;
    uint64_t size = 0;
    line >> index >> file >> size;
    if (!line || index >= sim::kRegions) return "'" + text + "' is no region";
    c->read_only[index] = file != "zero";
    if (c->read_only[index] && !read_file(folder / file, &c->regions[index])) return "no " + file;
    c->regions[index].resize(size, 0xA5);
  } else if (word == "input") {
    Content content;
    line >> content.region >> content.offset >> content.file;
    if (!line || content.region >= sim::kRegions) return "'" + text + "' is no input";
    contents->push_back(content);
  } else if (word == "output") {
    Output output;
    line >> output.region >> output.offset >> output.bytes;
    if (!line || output.region >= sim::kRegions) return "'" + text + "' is no output";
    c->outputs.push_back(output);
  }
  return {};
}

std::string read_stream(const Bytes& commands, Case* c) {
  ethos_u::DriverPayload payload;
  if (!ethos_u::read_driver_payload(commands.data(), static_cast<uint32_t>(commands.size()),
                                    payload)) {
    return "cmd.bin is no driver payload";
  }
  c->stream.resize(payload.stream_words);
  std::memcpy(c->stream.data(), commands.data() + payload.stream_offset,
              size_t{4} * payload.stream_words);
  return {};
}

std::string read_all(const std::filesystem::path& folder, Case* c) {
  std::ifstream meta(folder / "meta.txt");
  Bytes commands;
  if (!meta || !read_file(folder / "cmd.bin", &commands)) return "no meta.txt or no cmd.bin";
  std::vector<Content> contents;
  for (std::string text; std::getline(meta, text);) {
    if (std::string error = read_line(folder, text, c, &contents); !error.empty()) return error;
  }
  for (const Content& content : contents) {
    Bytes bytes;
    Bytes& region = c->regions[content.region];
    if (!read_file(folder / content.file, &bytes)) return "no " + content.file;
    if (content.offset + bytes.size() > region.size()) return content.file + " does not fit";
    std::memcpy(region.data() + content.offset, bytes.data(), bytes.size());
  }
  for (const Output& output : c->outputs) {
    if (output.offset + output.bytes > c->regions[output.region].size()) {
      return "an output outside its region";
    }
  }
  if (c->config == nullptr) return "no configuration";
  return read_stream(commands, c);
}

}  // namespace

Case read_case(const std::filesystem::path& folder, std::string* error) {
  Case c;
  c.name = folder.parent_path().filename().string() + "/" + folder.filename().string();
  *error = read_all(folder, &c);
  return c;
}

Run::Run(const Case& c, const std::vector<uint32_t>& stream)
    : case_(c), stream_(stream), regions_(sim::kRegions) {
  for (uint32_t i = 0; i < sim::kRegions; ++i) {
    regions_[i].resize(c.regions[i].size() / 8 + 2);
    if (!c.regions[i].empty()) {
      std::memcpy(regions_[i].data(), c.regions[i].data(), c.regions[i].size());
    }
  }
}

sim::Job Run::job(std::vector<uint64_t>& workspace) const {
  sim::Job job;
  job.config = case_.config;
  job.words = stream_.data();
  job.word_count = static_cast<uint32_t>(stream_.size());
  for (uint32_t i = 0; i < sim::kRegions; ++i) {
    auto* data = reinterpret_cast<uint8_t*>(const_cast<uint64_t*>(regions_[i].data()));
    job.regions[i] = {data, case_.regions[i].size(), case_.read_only[i]};
  }
  job.workspace = reinterpret_cast<uint8_t*>(workspace.data());
  job.workspace_bytes = workspace.size() * 8;
  return job;
}

std::vector<uint8_t> Run::outputs() const {
  std::vector<uint8_t> bytes;
  for (const Output& output : case_.outputs) {
    const auto* data = reinterpret_cast<const uint8_t*>(regions_[output.region].data());
    bytes.insert(bytes.end(), data + output.offset, data + output.offset + output.bytes);
  }
  return bytes;
}

}  // namespace thimble::npu_test
