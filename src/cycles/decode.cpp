// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cassert>

#include "cycles/instruction.h"

namespace thimble::cycles {
namespace {

struct Encoding {
  uint32_t mask, value;
  InsnKind kind;
  std::string_view operands;
};
constexpr Encoding kNarrow[] = {
#define THIMBLE_NARROW(mask, value, kind, operands) {mask, value, InsnKind::kind, operands},
#define THIMBLE_WIDE(mask, value, kind, operands)
#include "cycles/thumb.def"
#undef THIMBLE_NARROW
#undef THIMBLE_WIDE
};
constexpr Encoding kWide[] = {
#define THIMBLE_NARROW(mask, value, kind, operands)
#define THIMBLE_WIDE(mask, value, kind, operands) {mask, value, InsnKind::kind, operands},
#include "cycles/thumb.def"
#undef THIMBLE_NARROW
#undef THIMBLE_WIDE
};

constexpr std::string_view kKindNames[] = {
#define THIMBLE_INSN_KIND(kind) #kind,
#include "cycles/kinds.def"
#undef THIMBLE_INSN_KIND
};

constexpr Registers kStackPointer = 1U << 13, kProgramCounter = 1U << 15;

Registers core(uint32_t number) {
  return Registers{1} << number;
}
/// `count` registers from `first`, both in single precision.
Registers floats(uint32_t first, uint32_t count) {
  const Registers all = count >= 32 ? 0xffffffffU : (Registers{1} << count) - 1;
  return first >= 32 ? 0 : (all << first & 0xffffffffU) << 32;
}

/// Four bits at `at` and the bit `extra` below or above them, as the encoding of a register of
/// single or double precision has them.
Registers fp_register(uint32_t code, uint32_t at, uint32_t extra, bool is_double) {
  const uint32_t four = code >> at & 15, one = code >> extra & 1;
  return is_double ? floats(2 * (one << 4 | four), 2) : floats(four << 1 | one, 1);
}
Registers vector(uint32_t code, uint32_t at) {
  return floats(4 * (code >> at & 7), 4);
}

/// Returns the registers of a field of thumb.def.
Registers registers_of(std::string_view field, uint32_t code, bool is_double) {
  if (field.size() == 2) {
    const bool is_vector = field[0] == 'Q';
    switch (field[1]) {
      case 'd':
        return is_vector ? vector(code, 13) : fp_register(code, 12, 22, is_double);
      case 'n':
        return is_vector ? vector(code, 17) : fp_register(code, 16, 7, is_double);
      case 'm':
        return is_vector ? vector(code, 1) : fp_register(code, 0, 5, is_double);
      default:
        break;
    }
    assert(false && "a field of thumb.def that its head does not list");
    return 0;
  }
  switch (field[0]) {
    case '0':
    case '3':
    case '6':
    case '8':
      return core(code >> (field[0] - '0') & 7);
    case 'H':
      return core((code >> 4 & 8) | (code & 7));
    case 'M':
      return core(code >> 3 & 15);
    case 'n':
      return core(code >> 16 & 15);
    case 't':
      return core(code >> 12 & 15);
    case 'e':
      return core(code >> 8 & 15);
    case 'm':
      return core(code & 15);
    case 'k':
      return core(code >> 16 & 7);
    case 'g':
      return core((code >> 13 & 7) << 1);
    case 'h':
      return core((code >> 20 & 7) << 1 | 1);
    case 'S':
      return kStackPointer;
    case 'F':
      return kFlags;
    case 'C':
      return kFpStatus;
    case 'P':
      return kPredicate;
    case 'L': {
      const bool is_stack = code >> 12 == 0xb;
      const Registers extra = code >> 11 & 1 ? kProgramCounter : Registers{1} << 14;
      return (code & 0xff) | (is_stack && (code & 0x100) != 0 ? extra : 0);
    }
    case 'W':
      return code & 0xffff;
    case 'V': {
      const uint32_t four = code >> 12 & 15, one = code >> 22 & 1;
      const uint32_t first = is_double ? 2 * (one << 4 | four) : four << 1 | one;
      return floats(first, code & 0xff);
    }
    default:
      break;
  }
  assert(false && "a field of thumb.def that its head does not list");
  return 0;
}

/// Adds the operands that a row of thumb.def names, word by word, to an instruction.
class Operands {
 public:
  Operands(Insn* insn, bool in_it_block) : insn_(insn), in_it_block_(in_it_block) {}

