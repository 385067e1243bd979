// Every kernel of this build, in the order of kernels.def.

#include "kernels/kernels.h"

namespace thimble::kernels {
namespace {

constexpr const Kernel* kKernels[] = {
#define THIMBLE_KERNEL(variant, op) &variant##_##op,
#include "kernels/kernels.def"
#undef THIMBLE_KERNEL
};

}  // namespace

KernelTable all_kernels() {
  return {kKernels, sizeof kKernels / sizeof kKernels[0]};
}

}  // namespace thimble::kernels
