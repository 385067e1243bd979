// SPDX-License-Identifier: Apache-2.0
#pragma once
// Products of int8 weights and int8 or int16 values, summed in int32, for convolutions and linear
// layers of integer graphs. All sums are exact, so any order of the terms gives the same result.
//
// Values are copied to panels of kPanelPositions columns, panel[term / 2][column][term % 2], so
// that one instruction multiplies a pair of terms of four columns (pair_lanes.h), or of eight
// (code_panel.h). A panel is multiplied with several rows of weights at a time, so that few loads
// serve many products. The sums of a few
// positions are requantized before the next ones are computed, so that no array has all of them.

#include <cstdint>
#include <functional>
#include <span>

#include "quant/fast/convolution.h"
#include "quant/fast/executor.h"

namespace thimble::quant {

/// Vectors that are padded to a multiple of this need no rest of the loop of dot(), in which
/// compilers multiply and add pairs with one instruction.
inline constexpr int64_t kDotTerms = 16;
/// Returns the sum of products.
[[nodiscard]] int32_t dot(const int16_t* a, const int16_t* b, int64_t terms);

/// Returns true if no sum of products of a row of weights, [outputs][terms], with values of at most
/// this magnitude exceeds int32.
[[nodiscard]] bool sums_fit_int32(std::span<const int8_t> w, int64_t outputs, int64_t magnitude);

/// Receives sums without bias: of one output channel and image, at consecutive positions from
/// `first` on. It may change them.
using TakeSums =
    std::function<void(int64_t image, int64_t channel, int64_t first, std::span<int32_t> sums)>;

/// Sums of (x - zero_point) * w. Uses scratch slots 0 to 3.
template <typename Code>
void convolve_codes(const Convolution& c, const Code* x, int32_t zero_point, const int8_t* w,
                    Scratch& scratch, const TakeSums& take);

/// y[out][rows] = w[out][in] * (x[rows][in] - zero_point)^T, a few outputs at a time: `take` has
/// the sums of one output, and image 0. Uses scratch slots 0 to 2.
template <typename Code>
void multiply_codes(const Code* x, int32_t zero_point, const int8_t* w, int64_t rows, int64_t in,
                    int64_t out, Scratch& scratch, const TakeSums& take);

}  // namespace thimble::quant
