// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "engines/axon/formats/ir_file.h"
#include "engines/axon/formats/ir_layout.h"

namespace thimble::formats::axon {
namespace {

/// A record of fixed size, initially zero.
class Record {
 public:
  explicit Record(uint32_t bytes) : bytes_(bytes) {}
  template <typename T>
  void put(uint32_t offset, T value) {
    using Unsigned = std::make_unsigned_t<T>;
    const auto bits = static_cast<uint64_t>(static_cast<Unsigned>(value));
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes_.at(offset + i) = static_cast<std::byte>(bits >> (8 * i) & 0xFF);
    }
  }
  void put_item(uint32_t offset, size_t at, size_t length) {
    put(offset, static_cast<uint32_t>(at));
    put(offset + 4, static_cast<uint32_t>(length));
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

/// The constants of all layers, concatenated.
class Constants {
 public:
  /// Appends the values and returns their offset; kIrAbsent if there are none.
  template <typename T>
  uint64_t add(const std::vector<T>& values) {
    if (values.empty()) return kIrAbsent;
    align_size(bytes_, kIrSectionAlignment);
    const uint64_t offset = bytes_.size();
    for (const T value : values) {
      if constexpr (std::is_same_v<T, std::byte>) {
        bytes_.push_back(value);
      } else {
        append_le(bytes_, static_cast<std::make_unsigned_t<T>>(value));
      }
    }
    return offset;
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

void put_dimensions(Record& record, uint32_t at, const IrDimensionsLayout& layout,
                    const IrDimensions& dimensions) {
  record.put(at + layout.height, dimensions.height);
  record.put(at + layout.width, dimensions.width);
  record.put(at + layout.channels, dimensions.channels);
  record.put(at + layout.byte_width, dimensions.byte_width);
  record.put(at + layout.batches, dimensions.batches);
}

void put_operands(Record& record, const IrLayerLayout& layout, const IrLayer& layer) {
  record.put(layout.input_count, static_cast<uint8_t>(layer.inputs.size()));
  for (uint32_t i = 0; i < layer.inputs.size(); ++i) {
    record.put(layout.inputs + 2 * i, layer.inputs[i]);
  }
  for (uint32_t i = 0; i < kIrInputsMax; ++i) {
    put_dimensions(record, layout.input_dimensions + i * layout.dimensions.bytes, layout.dimensions,
                   layer.input_dimensions[i]);
    const uint32_t split = layout.input_splits + i * layout.split_bytes;
    record.put(split + layout.split_axis, layer.input_splits[i].axis);
    record.put(split + layout.split_offset, layer.input_splits[i].offset);
  }
  put_dimensions(record, layout.output, layout.dimensions, layer.output);
}

/// Returns true if two numbers, the block shape, replace the filter's dimensions.
bool has_block(const IrLayer& layer) {
  constexpr uint32_t kSpaceToBatch = 104, kBatchToSpace = 105;
  return layer.operation == kSpaceToBatch || layer.operation == kBatchToSpace;
}

void put_layer(Record& record, const IrLayerLayout& layout, const IrLayer& layer,
               Constants& constants) {
  put_operands(record, layout, layer);
  if (has_block(layer)) {
    record.put(layout.filter, layer.filter.height);
    record.put(layout.filter + 2, layer.filter.width);
  } else {
    put_dimensions(record, layout.filter, layout.dimensions, layer.filter);
  }
  record.put(layout.operation, layer.operation);
  record.put(layout.concat_axis, layer.concat_axis);
  record.put(layout.stride_x, layer.stride_x);
  record.put(layout.stride_y, layer.stride_y);
  record.put(layout.dilation_x, layer.dilation_x);
  record.put(layout.dilation_y, layer.dilation_y);
  record.put(layout.input_zero_point, layer.input_zero_point);
  record.put(layout.output_multiplier, layer.output_multiplier);
  record.put(layout.output_shift, layer.output_shift);
  record.put(layout.output_zero_point, layer.output_zero_point);
  record.put(layout.activation, layer.activation);
  record.put(layout.pad_left, layer.pad_left);
  record.put(layout.pad_right, layer.pad_right);
  record.put(layout.pad_top, layer.pad_top);
  record.put(layout.pad_bottom, layer.pad_bottom);
  record.put(layout.weights, constants.add(layer.weights));
  record.put(layout.bias, constants.add(layer.bias));
  record.put(layout.multipliers, constants.add(layer.multipliers));
  record.put(layout.shifts, constants.add(layer.shifts));
  record.put(layout.shift_count, static_cast<uint16_t>(layer.shifts.size()));
  record.put(layout.attribute_count, static_cast<uint32_t>(layer.attributes.size()));
  record.put(layout.attributes, constants.add(layer.attributes));
}

void put_quantization(Record& record, uint32_t at, const IrQuantizationLayout& layout,
                      const IrQuantization& quantization) {
  record.put(at + layout.multiplier, quantization.multiplier);
  record.put(at + layout.shift, quantization.shift);
  record.put(at + layout.zero_point, quantization.zero_point);
}

Status check_layer(const IrLayer& layer, size_t index, size_t layers) {
  if (layer.inputs.size() > kIrInputsMax) {
    return bad_input("AXON layer {}: {} inputs; the IR file has room for {}", index,
                     layer.inputs.size(), kIrInputsMax);
  }
  for (const int16_t input : layer.inputs) {
    if (input < kIrExternal || (input >= 0 && static_cast<size_t>(input) >= layers)) {
      return bad_input("AXON layer {}: input {} is not an index of the {} layers", index, input,
                       layers);
    }
  }
  if (layer.shifts.size() > std::numeric_limits<uint16_t>::max()) {
    return bad_input("AXON layer {}: {} shifts; the IR file has room for 65,535", index,
                     layer.shifts.size());
  }
  return ok();
}

/// Appends a C string and returns its length, which includes the terminating zero.
size_t append_text(Bytes& bytes, std::string_view text) {
  append(bytes, as_byte_view(text));
  bytes.push_back(std::byte{0});
  align_size(bytes, kIrSectionAlignment);
  return text.size() + 1;
}

/// Appends the labels, each with its terminating zero.
void put_labels(Record& meta, uint32_t item, const std::vector<std::string>& labels, Bytes& bytes) {
  constexpr uint32_t kNowhere = 0xFFFFFFFF;
  if (labels.empty()) return meta.put_item(item, kNowhere, 0);
  std::string joined;
  for (const std::string& label : labels) joined += label + '\0';
  meta.put_item(item, bytes.size(), joined.size());
  append(bytes, as_byte_view(joined));
  align_size(bytes, kIrSectionAlignment);
}

}  // namespace

Result<Bytes> write_ir(const IrFile& file, uint32_t version) {
  THIMBLE_CHECK(check_ir_version(version));
  const IrLayout& layout = *find_ir_layout(version);
  constexpr size_t kLayersMax = std::numeric_limits<int16_t>::max();
  if (file.layers.empty() || file.layers.size() > kLayersMax) {
    return bad_input("AXON IR file: {} layers; 1 to {} expected", file.layers.size(), kLayersMax);
  }
  Constants constants;
  Bytes layers;
  for (size_t i = 0; i < file.layers.size(); ++i) {
    THIMBLE_CHECK(check_layer(file.layers[i], i, file.layers.size()));
    Record record(layout.layer.bytes);
    put_layer(record, layout.layer, file.layers[i], constants);
    append(layers, record.bytes());
  }

  Record header(layout.header.bytes);
  Bytes bytes(layout.header.bytes);
  size_t at = bytes.size();
  header.put_item(layout.header.title, at, append_text(bytes, kIrTitle));
  header.put_item(layout.header.version, bytes.size(), sizeof version);
  append_le(bytes, version);

  Record meta(layout.meta.bytes);
  at = bytes.size();
  meta.put_item(layout.meta.name, at, append_text(bytes, file.name));
  put_labels(meta, layout.meta.labels, file.labels, bytes);
  meta.put(layout.meta.layer_count, static_cast<uint32_t>(file.layers.size()));
  put_quantization(meta, layout.meta.input, layout.meta.quantization, file.input);
  put_quantization(meta, layout.meta.output, layout.meta.quantization, file.output);
  header.put_item(layout.header.meta, bytes.size(), meta.bytes().size());
  append(bytes, meta.bytes());
  header.put_item(layout.header.layers, bytes.size(), layers.size());
  append(bytes, layers);
  header.put_item(layout.header.constants, bytes.size(), constants.bytes().size());
  append(bytes, constants.bytes());
  align_size(bytes, kIrSectionAlignment);

  Record options(layout.options.bytes);
  options.put(layout.options.interlayer_limit, file.interlayer_limit_bytes);
  options.put(layout.options.psum_limit, file.psum_limit_bytes);
  options.put(layout.options.test_vectors, file.test_vector_count);
  options.put(layout.options.psum_placement, file.psum_placement);
  header.put_item(layout.header.options, bytes.size(), options.bytes().size());
  append(bytes, options.bytes());
  std::ranges::copy(header.bytes(), bytes.begin());
  return bytes;
}

}  // namespace thimble::formats::axon
