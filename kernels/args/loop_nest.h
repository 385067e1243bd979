// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of packed constants, and the loop nest that abi::Nest describes.

#include <cstdint>

#include "abi/packed_ops.h"
#include "kernels/args/operands.h"

namespace thimble::kernels {

/// Returns the packed constant of an operator: a reference into the constant. The caller has
/// checked its size and alignment with check_blob().
template <const abi::PteOpInfo&... kOps>
const abi::ParamsOf<kOps...>& packed(const void* constant) {
  return *static_cast<const abi::ParamsOf<kOps...>*>(constant);
}
template <const abi::PteOpInfo&... kOps>
const abi::ParamsOf<kOps...>& packed(const Tensor& constant) {
  return packed<kOps...>(constant.data);
}

/// Returns true if all elements that operand `which` of the nest accesses are among the first
/// `elements`, and no extent is 0.
bool is_within(const abi::LoopNest& nest, uint32_t which, uint32_t elements);
/// Returns the number of elements of the nest, or 0 if it exceeds the size of any tensor.
uint32_t element_count(const abi::LoopNest& nest);

/// Calls row(offset of operand 0, offset of operand 1) for each innermost row, in order.
template <class Row>
void for_each_row(const abi::LoopNest& nest, Row row) {
  constexpr uint32_t kOuter = abi::LoopNest::kAxes - 1;
  uint32_t left[kOuter];
  for (uint32_t a = 0; a < kOuter; ++a) left[a] = nest.extent[a];
  uint32_t first = 0;
  uint32_t second = 0;
  for (;;) {
    row(first, second);
    uint32_t axis = kOuter;
    for (;;) {
      if (axis-- == 0) return;
      first += nest.step[0][axis];
      second += nest.step[1][axis];
      if (--left[axis] != 0) break;
      left[axis] = nest.extent[axis];
      first -= nest.step[0][axis] * nest.extent[axis];
      second -= nest.step[1][axis] * nest.extent[axis];
    }
  }
}

}  // namespace thimble::kernels
