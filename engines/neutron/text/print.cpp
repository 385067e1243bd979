// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/aligned_bytes.h"
#include "engines/neutron/text/fields.h"
#include "engines/neutron/text/text.h"

namespace thimble::neutron::text {
namespace {

std::string memory(const View& view) {
  switch (view.memory) {
    case Memory::kInput:
      return fmt::format("input{}", view.index);
    case Memory::kOutput:
      return fmt::format("output{}", view.index);
    case Memory::kScratch:
      return "scratch";
    default:
      return "weights";
  }
}

/// Returns true if the strides are those of a dense view; a dimension of extent 1 has stride 0.
bool is_dense(const View& view) {
  int64_t step = 1;
  for (uint32_t k = view.rank; k-- > 0;) {
    if (view.strides[k] != (view.dims[k] == 1 ? 0 : step)) return false;
    step *= view.dims[k];
  }
  return true;
}

std::string text_of(const View& view) {
  std::string text = memory(view);
  const bool is_io = view.memory == Memory::kInput || view.memory == Memory::kOutput;
  if (!is_io || view.offset != 0) text += fmt::format("+{}", view.offset);
  text += fmt::format("[{}", fmt::join(view.dims, view.dims + view.rank, ","));
  if (!is_dense(view)) {
    text += fmt::format(":{}", fmt::join(view.strides, view.strides + view.rank, ","));
  }
  return text + "]";
}

std::string number(const KernelRecord& record, const Field& field, uint32_t index) {
  const int64_t value = load(record, field, index);
  return field.number == Number::kOffset && value == int64_t{kAbsent} ? "none"
                                                                      : fmt::format("{}", value);
}

std::string fields(const KernelRecord& record) {
  std::string text;
  if (record.function != Function::kNone) {
    text += fmt::format(" function {}", function_name(record.function));
  }
  for (const Field& field : kFields) {
    bool is_default = true;
    std::string values;
    for (uint32_t i = 0; i < field.count; ++i) {
      is_default = is_default && load(record, field, i) == field.default_values[i];
      values += (i == 0 ? "" : ",") + number(record, field, i);
    }
    if (!is_default) text += fmt::format(" {} {}", field.name, values);
  }
  return text;
}

std::string kernel_lines(uint32_t index, const KernelRecord& record) {
  std::string text = fmt::format("kernel {:<3} {}", index, kernel_name(record.kernel));
  for (uint32_t i = 0; i < record.operand_count; ++i) text += " " + text_of(record.operands[i]);
  text += " -> " + text_of(record.output);
  if (record.kernel == Kernel::kPad) text += " inside " + text_of(record.padded);
  const std::string numbers = fields(record);
  return numbers.empty() ? text + "\n" : text + "\n          " + numbers + "\n";
}

std::string io_line(const char* direction, uint32_t index, const IoRecord& io) {
  return fmt::format("{:<6} {:<3} int8[{}]{} scale {} zero {}\n", direction, index,
                     fmt::join(io.dims, io.dims + io.rank, ","),
                     io.channels_last == 0 ? "" : " channels_last", io.scale, io.zero_point);
}

}  // namespace

Result<std::string> print(ByteView program, ByteView weights, std::string_view label) {
  const AlignedBytes list_bytes(program);
  const AlignedBytes weight_bytes(weights);
  uint32_t at = kAbsent;
  const Status status = check(list_bytes.data(), static_cast<uint32_t>(program.size()),
                              weight_bytes.data(), static_cast<uint32_t>(weights.size()), at);
  if (status != Status::kOk) {
    const std::string where = at == kAbsent ? "" : fmt::format("kernel {}: ", at);
    return bad_input("{}: {}{}", label, where, status_text(status));
  }
  const Program list(list_bytes.data());
  const Header header = list.header();
  std::string text = fmt::format(
      "list   weights {}, scratch {}, prefetch {}, profile {}, {} cycles, hash {:08x}\n",
      header.weight_bytes, header.scratch_bytes, header.prefetch_bytes, header.profile_bytes,
      header.cycles, header.content_hash);
  for (uint32_t i = 0; i < header.input_count; ++i) text += io_line("input", i, list.input(i));
  for (uint32_t i = 0; i < header.kernel_count; ++i) text += kernel_lines(i, list.kernel(i));
  for (uint32_t i = 0; i < header.output_count; ++i) text += io_line("output", i, list.output(i));
  return text;
}

}  // namespace thimble::neutron::text
