// Every kernel of this build, by the length of its name; within a length those of aten last, which
// few files call, else in the order of kernels.def.

#include "abi/pte_ops.h"
#include "kernels/kernels.h"

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
};

consteval Sorted sort_rows() {
  constexpr abi::PteOp kOps[] = {
#define THIMBLE_KERNEL(variant, op) THIMBLE_IF_##variant(abi::PteOp::op, )
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
  };
  Sorted sorted;
  uint32_t keys[kCount] = {};
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
  }
  return sorted;
}

constexpr Sorted kSorted = sort_rows();
static_assert(kSorted.shorter[kNameBytesMax + 1] == kCount, "a name is longer than kNameBytesMax");

}  // namespace

KernelTable all_kernels() {
  return {kSorted.kernels, kCount, kSorted.shorter};
}

}  // namespace thimble::kernels
