// SPDX-License-Identifier: Apache-2.0
// Tables of every kernel of this build. One is sorted by the length of the name; within a length,
// aten kernels are last, because few files call them, and the others are in the order of
// kernels.def. The other table is sorted by key; variants of one operator are adjacent, in the
// same order.

#include "abi/pte_ops.h"
#include "kernels/kernel_list.h"

namespace thimble::kernels {
namespace {

constexpr const Kernel* kRows[] = {
#define THIMBLE_KERNEL(variant, op) THIMBLE_IF_##variant(&variant##_##op, )
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
};
constexpr uint32_t kCount = sizeof kRows / sizeof kRows[0];

struct Sorted {
  const Kernel* kernels[kCount] = {};
  uint16_t shorter[kNameBytesMax + 2] = {};
  const Kernel* by_key[kCount] = {};
};

constexpr Sorted sort_rows() {
  constexpr abi::PteOp kOps[] = {
#define THIMBLE_KERNEL(variant, op) THIMBLE_IF_##variant(abi::PteOp::op, )
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
  };
  Sorted sorted;
  uint32_t lengths[kCount] = {}, keys[kCount] = {};
  for (uint32_t row = 0; row < kCount; ++row) {
    const char* const name = abi::info(kOps[row]).name;
    const uint32_t length = length_of(name);
    const uint32_t order = 2 * length + (name[0] == 'a' ? 1 : 0);
    for (uint32_t n = length + 1; n < sizeof sorted.shorter / sizeof sorted.shorter[0]; ++n) {
      ++sorted.shorter[n];
    }
    uint32_t place = row;
    for (; place > 0 && lengths[place - 1] > order; --place) {
      lengths[place] = lengths[place - 1];
      sorted.kernels[place] = sorted.kernels[place - 1];
    }
    lengths[place] = order;
    sorted.kernels[place] = kRows[row];
    const uint32_t key = abi::word_of(abi::info(kOps[row]).key);
    for (place = row; place > 0 && keys[place - 1] > key; --place) {
      keys[place] = keys[place - 1];
      sorted.by_key[place] = sorted.by_key[place - 1];
    }
    keys[place] = key;
    sorted.by_key[place] = kRows[row];
  }
  return sorted;
}

/// Returns true if all operators have different keys, and none has key 0.
constexpr bool keys_differ() {
  constexpr uint32_t kOps = static_cast<uint32_t>(abi::PteOp::kCount);
  for (uint32_t op = 0; op < kOps; ++op) {
    const uint32_t key = abi::word_of(abi::kPteOps[op].key);
    if (key == 0) return false;
    for (uint32_t other = 0; other < op; ++other) {
      if (abi::word_of(abi::kPteOps[other].key) == key) return false;
    }
  }
  return true;
}
static_assert(keys_differ());

constexpr Sorted kSorted = sort_rows();
static_assert(kSorted.shorter[kNameBytesMax + 1] == kCount, "a name is longer than kNameBytesMax");

}  // namespace

KernelTable all_kernels() {
  return {kSorted.kernels, kCount, kSorted.shorter, nullptr, kSorted.by_key};
}

}  // namespace thimble::kernels
