// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of norms. The term added to the variance is int_eps << eps_shift.

#include <cstddef>
#include <cstdint>

namespace thimble::abi {

struct GroupNormParams {
  int32_t groups, int_eps, eps_shift, y_zp, mult, shift, min, max;
};
static_assert(sizeof(GroupNormParams) == 32 && offsetof(GroupNormParams, y_zp) == 12);

struct GroupNorm16Params {
  int32_t groups, int_eps, eps_shift, mult, shift, min, max;
};
static_assert(sizeof(GroupNorm16Params) == 28 && offsetof(GroupNorm16Params, mult) == 12);

/// The last `last_dims` dimensions are normalized.
struct LayerNormParams {
  int32_t last_dims, int_eps, eps_shift, y_zp, mult, shift, min, max;
};
static_assert(sizeof(LayerNormParams) == 32 && offsetof(LayerNormParams, y_zp) == 12);

struct RmsNormParams {
  int32_t last_dims, int_eps, eps_shift, x_zp, y_zp, mult, shift, min, max;
};
static_assert(sizeof(RmsNormParams) == 36 && offsetof(RmsNormParams, x_zp) == 12);

/// layer_norm16 and rms_norm16
struct LastDimsNorm16Params {
  int32_t last_dims, int_eps, eps_shift, mult, shift, min, max;
};
static_assert(sizeof(LastDimsNorm16Params) == 28 && offsetof(LastDimsNorm16Params, mult) == 12);

}  // namespace thimble::abi
