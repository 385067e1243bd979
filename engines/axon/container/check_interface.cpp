// SPDX-License-Identifier: Apache-2.0
// Checks the header, the sections, inputs, outputs and variables of a container. check_layer.cpp
// checks the layers.

#include "engines/axon/container/check_layer.h"
#include "engines/axon/container/layers.h"

namespace thimble::axon {
namespace {

bool is_name(const char (&name)[kNameBytes]) {
  uint32_t i = 0;
  for (; i < kNameBytes && name[i] != 0; ++i) {
    const bool digit = name[i] >= '0' && name[i] <= '9';
    const bool letter = (name[i] >= 'a' && name[i] <= 'z') || name[i] == '_';
    if (!letter && !(digit && i != 0)) return false;
  }
  if (i == 0 || i == kNameBytes) return false;
  while (i < kNameBytes && name[i] == 0) ++i;
  return i == kNameBytes;
}

/// Returns true if sections are consecutive, with gaps only for their alignment.
bool has_sections(const Header& header) {
  const auto next = [](uint32_t from, uint32_t count, size_t each) {
    return aligned(from + count * static_cast<uint32_t>(each), kSectionAlignment);
  };
  uint32_t at = sizeof(Header);
  bool good = header.io_offset == at;
  at = next(at, uint32_t{header.input_count} + header.output_count, sizeof(IoRecord));
  good = good && header.variables_offset == at;
  at = next(at, header.variable_count, sizeof(VariableRecord));
  good = good && header.layers_offset == at;
  at = next(at, header.layer_count, sizeof(LayerRecord));
  return good && header.constants_offset == at && header.bytes == at + header.constant_bytes;
}

Status check_header(const uint8_t* data, uint32_t bytes, Header& header) {
  if (reinterpret_cast<uintptr_t>(data) % kSectionAlignment != 0) return Status::kMisaligned;
  if (bytes < sizeof(Header)) return Status::kTruncated;
  memcpy(&header, data, sizeof header);
  if (header.magic != kMagic) return Status::kNoContainer;
  if (header.version != kVersion) return Status::kBadVersion;
  if (header.bytes > bytes) return Status::kTruncated;
  const uint32_t memories =
      header.interlayer_bytes | header.persistent_bytes | header.constant_bytes;
  const bool counts = header.input_count <= kInputsMax && header.output_count != 0 &&
                      header.output_count <= kOutputsMax && header.layer_count != 0 &&
                      header.layer_count <= kLayersMax && header.variable_count <= kVariablesMax;
  const bool sizes = header.header_bytes == sizeof(Header) && memories % kSectionAlignment == 0 &&
                     header.interlayer_bytes <= kBytesMax && header.persistent_bytes <= kBytesMax &&
                     header.constant_bytes <= kBytesMax;
  const bool spare = header.reserved0 == 0 && header.reserved1 == 0;
  return counts && sizes && spare && has_sections(header) && is_name(header.name)
             ? Status::kOk
             : Status::kBadHeader;
}

/// Returns true if exactly one input and at most one output refer to variable `index`. The content
/// of a variable is kept between runs only through them.
bool is_bound(const Container& container, const Header& header, uint32_t index) {
  uint32_t uses[2] = {};
  for (uint32_t i = 0; i < uint32_t{header.input_count} + header.output_count; ++i) {
    const IoRecord io = container.input(i);
    if (io.source == Source::kPersistent && io.index == index) ++uses[i < header.input_count];
  }
  return uses[1] == 1 && uses[0] <= 1;
}

Status check_variables(const Container& container, const Header& header) {
  uint32_t free_from = 0;  // variables must be sorted by offset
  for (uint32_t i = 0; i < header.variable_count; ++i) {
    const VariableRecord variable = container.variable(i);
    const bool one = variable.element_bytes == 1;
    const bool fits = one ? variable.initial == static_cast<int8_t>(variable.initial)
                          : variable.initial == static_cast<int16_t>(variable.initial);
    if (!(one || variable.element_bytes == 2) || !fits || !is_bound(container, header, i) ||
        variable.offset % kRowAlignment != 0 || variable.offset < free_from ||
        variable.offset > header.persistent_bytes || variable.bytes == 0 ||
        variable.bytes > header.persistent_bytes - variable.offset || variable.reserved[0] != 0 ||
        variable.reserved[1] != 0 || variable.reserved[2] != 0) {
      return Status::kBadVariable;
    }
    free_from = variable.offset + variable.bytes;
  }
  return Status::kOk;
}

/// `dense_end` is the end of the dense forms of the tensors before this one.
Status check_io(const Container& container, const Header& header, uint32_t index,
                uint32_t& dense_end) {
  const IoRecord io = container.input(index);
  const bool is_input = index < header.input_count;
  const Operand place = operand_of(io);
  const bool external = io.source == Source::kExternal;
  if (io.source == Source::kNone || io.source == Source::kConstant ||
      (is_input ? io.source == Source::kInterlayer : external)) {
    return Status::kBadIo;
  }
  uint32_t dense = 0;
  if (external) {
    // check_operand() would compare the record with itself, so the sizes are checked here.
    const uint64_t rows = uint64_t{io.n} * io.c * io.h;
    const uint64_t all = rows * io.w * io.element_bytes;
    if (all == 0 || all > kBytesMax || io.offset != 0 || io.index != index ||
        io.row_stride != uint32_t{io.w} * io.element_bytes ||
        (io.element_bytes != 1 && io.element_bytes != 2 && io.element_bytes != 4)) {
      return Status::kBadIo;
    }
    dense = static_cast<uint32_t>(all);
  } else {
    if (check_operand(container, header, place, header.layer_count, Access::kWritten) !=
        Status::kOk) {
      return Status::kBadIo;
    }
    dense = uint32_t{io.n} * io.c * io.h * io.w * io.element_bytes;
  }
  const bool producer =
      is_input ? io.producer == kNoProducer : io.producer >= 0 && io.producer < header.layer_count;
  const bool spare = io.reserved0 == 0 && io.reserved1[0] == 0 && io.reserved1[1] == 0 &&
                     io.reserved1[2] == 0 && io.reserved1[3] == 0 && io.reserved1[4] == 0 &&
                     io.reserved1[5] == 0 && io.reserved1[6] == 0;
  const bool here = io.dense_offset == dense_end && dense <= kBytesMax - dense_end;
  if (!producer || !spare || !here) return Status::kBadIo;
  dense_end = aligned(dense_end + dense, kRowAlignment);
  return Status::kOk;
}

}  // namespace

Operand operand_of(const IoRecord& io) {
  Operand place = {};
  place.source = io.source;
  place.element_bytes = io.element_bytes;
  place.producer = kNoProducer;
  place.offset = io.offset;
  place.row_stride = io.row_stride;
  place.n = io.n;
  place.c = io.c;
  place.h = io.h;
  place.w = io.w;
  place.zero_point = io.zero_point;
  place.index = io.index;
  return place;
}

Status check_operand(const Container& container, const Header& header, const Operand& operand,
                     uint32_t layer, Access access) {
  const uint32_t element = operand.element_bytes;
  if (element != 1 && element != 2 && element != 4) return Status::kBadOperand;
  const uint64_t rows = uint64_t{operand.n} * operand.c * operand.h;
  const uint64_t row = uint64_t{operand.w} * element;
  uint32_t begin = 0;
  uint32_t end = 0;
  bool known = true;
  switch (operand.source) {
    case Source::kExternal: {
      known = access == Access::kRead && operand.index < header.input_count;
      if (!known) break;
      const IoRecord io = container.input(operand.index);
      known = io.source == Source::kExternal && io.element_bytes == element;
      end = uint32_t{io.n} * io.c * io.h * io.row_stride;
      break;
    }
    case Source::kInterlayer:
      end = header.interlayer_bytes;
      break;
    case Source::kPersistent: {
      known = operand.index < header.variable_count;
      if (!known) break;
      const VariableRecord variable = container.variable(operand.index);
      known = variable.element_bytes == element;
      begin = variable.offset;
      end = variable.offset + aligned(variable.bytes, kRowAlignment);
      break;
    }
    case Source::kConstant:
      known = access == Access::kRead;
      end = header.constant_bytes;
      break;
    default:
      known = false;
  }
  if (!known || rows == 0 || rows > kBytesMax || row == 0 || operand.row_stride < row ||
      operand.row_stride > kBytesMax || operand.row_stride % element != 0 ||
      operand.offset % element != 0 || operand.offset < begin || operand.offset > end) {
    return Status::kBadOperand;
  }
  const bool written = access == Access::kWritten;
  const uint64_t last = written ? (row + kRowAlignment - 1) / kRowAlignment * kRowAlignment : row;
  if ((rows - 1) * operand.row_stride + last > end - operand.offset) return Status::kBadOperand;
  if (written && (operand.offset % kRowAlignment != 0 ||
                  (rows > 1 && operand.row_stride % kRowAlignment != 0))) {
    return Status::kBadOperand;
  }
  const int32_t zero = operand.zero_point;
  const bool zero_fits = element == 4 || (element == 2 ? zero == static_cast<int16_t>(zero)
                                                       : zero == static_cast<int8_t>(zero));
  const bool names = operand.producer >= kNoProducer &&
                     operand.producer < static_cast<int32_t>(layer) && operand.is_view <= 1 &&
                     operand.view_axis <= Axis::kWidth && operand.reserved == 0;
  return zero_fits && names ? Status::kOk : Status::kBadOperand;
}

Status check_interface(const uint8_t* data, uint32_t bytes) {
  Header header;
  Status status = check_header(data, bytes, header);
  if (status != Status::kOk) return status;
  const Container container(data);
  status = check_variables(container, header);
  uint32_t dense_end = 0;
  for (uint32_t i = 0; i < uint32_t{header.input_count} + header.output_count; ++i) {
    if (i == header.input_count) dense_end = 0;
    if (status == Status::kOk) status = check_io(container, header, i, dense_end);
  }
  return status;
}

}  // namespace thimble::axon
