// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engines/axon/formats/ir_file.h"
#include "engines/axon/formats/ir_layout.h"

namespace thimble::formats::axon {
namespace {

/// A section of the file, and its name in messages.
struct Section {
  ByteView bytes;
  std::string_view name;
  size_t start = 0;  // offset in the file
};

Result<Section> find_section(ByteView file, uint32_t item, std::string_view name) {
  const size_t start = load_le<uint32_t>(file, item);
  const size_t length = load_le<uint32_t>(file, item + 4);
  if (start > file.size() || length > file.size() - start) {
    return bad_input("AXON IR file: {} at byte {}, {} bytes long, in a file of {} bytes", name,
                     start, length, file.size());
  }
  return Section{file.subspan(start, length), name, start};
}

Status expect_bytes(const Section& section, size_t bytes) {
  if (section.bytes.size() == bytes) return ok();
  return bad_input("AXON IR file: {} at byte {} has {} bytes; {} expected", section.name,
                   section.start, section.bytes.size(), bytes);
}

std::string text_of(ByteView bytes) {
  std::string text(as_text(bytes));
  return text.substr(0, text.find('\0'));
}

/// Reads one array of the constants.
template <typename T>
Result<std::vector<T>> read_constants(const Section& constants, uint64_t offset, uint64_t count,
                                      std::string_view what, size_t layer) {
  std::vector<T> values;
  if (offset == kIrAbsent) return values;
  const uint64_t room = constants.bytes.size();
  if (offset > room || count > (room - offset) / sizeof(T)) {
    return bad_input(
        "AXON IR file: layer {}: {} at {} of the constants, {} of {} bytes: there are "
        "{} bytes",
        layer, what, offset, count, sizeof(T), room);
  }
  for (uint64_t i = 0; i < count; ++i) {
    const size_t at = static_cast<size_t>(offset + i * sizeof(T));
    if constexpr (std::is_same_v<T, std::byte>) {
      values.push_back(constants.bytes[at]);
    } else {
      values.push_back(static_cast<T>(load_le<std::make_unsigned_t<T>>(constants.bytes, at)));
    }
  }
  return values;
}

template <typename T>
T load(ByteView record, uint32_t offset) {
  return static_cast<T>(load_le<std::make_unsigned_t<T>>(record, offset));
}

IrDimensions read_dimensions(ByteView record, uint32_t at, const IrDimensionsLayout& layout) {
  IrDimensions dimensions;
  dimensions.height = load<uint16_t>(record, at + layout.height);
  dimensions.width = load<uint16_t>(record, at + layout.width);
  dimensions.channels = load<uint16_t>(record, at + layout.channels);
  dimensions.byte_width = load<uint32_t>(record, at + layout.byte_width);
  dimensions.batches = load<uint16_t>(record, at + layout.batches);
  return dimensions;
}

IrQuantization read_quantization(ByteView record, uint32_t at, const IrQuantizationLayout& layout) {
  return {load<uint32_t>(record, at + layout.multiplier), load<uint8_t>(record, at + layout.shift),
          load<int8_t>(record, at + layout.zero_point)};
}

uint64_t product(const IrDimensions& dimensions) {
  return uint64_t{dimensions.height} * dimensions.width * dimensions.channels;
}

/// Returns the size of the weights, which the file does not store. It follows from the operation.
uint64_t weight_bytes(const IrLayer& layer) {
  switch (layer.operation) {
    case 0:  // fully connected: one row per output; the width is the number of inputs
      return uint64_t{layer.filter.height} * layer.filter.width;
    case 1:  // convolutions: filter size x output channels
    case 3:
      return product(layer.filter) * layer.output.channels;
    case 2:  // depthwise
      return uint64_t{layer.filter.height} * layer.filter.width * layer.output.channels;
    case 10:  // strided slice: nine 32-bit numbers
      return 9 * sizeof(uint32_t);
    default:  // a constant operand
      return product(layer.filter) * std::max(layer.filter.byte_width, 1U);
  }
}

/// Returns the number of multipliers. Leaky ReLU doubles it. An addition has one per operand. A
/// convolution has one per channel, even if all channels share one shift.
uint64_t multiplier_count(const IrLayer& layer, uint64_t shifts) {
  constexpr uint32_t kLeakyRelu = 3, kConv = 1, kPointwise = 3, kAdd = 6;
  if (layer.operation == kAdd) return 2;
  const bool convolution = layer.operation >= kConv && layer.operation <= kPointwise;
  const uint64_t scales = convolution && shifts != 0 ? layer.output.channels : shifts;
  return layer.activation == kLeakyRelu ? 2 * scales : scales;
}

/// Layers with weights have one bias per output; other layers have one.
uint64_t bias_count(const IrLayer& layer) {
  constexpr uint32_t kPointwise = 3;
  if (layer.operation > kPointwise) return 1;
  return layer.operation == 0 ? layer.filter.height : layer.output.channels;
}

Result<IrLayer> read_layer(ByteView record, const IrLayerLayout& layout, const Section& constants,
                           size_t index) {
  IrLayer layer;
  const auto inputs = load<uint8_t>(record, layout.input_count);
  if (inputs > kIrInputsMax) {
    return bad_input("AXON IR file: layer {}: {} inputs; at most {} expected", index, inputs,
                     kIrInputsMax);
  }
  for (uint32_t i = 0; i < inputs; ++i) {
    layer.inputs.push_back(load<int16_t>(record, layout.inputs + 2 * i));
  }
  for (uint32_t i = 0; i < kIrInputsMax; ++i) {
    layer.input_dimensions[i] = read_dimensions(
        record, layout.input_dimensions + i * layout.dimensions.bytes, layout.dimensions);
    const uint32_t split = layout.input_splits + i * layout.split_bytes;
    layer.input_splits[i] = {load<uint8_t>(record, split + layout.split_axis),
                             load<uint16_t>(record, split + layout.split_offset)};
  }
  layer.filter = read_dimensions(record, layout.filter, layout.dimensions);
  layer.output = read_dimensions(record, layout.output, layout.dimensions);
  layer.operation = load<uint32_t>(record, layout.operation);
  layer.concat_axis = load<uint8_t>(record, layout.concat_axis);
  layer.stride_x = load<uint8_t>(record, layout.stride_x);
  layer.stride_y = load<uint8_t>(record, layout.stride_y);
  layer.dilation_x = load<uint8_t>(record, layout.dilation_x);
  layer.dilation_y = load<uint8_t>(record, layout.dilation_y);
  layer.input_zero_point = load<int8_t>(record, layout.input_zero_point);
  layer.output_multiplier = load<uint32_t>(record, layout.output_multiplier);
  layer.output_shift = load<uint8_t>(record, layout.output_shift);
  layer.output_zero_point = load<int8_t>(record, layout.output_zero_point);
  layer.activation = load<uint32_t>(record, layout.activation);
  layer.pad_left = load<uint8_t>(record, layout.pad_left);
  layer.pad_right = load<uint8_t>(record, layout.pad_right);
  layer.pad_top = load<uint8_t>(record, layout.pad_top);
  layer.pad_bottom = load<uint8_t>(record, layout.pad_bottom);

  const auto shifts = load<uint16_t>(record, layout.shift_count);
  const auto attributes = load<uint32_t>(record, layout.attribute_count);
  const auto offset = [&](uint32_t field) { return load<uint64_t>(record, field); };
  THIMBLE_TRY(layer.weights, read_constants<std::byte>(constants, offset(layout.weights),
                                                       weight_bytes(layer), "weights", index));
  THIMBLE_TRY(layer.bias, read_constants<int32_t>(constants, offset(layout.bias), bias_count(layer),
                                                  "bias", index));
  THIMBLE_TRY(layer.multipliers,
              read_constants<int32_t>(constants, offset(layout.multipliers),
                                      multiplier_count(layer, shifts), "multipliers", index));
  THIMBLE_TRY(layer.shifts,
              read_constants<int8_t>(constants, offset(layout.shifts), shifts, "shifts", index));
  THIMBLE_TRY(layer.attributes, read_constants<int32_t>(constants, offset(layout.attributes),
                                                        attributes, "attributes", index));
  return layer;
}

Result<IrFile> read_meta(ByteView bytes, const Section& meta, const IrMetaLayout& layout) {
  IrFile file;
  // Offsets in the items of the meta record are relative to the start of the file.
  const auto item = [&](uint32_t field, std::string_view name) {
    return find_section(bytes, static_cast<uint32_t>(meta.start) + field, name);
  };
  THIMBLE_TRY(const Section name, item(layout.name, "the network's name"));
  file.name = text_of(name.bytes);
  constexpr uint32_t kNowhere = 0xFFFFFFFF;
  if (load_le<uint32_t>(meta.bytes, layout.labels) != kNowhere) {
    THIMBLE_TRY(const Section labels, item(layout.labels, "the labels"));
    for (size_t at = 0; at < labels.bytes.size();) {
      file.labels.push_back(text_of(labels.bytes.subspan(at)));
      at += file.labels.back().size() + 1;
    }
  }
  file.input = read_quantization(meta.bytes, layout.input, layout.quantization);
  file.output = read_quantization(meta.bytes, layout.output, layout.quantization);
  return file;
}

/// Title and version select the layout of the rest of the file. All known versions have the same
/// header.
Result<const IrLayout*> find_layout(ByteView bytes) {
  const IrHeaderLayout& header = find_ir_layout(ir_versions().front())->header;
  if (bytes.size() < header.bytes) {
    return bad_input("AXON IR file: {} bytes; a header of {} expected", bytes.size(), header.bytes);
  }
  THIMBLE_TRY(const Section title, find_section(bytes, header.title, "the title"));
  if (text_of(title.bytes) != kIrTitle) {
    return bad_input("AXON IR file: the title at byte {} is not {}", title.start, kIrTitle);
  }
  THIMBLE_TRY(const Section version, find_section(bytes, header.version, "the version"));
  THIMBLE_CHECK(expect_bytes(version, sizeof(uint32_t)));
  const auto number = load_le<uint32_t>(version.bytes, 0);
  THIMBLE_CHECK(check_ir_version(number));
  return find_ir_layout(number);
}

}  // namespace

Result<IrFile> read_ir(ByteView bytes) {
  THIMBLE_TRY(const IrLayout* layout, find_layout(bytes));
  const IrHeaderLayout& header = layout->header;
  THIMBLE_TRY(const Section meta, find_section(bytes, header.meta, "the meta data"));
  THIMBLE_CHECK(expect_bytes(meta, layout->meta.bytes));
  THIMBLE_TRY(IrFile file, read_meta(bytes, meta, layout->meta));
  THIMBLE_TRY(const Section options, find_section(bytes, header.options, "the options"));
  THIMBLE_CHECK(expect_bytes(options, layout->options.bytes));
  file.interlayer_limit_bytes = load_le<uint32_t>(options.bytes, layout->options.interlayer_limit);
  file.psum_limit_bytes = load_le<uint32_t>(options.bytes, layout->options.psum_limit);
  file.test_vector_count = load_le<uint32_t>(options.bytes, layout->options.test_vectors);
  file.psum_placement = load_le<uint32_t>(options.bytes, layout->options.psum_placement);

  THIMBLE_TRY(const Section layers, find_section(bytes, header.layers, "the layers"));
  THIMBLE_TRY(const Section constants, find_section(bytes, header.constants, "the constants"));
  const size_t count = load_le<uint32_t>(meta.bytes, layout->meta.layer_count);
  const size_t record_bytes = layout->layer.bytes;
  if (count > layers.bytes.size() / record_bytes || layers.bytes.size() != count * record_bytes) {
    return bad_input("AXON IR file: {} bytes of layers at byte {}; {} records of {} expected",
                     layers.bytes.size(), layers.start, count, record_bytes);
  }
  for (size_t i = 0; i < count; ++i) {
    const ByteView record = layers.bytes.subspan(i * record_bytes, record_bytes);
    THIMBLE_TRY(IrLayer layer, read_layer(record, layout->layer, constants, i));
    file.layers.push_back(std::move(layer));
  }
  return file;
}

}  // namespace thimble::formats::axon
