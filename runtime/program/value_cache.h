// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache of the values that load has verified and decoded. Instructions of a file refer to the
// same values, so each value is decoded once and then copied. The copies are in the arena, which is
// unused until the first run. Values that do not fit are decoded each time.

#include "kernels/kernels.h"
#include "runtime/program/flatbuffer.h"
#include "runtime/program/tensor.h"

namespace thimble::runtime {

class ValueCache {
 public:
  /// An empty cache without memory.
  ValueCache() = default;
  /// `memory` must have the alignment of an arena.
  ValueCache(uint8_t* memory, uint32_t bytes, uint32_t values) {
    const uint32_t room = bytes / static_cast<uint32_t>(sizeof(CachedArg) + 1);
    count_ = values < room ? values : room;
    args_ = reinterpret_cast<CachedArg*>(memory);
    tags_ = memory + count_ * sizeof(CachedArg);
    for (uint32_t i = 0; i < count_; ++i) tags_[i] = 0;
  }

  /// Added to the tag of a tensor that is in the arena.
  static constexpr uint32_t kPlanned = 0x80;
  /// Returns the tag of a cached value, with kPlanned; 0 if the value is not cached.
  THIMBLE_INLINE uint32_t tag(uint32_t value_index) const {
    return value_index < count_ ? tags_[value_index] : 0;
  }
  THIMBLE_INLINE void load_into(uint32_t value_index, kernels::Arg& arg) const {
    copy_tensor(&args_[value_index], &arg);
  }
  THIMBLE_INLINE void store(uint32_t value_index, uint32_t tag, const kernels::Arg& arg) {
    if (value_index >= count_) return;
    if (tag == abi::pte::value_tag::kIntList && arg.ints.count > kIntsMax) return;
    copy_tensor(&arg, &args_[value_index]);
    tags_[value_index] = static_cast<uint8_t>(tag);
  }

 private:
  /// The first bytes of an Arg: a whole tensor or number, or a list of at most kIntsMax integers.
  struct alignas(kernels::Arg) CachedArg {
    unsigned char bytes[sizeof(kernels::Tensor)];
  };
  static constexpr uint32_t kIntsMax = sizeof(CachedArg) / sizeof(int32_t) - 1;
  static_assert(sizeof(CachedArg) <= sizeof(kernels::Arg) &&
                offsetof(kernels::IntList, items) == 4);

  CachedArg* args_ = nullptr;
  uint8_t* tags_ = nullptr;
  uint32_t count_ = 0;
};

}  // namespace thimble::runtime
