// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of the operators of abi/packed_ops.h, with constants built from plain numbers.

#include <vector>

#include "abi/packed_ops.h"
#include "abi/params/arithmetic.h"
#include "tests/kernels/conv_case.h"
#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

template <class Header>
Value packed_value(const Header& header) {
  std::vector<uint8_t> bytes;
  append(bytes, &header, 1);
  return constant_bytes(bytes);
}

struct TestAxis {
  uint32_t extent, first, second;
};
/// Returns the axes unchanged, outermost first, after axes of extent 1.
abi::LoopNest nest_of(const std::vector<TestAxis>& axes);

/// Returns the multiplier and shift of x's scale and the parameters derived from them.
abi::SoftmaxRows softmax_constant(double x_scale, uint32_t rows, uint32_t length,
                                  bool wide = false);
/// Computes the tables from the parameters with tests/kernels/reference.h.
abi::AddTable add_constant(const abi::AddParams& params, const abi::LoopNest& nest);

}  // namespace thimble::kernels::test
