// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/text/text.h"

#include <cstring>
#include <vector>

#include "base/aligned_bytes.h"
#include "engines/axon/container/layers.h"

namespace thimble::axon::text {
namespace {

struct Name {
  Operation operation;
  std::string_view name;
};
constexpr Name kNames[] = {
#define AXON_OPERATION(name, number, list_name, report_name) {Operation::k##name, list_name},
#include "engines/axon/container/operations.def"
#undef AXON_OPERATION
};

std::string_view name_of(Operation operation) {
  for (const Name& row : kNames) {
    if (row.operation == operation) return row.name;
  }
  return "?";
}

std::string place(Source source, uint32_t offset, uint32_t index) {
  switch (source) {
    case Source::kExternal:
      return offset == 0 ? fmt::format("external {}", index)
                         : fmt::format("external {}+{}", index, offset);
    case Source::kInterlayer:
      return fmt::format("interlayer+{}", offset);
    case Source::kPersistent:
      return fmt::format("variable {}", index);
    default:
      return fmt::format("constant+{}", offset);
  }
}

/// Returns the text of an Operand or an IoRecord.
template <class Record>
std::string tensor(const Record& record) {
  std::string text =
      fmt::format("{} int{}[{},{},{},{}]", place(record.source, record.offset, record.index),
                  8 * record.element_bytes, record.n, record.c, record.h, record.w);
  const uint32_t row = uint32_t{record.w} * record.element_bytes;
  const uint32_t rows = uint32_t{record.n} * record.c * record.h;
  if (rows > 1 && record.row_stride != row) text += fmt::format(" rows {}", record.row_stride);
  return text;
}

bool has_window(const LayerRecord& layer) {
  return layer.operation >= Operation::kConv2d && layer.operation <= Operation::kMaxPool;
}

std::string what(const LayerRecord& layer) {
  static constexpr const char* kAxes[] = {"channel", "height", "width"};
  static constexpr const char* kActivations[] = {"", " relu", " prepare_softmax", " leaky_relu"};
  std::string text(name_of(layer.operation));
  if (has_window(layer)) {
    text += fmt::format(" {}x{}", layer.kernel_h, layer.kernel_w);
    if (layer.stride_y != 1 || layer.stride_x != 1) {
      text += fmt::format(" stride {},{}", layer.stride_y, layer.stride_x);
    }
    if (layer.dilation_y != 1 || layer.dilation_x != 1) {
      text += fmt::format(" dilation {},{}", layer.dilation_y, layer.dilation_x);
    }
  }
  if ((layer.pad_top | layer.pad_left | layer.pad_bottom | layer.pad_right) != 0) {
    text += fmt::format(" pad {},{},{},{}", layer.pad_top, layer.pad_left, layer.pad_bottom,
                        layer.pad_right);
  }
  if (layer.operation == Operation::kConcat || layer.operation == Operation::kSoftmax) {
    text += fmt::format(" along {}", kAxes[static_cast<size_t>(layer.axis)]);
  }
  text += kActivations[static_cast<size_t>(layer.activation)];
  if (layer.scale_shift_count > 1) text += ", per channel";
  return text;
}

std::string attributes(const Container& list, const LayerRecord& layer) {
  std::string text;
  for (uint32_t i = 0; i < layer.attribute_count; ++i) {
    int32_t value;
    std::memcpy(&value, list.constants() + layer.attributes + 4 * i, sizeof value);
    text += fmt::format("{}{}", i == 0 ? " [" : ",", value);
  }
  return text.empty() ? text : text + "]";
}

/// Returns true if the attributes are among the constants. check() ignores those that the operation
/// does not use.
bool has_attributes(const Header& header, const LayerRecord& layer) {
  const uint64_t end = uint64_t{layer.attributes} + 4 * uint64_t{layer.attribute_count};
  return layer.attribute_count == 0 || end <= header.constant_bytes;
}

std::string layer_line(const Container& list, uint32_t index) {
  const LayerRecord layer = list.layer(index);
  std::string text = fmt::format("layer {:<4} {}{};", index, what(layer), attributes(list, layer));
  for (uint32_t i = 0; i < layer.input_count; ++i) {
    text += (i == 0 ? " " : ", ") + tensor(layer.inputs[i]);
  }
  return text + fmt::format("\n           -> {}; {} cycles\n", tensor(layer.output), layer.cycles);
}

std::string io_line(const char* direction, uint32_t index, const IoRecord& io) {
  const std::string from =
      io.producer == kNoProducer ? "" : fmt::format(" of layer {}", io.producer);
  return fmt::format("{:<6} {:<3} {}{}, scale {}, zero {}\n", direction, index, tensor(io), from,
                     io.scale, io.zero_point);
}

}  // namespace

Result<std::string> print(ByteView bytes, std::string_view label) {
  const AlignedBytes copy(bytes);
  const uint8_t* const data = copy.data();
  uint32_t at = kAbsent;
  const Status status = check(data, static_cast<uint32_t>(bytes.size()), at);
  if (status != Status::kOk) {
    const std::string where = at == kAbsent ? "" : fmt::format("layer {}: ", at);
    return bad_input("{}: {}{}", label, where, status_text(status));
  }
  const Container list(data);
  const Header header = list.header();
  for (uint32_t i = 0; i < header.layer_count; ++i) {
    if (has_attributes(header, list.layer(i))) continue;
    return bad_input("{}: layer {}: its attributes are outside of the constants", label, i);
  }
  std::string text =
      fmt::format("list {}   {} B, interlayer {}, variables {}, constants {}; {} cycles\n",
                  header.name, header.bytes, header.interlayer_bytes, header.persistent_bytes,
                  header.constant_bytes, header.cycles);
  for (uint32_t i = 0; i < header.input_count; ++i) text += io_line("input", i, list.input(i));
  for (uint32_t i = 0; i < header.variable_count; ++i) {
    const VariableRecord variable = list.variable(i);
    text += fmt::format("variable {} {} B at {}, int{}, at first {}\n", i, variable.bytes,
                        variable.offset, 8 * variable.element_bytes, variable.initial);
  }
  for (uint32_t i = 0; i < header.layer_count; ++i) text += layer_line(list, i);
  for (uint32_t i = 0; i < header.output_count; ++i) text += io_line("output", i, list.output(i));
  return text;
}

}  // namespace thimble::axon::text
