// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of products of two activations.

#include <cstddef>
#include <cstdint>

namespace thimble::abi {

struct MatmulParams {
  int32_t transpose_b, a_zp, b_zp, y_zp, mult, shift, min, max, rounding;
};
static_assert(sizeof(MatmulParams) == 36 && offsetof(MatmulParams, mult) == 16);

struct Matmul16Params {
  int32_t transpose_b, mult, shift, min, max;
};
static_assert(sizeof(Matmul16Params) == 20);

}  // namespace thimble::abi
