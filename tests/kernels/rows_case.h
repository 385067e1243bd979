#pragma once
// Calls of the operators of abi/packed_rows.h, their constants made from plain numbers.

#include <vector>

#include "abi/packed_rows.h"
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
/// The axes as they are, outermost first, behind axes of extent 1.
abi::Nest nest_of(const std::vector<TestAxis>& axes);

/// Multiplier and shift of a real number below 1, and all that follows from the scale of x.
abi::SoftmaxRows softmax_constant(double x_scale, uint32_t rows, uint32_t length,
                                  bool wide = false);
/// Tables from the parameters, by tests/kernels/reference.h.
abi::AddTable add_constant(const abi::AddParams& params, const abi::Nest& nest);

}  // namespace thimble::kernels::test