  void add(std::string_view word) {
    if (word == "f") {
      if (!in_it_block_) insn_->writes |= kFlags;
      return;
    }
    if (word == "z") {
      if ((insn_->code >> 20 & 1) != 0) insn_->writes |= kFlags;
      return;
    }
    const std::string_view field = word.substr(1);
    // The program counter is always known.
    const Registers set = registers_of(field, insn_->code, insn_->is_double);
    const Registers read = set & ~kProgramCounter;
    if (field == "L" || field == "W" || field == "V") {
      insn_->items = static_cast<uint8_t>(std::popcount(set));
    }
    switch (word[0]) {
      case 'w':
        insn_->writes |= set;
        break;
      case 'b':
        insn_->writes |= set;
        insn_->reads |= read;
        break;
      case 'c':
        insn_->writes |= field == "t" ? 0 : set;  // the sum that MLA adds is not its result
        insn_->accumulator |= read;
        break;
      case 's':
        insn_->shifted |= read;
        break;
      case 'd':
        insn_->stored |= read;
        break;
      case 'a':
        add_address(read, false);
        break;
      case 'u':
        add_address(read, true);
        break;
      case 'x':
        add_address(read, (insn_->code >> 21 & 1) != 0 || !insn_->wide);
        break;
      case 'r':
        insn_->reads |= read;
        break;
      default:
        assert(false && "a role of thumb.def that its head does not list");
    }
  }

 private:
  void add_address(Registers set, bool updated) {
    insn_->indexed = insn_->indexed || insn_->addresses != 0;
    insn_->addresses |= set;
    if (updated) insn_->updates |= set;
  }

  Insn* insn_;
  bool in_it_block_;
};

uint32_t halfword(ByteView code, size_t at) {
  return at + 2 > code.size()
             ? 0
             : static_cast<uint32_t>(code[at]) | static_cast<uint32_t>(code[at + 1]) << 8;
}

void decode_operands(std::string_view words, bool in_it_block, Insn* insn) {
  Operands operands(insn, in_it_block);
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    operands.add(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  if (in_it_block) insn->reads |= kFlags;
}

bool is_floating_point(InsnKind kind) {
  return InsnKind::fp_alu <= kind && kind <= InsnKind::fp_store_multiple;
}

}  // namespace

std::string_view kind_name(InsnKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

std::vector<Insn> decode(uint32_t address, ByteView code) {
  std::vector<Insn> insns;
  int in_it_block = 0;  // conditional instructions left
  for (size_t at = 0; at + 2 <= code.size();) {
    Insn insn;
    insn.address = address + static_cast<uint32_t>(at);
    insn.code = halfword(code, at);
    insn.wide = insn.code >> 11 >= 0x1d;
    if (insn.wide) insn.code = insn.code << 16 | halfword(code, at + 2);
    const std::span<const Encoding> rows =
        insn.wide ? std::span<const Encoding>(kWide) : std::span<const Encoding>(kNarrow);
    const auto row = std::ranges::find_if(
        rows, [&](const Encoding& each) { return (insn.code & each.mask) == each.value; });
    if (row != rows.end()) {
      insn.kind = row->kind;
      insn.is_double = is_floating_point(row->kind) && (insn.code >> 8 & 1) != 0;
      decode_operands(row->operands, in_it_block > 0, &insn);
    }
    if (in_it_block > 0) --in_it_block;
    // The lowest bit that is set in the mask ends the block.
    if (insn.kind == InsnKind::it) in_it_block = 4 - std::countr_zero(insn.code & 15);
    at += insn.wide ? 4 : 2;
    insns.push_back(insn);
  }
  return insns;
}

}  // namespace thimble::cycles
