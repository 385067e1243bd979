// SPDX-License-Identifier: Apache-2.0
#pragma once
// The type rule of each operator: computes the result type from operand types and attributes, or
// returns the reason why they are invalid. Called by Graph::add and by the verifier. Messages name
// the operand.

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// `operands[i]` is null if an optional operand is absent. dim_order and quant of the result are
/// empty, except for data movement operators, which keep the operand's per-tensor quant.
[[nodiscard]] Result<Type> infer_type(OpKind kind, std::span<const Value* const> operands,
                                      const Op& op);

/// Checks that a value may have this type: rank, sizes, order of dimensions, quantization.
[[nodiscard]] Status check_type(const Type& type);

/// Returns the shape of numpy-style broadcasting, or nullopt if the shapes do not broadcast.
[[nodiscard]] std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);

/// Returns the output extent of a window along one dimension; 0 or less: the window does not fit.
[[nodiscard]] int64_t window_extent(int64_t input, int64_t pad_before, int64_t pad_after,
                                    int64_t kernel, int64_t stride, int64_t dilation);

}  // namespace thimble::ir
