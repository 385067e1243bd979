// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rounds the weights of an operator so that its results change least on the calibration data.
//
// Rounding each weight to the nearest code gives the least error of each weight. The error of a
// result is d^T x with d = rounded - real weights, and its mean square is d^T H d, with the second
// moments H of the operand. Elements of a patch are alike, so errors of neighbors that cancel cost
// almost nothing. With H = R^T R, d^T H d = |R d|^2: the nearest plane method (Babai 1986) rounds
// the last weight first, and moves the center of each earlier weight by what the later ones left.
// It is the method of GPTQ (Frantar et al. 2023), without an inverse matrix.
//
// The bias compensates for the mean of an operator's error, so H is the covariance if there is one.
// Moments from few columns are uncertain: products of different terms are multiplied by
// columns / (columns + terms). The rounding of the operand adds s_x^2 / 12 to the diagonal.
//
// A weight of 0 remains 0, so that pruned channels remain removable. A code is at most 2 steps from
// the nearest one. The sum of the magnitudes is at most the one that the scale was chosen for, so
// that no accumulator overflows. Scales do not change.

#include <span>

#include "ir/tensor.h"
#include "quant/operand_rows.h"
#include "quant/weights.h"

namespace thimble::quant {

struct RoundingRequest {
  const OperandMatrix* operand = nullptr;
  const ir::Tensor* w = nullptr;  // f32 [O, I/groups, ...]
  std::span<const double> scale;  // one per output channel, or one
  std::span<const int8_t> nearest;
  double x_scale = 0;
  bool has_bias = true;
  CodeRange range{};                                // of the codes; without the factors
  std::span<const std::vector<uint8_t>> factors{};  // of each output channel; empty: none
};
[[nodiscard]] AdaptedWeights adapt_rounding(const RoundingRequest& request);

}  // namespace thimble::quant
