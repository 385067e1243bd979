// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/write.h"

#include <cstring>

#include "base/bytes.h"
#include "base/narrow.h"
#include "base/size_text.h"
#include "engines/axon/compiler/scale.h"

namespace thimble::engine::axon {
namespace {

using container::Header;
using container::IoRecord;
using container::LayerRecord;
using container::Operand;
using container::VariableRecord;

class Writer {
 public:
  explicit Writer(const Network& network) : net_(network), constants_(network.constants) {}

  std::vector<std::byte> run(const std::string& name) {
    for (const Layer& layer : net_.layers) layers_.push_back(record(layer));
    align_size(constants_, container::kSectionAlignment);
    std::vector<std::byte> file = assemble(name);
    const std::string hashed = fmt::format("{}_{:012x}", name, hash(file) & 0xFFFFFFFFFFFF);
    set_name(&file, hashed);
    const uint64_t content = hash(file);
    std::memcpy(file.data() + offsetof(Header, content_hash), &content, sizeof content);
    return file;
  }

 private:
  static uint64_t hash(const std::vector<std::byte>& file) {
    return container::content_hash(reinterpret_cast<const uint8_t*>(file.data()), u32(file.size()));
  }
  static void set_name(std::vector<std::byte>* file, const std::string& name) {
    std::memset(file->data() + offsetof(Header, name), 0, container::kNameBytes);
    std::memcpy(file->data() + offsetof(Header, name), name.data(), name.size());
  }

  template <typename T>
  uint32_t constants(const std::vector<T>& values) {
    if (values.empty()) return container::kAbsent;
    align_size(constants_, 4);
    const auto offset = u32(constants_.size());
    append(constants_, std::as_bytes(std::span(values)));
    return offset;
  }

  Operand operand(const BufferView& map) const {
    const Buffer& buffer = net_.buffers[static_cast<size_t>(map.buffer)];
    Operand result = {};
    result.source = buffer.source;
    result.element_bytes = u8(map.element_bytes);
    result.producer = static_cast<int16_t>(map.producer);
    result.offset = u32(buffer.offset + map.offset);
    result.row_stride = u32(map.row_stride);
    result.n = 1;
    result.c = u16(map.dims.c);
    result.h = u16(map.dims.h);
    result.w = u16(map.dims.w);
    result.zero_point = map.zero_point;
    result.index = u16(buffer.index);
    return result;
  }

  /// Sets the output scale. Before a sigmoid or tanh, the vendor's tools require this fixed one.
  void set_dequantize(const Layer& layer, LayerRecord* record) const {
    constexpr uint32_t kFractionMult = 1U << 29;
    constexpr uint8_t kFractionShift = 17;
    if (layer.output.element_bytes == 2) {
      record->dequant_multiplier = kFractionMult;
      record->dequant_shift = kFractionShift;
    } else if (layer.scale > 0) {
      const Scale scale = scale_of_edge(layer.scale);
      record->dequant_multiplier = u32(scale.mult);
      record->dequant_shift = u8(scale.shift);
    }
  }

  void set_weights(const Layer& layer, LayerRecord* record) {
    if (layer.constants_of >= 0) {
      const LayerRecord& first = layers_[static_cast<size_t>(layer.constants_of)];
      record->weights = first.weights;
      record->weight_bytes = first.weight_bytes;
      record->bias = first.bias;
      record->multipliers = first.multipliers;
      record->shifts = first.shifts;
    } else {
      record->weights = constants(layer.weights);
      record->weight_bytes = u32(layer.weights.size());
      record->bias = constants(layer.bias);
      record->multipliers = constants(layer.multipliers);
      record->shifts = constants(layer.shifts);
    }
    record->scale_shift_count = u16(layer.shifts.size());
  }

  LayerRecord record(const Layer& layer) {
    LayerRecord r = {};
    r.operation = layer.operation;
    r.activation = layer.activation;
    r.input_count = u8(layer.inputs.size());
    r.axis = layer.axis;
    r.kernel_h = u16(layer.kernel_h);
    r.kernel_w = u16(layer.kernel_w);
    r.stride_y = u8(layer.stride_y);
    r.stride_x = u8(layer.stride_x);
    r.dilation_y = u8(layer.dilation_y);
    r.dilation_x = u8(layer.dilation_x);
    r.pad_top = u8(layer.pad_top);
    r.pad_left = u8(layer.pad_left);
    r.pad_bottom = u8(layer.pad_bottom);
    r.pad_right = u8(layer.pad_right);
    set_weights(layer, &r);
    r.attributes = constants(layer.attributes);
    r.attribute_count = u16(layer.attributes.size());
    set_dequantize(layer, &r);
    r.cycles = u32(layer.cycles);
    for (size_t i = 0; i < layer.inputs.size(); ++i) r.inputs[i] = operand(layer.inputs[i]);
    r.output = operand(layer.output);
    return r;
  }

