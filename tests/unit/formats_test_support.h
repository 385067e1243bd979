// SPDX-License-Identifier: Apache-2.0
#pragma once
// Archives made in memory: a zip writer that can write inconsistent headers, and a minimal
// torch.export archive whose JSON a test edits before it is packed.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "formats/zip/zip.h"

namespace thimble::formats::testing {

inline Bytes to_bytes(std::string_view text) {
  const ByteView view = as_byte_view(text);
  return {view.begin(), view.end()};
}

inline uint32_t crc32(ByteView bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> rows{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit)
        value = value & 1 ? 0xEDB8'8320U ^ (value >> 1) : value >> 1;
      rows[i] = value;
    }
    return rows;
  }();
  uint32_t crc = 0xFFFF'FFFFU;
  for (const std::byte byte : bytes) {
    crc = table[(crc ^ std::to_integer<uint32_t>(byte)) & 0xFF] ^ (crc >> 8);
  }
  return ~crc;
}

/// One member; header fields that are not set are written correctly.
struct ZipMember {
  std::string name;
  Bytes bytes;  // as stored in the file
  uint16_t method = 0;
  uint16_t flags = 0;
  std::optional<uint32_t> size;  // uncompressed size in bytes
  std::optional<uint32_t> size_compressed;
  std::optional<uint32_t> crc;
};

/// Returns a member whose bytes are wrapped in deflate's "stored" blocks. It is compressed by name
/// only, which is sufficient for a test of the reader's limits.
inline ZipMember deflated(std::string name, ByteView bytes) {
  ZipMember member{std::move(name), {}, 8, 0, static_cast<uint32_t>(bytes.size()), {}, {}};
  member.crc = crc32(bytes);
  do {
    const size_t length = std::min<size_t>(bytes.size(), 0xFFFF);
    member.bytes.push_back(static_cast<std::byte>(length == bytes.size()));
    append_le(member.bytes, static_cast<uint16_t>(length));
    append_le(member.bytes, static_cast<uint16_t>(~length));
    append(member.bytes, bytes.first(length));
    bytes = bytes.subspan(length);
  } while (!bytes.empty());
  return member;
}

