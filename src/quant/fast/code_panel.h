// SPDX-License-Identifier: Apache-2.0
#pragma once
// The innermost product of code_product.h: rows of weight pairs * a panel, in variants with equal
// results.

#include <cstdint>

#include "quant/fast/pair_lanes.h"

namespace thimble::quant {

inline constexpr int64_t kPanelPositions = 8;
inline constexpr int64_t kPanelElements = 2 * kPanelPositions;  // of one pair of terms

/// Number of rows that multiply_code_panel_avx2() multiplies.
inline constexpr int64_t kAvx2Rows = 8;
/// Returns true if this machine has AVX2, and the program the function for it.
[[nodiscard]] bool has_avx2_panel();
/// sums[row][0 to 7] = rows of weights, [kAvx2Rows][pairs], * panel.
void multiply_code_panel_avx2(const WeightPair* w, int64_t pairs, const int16_t* panel,
                              int32_t* sums, int64_t pitch);

}  // namespace thimble::quant
