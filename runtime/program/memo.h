#pragma once
// What load has verified and decoded already. Files name the same few values again and again, so
// each is decoded once and copied from then on. The copies lie in the arena, which is free until
// the first run; those that do not fit are decoded each time.

#include "kernels/kernels.h"
#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

class Memo {
 public:
  /// Remembers nothing.
  Memo() = default;
  /// `memory` is aligned as an arena is.
  Memo(uint8_t* memory, uint32_t bytes, uint32_t values) {
    const uint32_t room = bytes / static_cast<uint32_t>(sizeof(Entry) + 1);
    count_ = values < room ? values : room;
    entries_ = reinterpret_cast<Entry*>(memory);
    tags_ = memory + count_ * sizeof(Entry);
    for (uint32_t i = 0; i < count_; ++i) tags_[i] = 0;
  }

  /// The tag of a value that is remembered, with kPlanned for a tensor in the arena; or 0.
  static constexpr uint32_t kPlanned = 0x80;
  THIMBLE_INLINE uint32_t tag(uint32_t value_index) const {
    return value_index < count_ ? tags_[value_index] : 0;
  }
  THIMBLE_INLINE void recall(uint32_t value_index, kernels::Arg& arg) const {
    copy(&entries_[value_index], &arg);
  }
  THIMBLE_INLINE void keep(uint32_t value_index, uint32_t tag, const kernels::Arg& arg) {
    if (value_index >= count_) return;
    if (tag == abi::pte::value_tag::kIntList && arg.ints.count > kIntsMax) return;
    copy(&arg, &entries_[value_index]);
    tags_[value_index] = static_cast<uint8_t>(tag);
  }

 private:
  /// The front of an Arg: all of a tensor or number, and of a list of no more than kIntsMax.
  struct alignas(kernels::Arg) Entry {
    unsigned char bytes[sizeof(kernels::Tensor)];
  };
  /// In two pieces, each small enough that no compiler makes a loop or a call of it.
  THIMBLE_INLINE static void copy(const void* from, void* to) {
    constexpr size_t kHalf = 16;
    from = std::assume_aligned<alignof(Entry)>(from);
    to = std::assume_aligned<alignof(Entry)>(to);
    std::memcpy(to, from, kHalf);
    std::memcpy(static_cast<char*>(to) + kHalf, static_cast<const char*>(from) + kHalf,
                sizeof(Entry) - kHalf);
  }
  static constexpr uint32_t kIntsMax = sizeof(Entry) / sizeof(int32_t) - 1;
  static_assert(sizeof(Entry) <= sizeof(kernels::Arg) && offsetof(kernels::IntList, items) == 4);

  Entry* entries_ = nullptr;
  uint8_t* tags_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace thimble::runtime