namespace zip_detail {
inline void append_fields(Bytes& out, const ZipMember& member) {
  append_le(out, uint16_t{20});
  append_le(out, member.flags);
  append_le(out, member.method);
  append_le(out, uint32_t{0x0021'0000});  // 1980-01-01
  append_le(out, member.crc.value_or(crc32(member.bytes)));
  append_le(out, member.size_compressed.value_or(static_cast<uint32_t>(member.bytes.size())));
  append_le(out, member.size.value_or(static_cast<uint32_t>(member.bytes.size())));
  append_le(out, static_cast<uint16_t>(member.name.size()));
  append_le(out, uint16_t{0});
}
}  // namespace zip_detail

inline Bytes make_zip(const std::vector<ZipMember>& members) {
  Bytes file;
  Bytes directory;
  for (const ZipMember& member : members) {
    const auto offset = static_cast<uint32_t>(file.size());
    append_le(file, uint32_t{0x0403'4B50});
    zip_detail::append_fields(file, member);
    append(file, as_byte_view(member.name));
    append(file, member.bytes);

    append_le(directory, uint32_t{0x0201'4B50});
    append_le(directory, uint16_t{20});
    zip_detail::append_fields(directory, member);
    append_le(directory, uint16_t{0});  // comment
    append_le(directory, uint16_t{0});  // disk
    append_le(directory, uint16_t{0});
    append_le(directory, uint32_t{0});
    append_le(directory, offset);
    append(directory, as_byte_view(member.name));
  }
  const auto start = static_cast<uint32_t>(file.size());
  append(file, directory);
  append_le(file, uint32_t{0x0605'4B50});
  append_le(file, uint32_t{0});
  append_le(file, static_cast<uint16_t>(members.size()));
  append_le(file, static_cast<uint16_t>(members.size()));
  append_le(file, static_cast<uint32_t>(directory.size()));
  append_le(file, start);
  append_le(file, uint16_t{0});
  return file;
}

/// The members of an archive by name, without their common folder.
struct Pt2Parts {
  nlohmann::json model;
  nlohmann::json weights;
  nlohmann::json constants;
  std::map<std::string, Bytes> others;  // payloads and small text members

  [[nodiscard]] Bytes pack() const {
    return pack_texts(model.dump(), weights.dump(), constants.dump());
  }
  [[nodiscard]] Bytes pack_texts(std::string_view model_text, std::string_view weights_text,
                                 std::string_view constants_text) const {
    std::vector<ZipMember> members;
    const auto add = [&](std::string_view name, Bytes bytes) {
      members.push_back({"net/" + std::string(name), std::move(bytes), 0, 0, {}, {}, {}});
    };
    for (const auto& [name, bytes] : others) add(name, bytes);
    add("models/model.json", to_bytes(model_text));
    add("data/weights/model_weights_config.json", to_bytes(weights_text));
    add("data/constants/model_constants_config.json", to_bytes(constants_text));
    return make_zip(members);
  }
};

/// Unpacks a fixture, without the sample inputs, which no reader reads.
inline Pt2Parts load_pt2(const std::filesystem::path& path) {
  auto archive = zip::Archive::open(path);
  if (!archive) throw std::runtime_error(archive.error().message);
  Pt2Parts parts;
  for (const zip::Member& member : archive->members()) {
    const std::string name = member.name.substr(member.name.find('/') + 1);
    if (name.starts_with("data/sample_inputs")) continue;
    auto bytes = archive->read(member.name);
    if (!bytes) throw std::runtime_error(bytes.error().message);
    const auto parse = [&] { return nlohmann::json::parse(as_text(*bytes)); };
    if (name == "models/model.json") {
      parts.model = parse();
    } else if (name == "data/weights/model_weights_config.json") {
      parts.weights = parse();
    } else if (name == "data/constants/model_constants_config.json") {
      parts.constants = parse();
    } else {
      parts.others[name] = std::move(*bytes);
    }
  }
  return parts;
}

inline nlohmann::json tensor_meta(const std::vector<int64_t>& sizes, int dtype = 7) {
  nlohmann::json meta = {{"dtype", dtype},
                         {"sizes", nlohmann::json::array()},
                         {"requires_grad", false},
                         {"device", {{"type", "cpu"}, {"index", nullptr}}},
                         {"strides", nlohmann::json::array()},
                         {"storage_offset", {{"as_int", 0}}},
                         {"layout", 7}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t stride = 1;
    for (size_t inner = i + 1; inner < sizes.size(); ++inner) stride *= sizes[inner];
    meta["sizes"].push_back({{"as_int", sizes[i]}});
    meta["strides"].push_back({{"as_int", stride}});
  }
  return meta;
}

/// float32[2,3] x -> linear(x, weight float32[4,3]) -> relu; weight[i][j] = 3 i + j.
inline Pt2Parts small_pt2() {
  Pt2Parts parts;
  parts.model = nlohmann::json::parse(R"({
    "graph_module": {
      "graph": {
        "inputs": [{"as_tensor": {"name": "p_weight"}}, {"as_tensor": {"name": "x"}}],
        "outputs": [{"as_tensor": {"name": "relu"}}],
        "nodes": [
          {"target": "torch.ops.aten.linear.default", "name": "linear",
           "inputs": [
             {"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
             {"name": "weight", "arg": {"as_tensor": {"name": "p_weight"}}, "kind": 1}],
           "outputs": [{"as_tensor": {"name": "linear"}}],
           "metadata": {}},
          {"target": "torch.ops.aten.relu.default", "name": "relu",
           "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1}],
           "outputs": [{"as_tensor": {"name": "relu"}}],
           "metadata": {}}],
        "sym_int_values": {}},
      "signature": {
        "input_specs": [
          {"parameter": {"arg": {"name": "p_weight"}, "parameter_name": "fc.weight"}},
          {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
        "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}]}},
    "range_constraints": {},
    "schema_version": {"major": 8, "minor": 20},
    "torch_version": "2.13.0"})");
  parts.model["graph_module"]["graph"]["tensor_values"] = {{"p_weight", tensor_meta({4, 3})},
                                                           {"x", tensor_meta({2, 3})},
                                                           {"linear", tensor_meta({2, 4})},
                                                           {"relu", tensor_meta({2, 4})}};
  parts.model["graph_module"]["graph"]["nodes"][0]["metadata"] = {
      {"stack_trace",
       "File \"/home/me/net.py\", line 7, in forward\n    y = self.fc(x)\n"
       "  File \"/v/site-packages/torch/nn/modules/linear.py\", line 9, in forward\n    return"},
      {"nn_module_stack", "L__self__,,__main__.Net;L__self__fc,fc,torch.nn.Linear"}};
  parts.weights = nlohmann::json::parse(
      R"({"config": {"fc.weight": {"path_name": "weight_0", "is_param": true,
                                   "use_pickle": false}}})");
  parts.weights["config"]["fc.weight"]["tensor_meta"] = tensor_meta({4, 3});
  parts.constants = nlohmann::json::parse(R"({"config": {}})");
  Bytes weight;
  for (uint32_t i = 0; i < 12; ++i) {
    const auto value = static_cast<float>(i);
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    append_le(weight, bits);
  }
  parts.others = {{"data/weights/weight_0", weight},
                  {"archive_format", to_bytes("pt2")},
                  {"archive_version", to_bytes("0")},
                  {"byteorder", to_bytes("little")}};
  return parts;
}

}  // namespace thimble::formats::testing
