#pragma once
// What load has verified and decoded already. Files name the same few values again and again, so
// each is decoded once and copied from then on. The copies lie in the arena, which is free until
// the first run; those that do not fit are decoded each time.

#include "abi/pte_format.h"
#include "kernels/kernels.h"

namespace thimble::runtime {

class Memo {
 public:
  /// Remembers nothing.
  Memo() = default;
  /// `memory` is aligned as an arena is.
  Memo(uint8_t* memory, uint32_t bytes, uint32_t values) {
    const uint32_t room = bytes / (sizeof(kernels::Arg) + 1);
    count_ = values < room ? values : room;
    args_ = reinterpret_cast<kernels::Arg*>(memory);
    tags_ = memory + count_ * sizeof(kernels::Arg);
    for (uint32_t i = 0; i < count_; ++i) tags_[i] = 0;
  }

  /// The tag of a value that is remembered, with kPlanned for a tensor in the arena; or 0.
  static constexpr uint32_t kPlanned = 0x80;
  uint32_t tag(uint32_t value_index) const { return value_index < count_ ? tags_[value_index] : 0; }
  const kernels::Arg& arg(uint32_t value_index) const { return args_[value_index]; }

  void keep(uint32_t value_index, uint32_t tag, const kernels::Arg& arg) {
    if (value_index >= count_) return;
    copy(tag, arg, args_[value_index]);
    tags_[value_index] = static_cast<uint8_t>(tag);
  }

  /// Copies what an argument of this tag has.
  static void copy(uint32_t tag, const kernels::Arg& from, kernels::Arg& to) {
    namespace value_tag = abi::pte::value_tag;
    switch (tag & ~kPlanned) {
      case value_tag::kTensor:
      case value_tag::kNull:
        to.tensor = from.tensor;
        break;
      case value_tag::kIntList:
        to.ints.count = from.ints.count;
        for (uint32_t i = 0; i < from.ints.count; ++i) to.ints.items[i] = from.ints.items[i];
        break;
      default:
        to.integer = from.integer;  // or the bits of the number
    }
  }

 private:
  kernels::Arg* args_ = nullptr;
  uint8_t* tags_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace thimble::runtime
