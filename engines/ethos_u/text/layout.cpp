// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/text/layout.h"

#include "engines/ethos_u/text/names.h"

namespace thimble::ethos_u::text {
namespace {

void add_fields(std::vector<Part>& parts, const CommandRow& row, Generation generation) {
  const bool sign = is_signed(row.name);
  for (const FieldRow& field : kFields) {
    if (!has(field.generations, generation) || !same_text(field.command, row.name)) continue;
    parts.push_back({field.name, kParameterAt + field.lsb, field.width, sign});
  }
}

void add_pair_payload(std::vector<Part>& parts, std::string_view name) {
  if (name == "RESIZE_X" || name == "RESIZE_Y") {
    parts.push_back({"one_step_mod", 0, 11});
    parts.push_back({"block_step_mod", 16, 11});
  } else {
    parts.push_back({"multiplier", 0, 32});
  }
}

Layout layout_of_row(const CommandRow& row, Generation generation) {
  Layout layout = {&row, {}};
  std::vector<Part>& parts = layout.parts;
  if (row.operation) {
    const bool bare = row.code == static_cast<uint16_t>(Operation::CONV) ||
                      row.code == static_cast<uint16_t>(Operation::DEPTHWISE) ||
                      row.code == static_cast<uint16_t>(Operation::DMA_START);
    parts.push_back({"_", kParameterAt, 16, false, false, bare});
    if (row.payload) parts.push_back({"_", 0, 32, false, true});
    return layout;
  }
  switch (row.kind) {
    case PayloadKind::kNone:
      add_fields(parts, row, generation);
      if (parts.empty()) parts.push_back({"_", kParameterAt, 16, is_signed(row.name)});
      break;
    case PayloadKind::kAddress:
      parts.push_back({"_", 0, 48, false, true});
      break;
    case PayloadKind::kStride:
      parts.push_back({"_", 0, 48, true});
      break;
    case PayloadKind::kWord:
      parts.push_back({"_", 0, 32});
      break;
    case PayloadKind::kPair:
      add_fields(parts, row, generation);
      add_pair_payload(parts, row.name);
      break;
  }
  return layout;
}

}  // namespace

uint64_t Layout::mask() const {
  uint64_t bits = 0;
  for (const Part& part : parts) bits |= ((uint64_t{1} << part.width) - 1) << part.lsb;
  return bits;
}

std::optional<Layout> layout_of_word(uint32_t word, Generation generation) {
  const uint32_t control = word & kControlMask;
  if ((word & kReservedMask) != 0 || (control != 0 && control != kControlPayload)) return {};
  const CommandRow* row = find_command(word, generation);
  if (row == nullptr) return {};
  return layout_of_row(*row, generation);
}

std::optional<Layout> layout_of_name(std::string_view name, Generation generation) {
  for (const CommandRow& row : kCommands) {
    if (row.name == name && has(row.generations, generation)) {
      return layout_of_row(row, generation);
    }
  }
  return {};
}

}  // namespace thimble::ethos_u::text
