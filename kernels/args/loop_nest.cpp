// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/loop_nest.h"

namespace thimble::kernels {

bool is_within(const abi::LoopNest& nest, uint32_t which, uint32_t elements) {
  uint32_t last = 0;
  for (uint32_t a = 0; a < abi::LoopNest::kAxes; ++a) {
    if (nest.extent[a] == 0) return false;
    if (nest.extent[a] == 1) continue;
    const uint64_t more = uint64_t{nest.extent[a] - 1} * nest.step[which][a];
    if (more >= elements) return false;
    last += static_cast<uint32_t>(more);
    if (last >= elements) return false;
  }
  return elements != 0;
}

uint32_t element_count(const abi::LoopNest& nest) {
  uint32_t count = 1;
  for (uint32_t a = 0; a < abi::LoopNest::kAxes; ++a) {
    if (nest.extent[a] == 1) continue;
    const uint64_t more = uint64_t{count} * nest.extent[a];
    if (more > kMaxTensorBytes) return 0;
    count = static_cast<uint32_t>(more);
  }
  return count;
}

}  // namespace thimble::kernels
