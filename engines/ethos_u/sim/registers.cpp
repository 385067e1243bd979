// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/registers.h"

namespace thimble::ethos_u::sim {
namespace {

inline constexpr uint32_t kRows = sizeof kCommands / sizeof kCommands[0];
static_assert(kRows < 255);

/// Row numbers by generation, payload and code, for a lookup without a search.
struct Index {
  uint8_t row[3][2][0x200];  // row + 1; 0 = none
  uint16_t mask[kRows][3];
};

constexpr uint16_t mask_of(const CommandRow& row, Generation generation) {
  uint32_t mask = 0;
  bool fields = false;
  for (const FieldRow& field : kFields) {
    if (!has(field.generations, generation) || !same_text(field.command, row.name)) continue;
    mask |= ((1U << field.width) - 1U) << field.lsb;
    fields = true;
  }
  if (fields) return static_cast<uint16_t>(mask);
  if (row.operation) return 0xFFFF;
  if (row.kind == PayloadKind::kAddress) return 0xFF;
  if (row.kind == PayloadKind::kWord) return 0;
  return 0xFFFF;
}

constexpr Index make_index() {
  Index index{};
  for (uint32_t i = 0; i < kRows; ++i) {
    const CommandRow& row = kCommands[i];
    for (unsigned g = 0; g < 3; ++g) {
      const auto generation = static_cast<Generation>(g);
      if (!has(row.generations, generation)) continue;
      index.row[g][row.payload ? 1 : 0][row.code] = static_cast<uint8_t>(i + 1);
      index.mask[i][g] = mask_of(row, generation);
    }
  }
  return index;
}

constexpr Index kIndex = make_index();

}  // namespace

const CommandRow* command_of(uint32_t word, Generation generation) {
  const uint16_t code = opcode_of(word);
  if (code >= 0x200 || (word & kReservedMask) != 0 || (word & kControlMask) > kControlPayload) {
    return nullptr;
  }
  const uint8_t row =
      kIndex.row[static_cast<unsigned>(generation)][has_payload(word) ? 1 : 0][code];
  return row == 0 ? nullptr : &kCommands[row - 1];
}

uint16_t parameter_mask(const CommandRow& row, Generation generation) {
  return kIndex.mask[&row - kCommands][static_cast<unsigned>(generation)];
}

}  // namespace thimble::ethos_u::sim
