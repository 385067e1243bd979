// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands with weights, and operators whose weights have 4 bits (attribute weight_bits).

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace thimble::ir {

/// Returns the operands of a convolution, linear or recurrent layer that have its weights.
[[nodiscard]] std::vector<size_t> weight_operands(OpKind kind);

/// Returns true for an operator with the attribute weight_bits of 4.
[[nodiscard]] bool has_int4_weights(const Op& op);

/// Number of weights of an output channel that share a factor (attribute weight_group).
inline constexpr int64_t kWeightGroup = 32;
inline constexpr int32_t kGroupFactorMax = 15;

/// Returns true for an operator with the attribute weight_group.
[[nodiscard]] bool has_grouped_weights(const Op& op);

/// Returns the smallest factor from 1 to kGroupFactorMax such that each weight is the factor times
/// a number in [-8, 7]; 0 if there is none.
[[nodiscard]] int32_t group_factor(std::span<const int8_t> weights);

}  // namespace thimble::ir
