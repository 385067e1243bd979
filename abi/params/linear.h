// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of linear layers. x is [rows, in_features]; all leading dimensions are rows.

#include <cstddef>
#include <cstdint>

namespace thimble::abi {

/// Header of linear. Weights are [out_features][in_features]. The arrays are int32
/// bias[out_features], int32 mult[scales], int8 shift[scales] (padded to 4), weights.
struct LinearParams {
  int32_t in_features, out_features;
  int32_t scales;  // 1, or out_features
  int32_t x_offset, y_offset;
  int32_t min, max;
};
static_assert(sizeof(LinearParams) == 28 && offsetof(LinearParams, x_offset) == 12);

struct Linear16Params {
  int32_t min, max;
};
static_assert(sizeof(Linear16Params) == 8);

/// Geometry of a packed linear (20 bytes), a separate constant. x is [rows][in_features], y is
/// [rows][out_features].
struct LinearGeometry {
  uint32_t rows, in_features, out_features;
  int16_t x_zero_point, y_zero_point;
  int16_t min, max;
};
static_assert(sizeof(LinearGeometry) == 20 && offsetof(LinearGeometry, x_zero_point) == 12);

}  // namespace thimble::abi
