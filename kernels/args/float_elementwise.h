// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arguments of elementwise operators on float32 that ExecuTorch files share, for all variants.

#include "kernels/args/broadcast_pair.h"

namespace thimble::kernels {

/// Checks a, b and y of aten::mul and div, or with alpha, those of add and sub.
Status check_float_binary(const Call& call);
Status check_float_binary_with_alpha(const Call& call);

/// aten::clamp, hardtanh and relu, of float32 or int8.
struct Limits {
  double min, max;  // NaN: no bound
};
Status check_limits(const Tensor& x, const Tensor& y, Limits limits);
Limits clamp_limits(const Call& call);
Status check_clamp(const Call& call);
/// Limits int8 elements.
void limit_codes(const Tensor& x, const Tensor& y, Limits limits);

}  // namespace thimble::kernels
