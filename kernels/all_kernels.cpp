// Tables of every kernel of this build. One is sorted by the length of the name; within a length,
// aten kernels are last, because few files call them, and the others are in the order of
// kernels.def. The other table is sorted by hash; variants of one operator are adjacent, in the
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
  const Kernel* by_hash[kCount] = {};
};

consteval Sorted sort_rows() {
  constexpr abi::PteOp kOps[] = {
#define THIMBLE_KERNEL(variant, op) THIMBLE_IF_##variant(abi::PteOp::op, )
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
  };
  Sorted sorted;
  uint32_t keys[kCount] = {}, hashes[kCount] = {};
  for (uint32_t row = 0; row < kCount; ++row) {
    const char* const name = abi::info(kOps[row]).name;
    const uint32_t length = length_of(name);
    const uint32_t key = 2 * length + (name[0] == 'a' ? 1 : 0);
    for (uint32_t n = length + 1; n < sizeof sorted.shorter / sizeof sorted.shorter[0]; ++n) {
      ++sorted.shorter[n];
    }
    uint32_t place = row;
    for (; place > 0 && keys[place - 1] > key; --place) {
      keys[place] = keys[place - 1];
      sorted.kernels[place] = sorted.kernels[place - 1];
    }
    keys[place] = key;
    sorted.kernels[place] = kRows[row];
    const uint32_t hash = abi::hash_of(name, abi::info(kOps[row]).arguments);
    for (place = row; place > 0 && hashes[place - 1] > hash; --place) {
      hashes[place] = hashes[place - 1];
      sorted.by_hash[place] = sorted.by_hash[place - 1];
    }
    hashes[place] = hash;
    sorted.by_hash[place] = kRows[row];
  }
  return sorted;
}

/// Returns true if all operators have different hashes. Files identify an operator by its hash.
consteval bool hashes_differ() {
  constexpr uint32_t kOps = static_cast<uint32_t>(abi::PteOp::kCount);
  uint32_t hashes[kOps] = {};
  for (uint32_t op = 0; op < kOps; ++op) {
    hashes[op] = abi::hash_of(abi::kPteOps[op].name, abi::kPteOps[op].arguments);
    for (uint32_t other = 0; other < op; ++other) {
      if (hashes[other] == hashes[op]) return false;
    }
  }
  return true;
}
static_assert(hashes_differ());

constexpr Sorted kSorted = sort_rows();
static_assert(kSorted.shorter[kNameBytesMax + 1] == kCount, "a name is longer than kNameBytesMax");

}  // namespace

KernelTable all_kernels() {
  return {kSorted.kernels, kCount, kSorted.shorter, nullptr, kSorted.by_hash};
}

}  // namespace thimble::kernels