  IoRecord edge(const NetworkIo& edge, bool input, int64_t dense_offset) const {
    const Operand place = operand(edge.map);
    IoRecord r = {};
    r.element_bytes = place.element_bytes;
    r.source = edge.variable >= 0 ? Source::kPersistent : place.source;
    r.index = place.index;
    r.n = 1;
    r.c = place.c;
    r.h = place.h;
    r.w = place.w;
    r.dense_offset = u32(dense_offset);
    r.offset = place.offset;
    r.row_stride = place.row_stride;
    r.scale = edge.scale;
    r.zero_point = place.zero_point;
    r.producer = input ? container::kNoProducer : place.producer;
    const Scale scale = scale_of_edge(input ? 1 / edge.scale : edge.scale);
    r.multiplier = u32(scale.mult);
    r.shift = u8(scale.shift);
    return r;
  }

  void append_edges(const std::vector<NetworkIo>& edges, bool inputs,
                    std::vector<std::byte>& file) {
    int64_t dense = 0;
    for (const NetworkIo& e : edges) {
      append_record(file, edge(e, inputs, dense));
      dense += padded_row(e.map.dims.elements() * e.map.element_bytes);
    }
  }

  std::vector<std::byte> assemble(const std::string& name) {
    Header header = {};
    header.magic = container::kMagic;
    header.version = container::kVersion;
    header.header_bytes = sizeof(Header);
    header.input_count = u8(net_.inputs.size());
    header.output_count = u8(net_.outputs.size());
    header.layer_count = u16(layers_.size());
    header.variable_count = u16(net_.variables.size());
    header.interlayer_bytes = u32(net_.interlayer_bytes);
    header.persistent_bytes = u32(net_.persistent_bytes);
    header.constant_bytes = u32(constants_.size());
    header.cycles = u32(net_.cycles());
    std::vector<std::byte> file(sizeof(Header));
    const auto section = [&](uint32_t* offset) {
      align_size(file, container::kSectionAlignment);
      *offset = u32(file.size());
    };
    section(&header.io_offset);
    append_edges(net_.inputs, true, file);
    append_edges(net_.outputs, false, file);
    section(&header.variables_offset);
    for (const Variable& variable : net_.variables) {
      const Buffer& buffer = net_.buffers[static_cast<size_t>(variable.buffer)];
      append_record(file, VariableRecord{u32(buffer.offset),
                                         u32(buffer.bytes),
                                         u8(variable.element_bytes),
                                         {},
                                         variable.initial});
    }
    section(&header.layers_offset);
    for (const LayerRecord& layer : layers_) append_record(file, layer);
    section(&header.constants_offset);
    append(file, constants_);
    header.bytes = u32(file.size());
    std::memcpy(file.data(), &header, sizeof header);
    set_name(&file, name);
    return file;
  }

  const Network& net_;
  std::vector<std::byte> constants_;
  std::vector<LayerRecord> layers_;
};

/// Returns a lower-case C identifier, short enough that a hash can be appended.
std::string identifier(const std::string& name) {
  constexpr size_t kRoom = container::kNameBytes - 16;
  std::string result;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const char lower = upper ? static_cast<char>(c - 'A' + 'a') : c;
    const bool known = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (result.size() < kRoom) result += known ? lower : '_';
  }
  const bool letter = !result.empty() && !(result[0] >= '0' && result[0] <= '9');
  return letter ? result : "n" + result;
}

}  // namespace

Result<std::vector<std::byte>> write(const Network& network, const std::string& name) {
  if (network.constants.size() > container::kBytesMax ||
      network.interlayer_bytes > container::kBytesMax) {
    return unsupported("{} B of constants and {} B of interlayer memory, expected at most {}",
                       with_commas(static_cast<int64_t>(network.constants.size())),
                       with_commas(static_cast<int64_t>(network.interlayer_bytes)),
                       with_commas(container::kBytesMax));
  }
  return Writer(network).run(identifier(name));
}

}  // namespace thimble::engine::axon
