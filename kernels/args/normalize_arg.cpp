// SPDX-License-Identifier: Apache-2.0
// Arguments that a file may give in several types: a number as integer, bool or double, or None for
// an omitted argument. Kernels read one normalized type, see Arg.

#include <string.h>

#include "abi/freestanding.h"
#include "abi/pte_format.h"
#include "kernels/kernels.h"

namespace thimble::kernels {
namespace {

using namespace abi::pte::value_tag;

/// Converts an integer of at most 53 bits to double. The library's 64-bit conversion would link
/// double arithmetic into images that need none.
double exact_double(int64_t value) {
  uint64_t size = static_cast<uint64_t>(value < 0 ? -value : value);
  if (size == 0) return 0;
  uint64_t exponent = 1023 + 52;
  for (; size >> 52 == 0; size <<= 1) --exponent;
  for (; size >> 53 != 0; size >>= 1) ++exponent;
  const uint64_t sign = value < 0 ? uint64_t{1} << 63 : 0;
  return abi::bit_cast<double>(sign | exponent << 52 | (size & 0xFFFFFFFFFFFFF));
}

/// NaN represents None in kernels, so a NaN in a file is rejected.
Status normalize_number(bool may_lack, uint32_t tag, Arg& arg) {
  constexpr int64_t kExact = int64_t{1} << 53;
  constexpr uint64_t kInfinite = uint64_t{0x7FF} << 52;
  switch (tag) {
    case kInt:
    case kBool:
      if (arg.integer > kExact || arg.integer < -kExact) return Status::kBadParameter;
      arg.number = exact_double(arg.integer);
      return Status::kOk;
    case kDouble:
      return abi::bit_cast<uint64_t>(arg.number) << 1 > kInfinite << 1 ? Status::kBadParameter
                                                                       : Status::kOk;
    case kNull:
      arg.number = __builtin_nan("");
      return may_lack ? Status::kOk : Status::kUnsupported;
    default:
      return Status::kCorrupt;
  }
}

Status normalize_integer(uint32_t tag, Arg& arg) {
  if (tag == kInt) return arg.integer != kAbsent ? Status::kOk : Status::kBadParameter;
  if (tag != kNull) return Status::kCorrupt;
  arg.integer = kAbsent;
  return Status::kOk;
}

Status normalize_integers(uint32_t tag, Arg& arg) {
  if (tag == kIntList) return Status::kOk;
  if (tag != kNull) return Status::kCorrupt;
  arg.ints.count = 0;
  return Status::kOk;
}

Status settle_doubles(uint32_t tag, Arg& arg) {
  DoubleList list;
  if (tag == kDoubleList) {
    const Items items = arg.items;
    if (items.count > sizeof list.items / sizeof list.items[0]) return Status::kUnsupported;
    list.count = items.count;
    memcpy(list.items, items.data, items.count * sizeof list.items[0]);
  } else if (tag != kNull) {
    return Status::kCorrupt;
  }
  arg.doubles = list;
  return Status::kOk;
}

Status settle_text(uint32_t tag, Arg& arg) {
  if (tag != kString) {
    return tag == kNull ? Status::kUnsupported : Status::kCorrupt;
  }
  const Items items = arg.items;
  arg.text = {reinterpret_cast<const char*>(items.data), items.count};
  return Status::kOk;
}

}  // namespace

Status normalize_multi_type_arg(char letter, uint32_t tag, Arg& arg) {
  switch (letter) {
    case 'c':
      return settle_text(tag, arg);
    case 'j':
      return normalize_integer(tag, arg);
    case 'k':
      return normalize_integers(tag, arg);
    case 'q':
      return settle_doubles(tag, arg);
    default:
      return normalize_number(letter == 'z', tag, arg);
  }
}

}  // namespace thimble::kernels
