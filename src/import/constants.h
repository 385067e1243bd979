// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that are known at import: weights of the archive, and the results of data movement and
// float arithmetic on constants. Folding at import keeps weights constant, which the handlers
// require. General constant folding is a pass.

#include <optional>
#include <span>

#include "base/result.h"
#include "formats/pt2/weights.h"
#include "ir/graph.h"

namespace thimble::import_pt2 {

/// Returns the IR type for a PyTorch type; nullopt if the IR has no such type.
[[nodiscard]] std::optional<ir::DType> ir_dtype(formats::pt2::ScalarType type);

/// Converts a weight. float16, bfloat16 and float64 become float32. A number that overflows is a
/// bad-input error; a type without an IR type is a not-supported error.
[[nodiscard]] Result<ir::Tensor> convert_weight(formats::pt2::WeightTensor weight);

/// Converts elements as PyTorch does, between integers, booleans and float.
[[nodiscard]] ir::Tensor converted(const ir::Tensor& tensor, ir::DType dtype);

/// Returns a tensor in which every element is `value`.
[[nodiscard]] ir::Tensor filled(ir::DType dtype, const ir::Shape& shape, double value);

/// Reads an element as a number. set_element() converts a number as in C++;
/// one that the type does not represent becomes its smallest integer.
[[nodiscard]] double element(const ir::Tensor& tensor, size_t index);
void set_element(ir::Tensor& tensor, size_t index, double value);

/// Returns true for reshape, permute, slice, expand, copy, concat, cumsum, add, sub, mul, div, abs,
/// clamp, compare, where, floor, log, sqrt and rsqrt, if the result does not need more memory than
/// the operands. The operator must be verified; `shape` is the shape of its result.
[[nodiscard]] bool can_fold(const ir::Op& op, const ir::Shape& shape,
                            std::span<const ir::TensorPtr> operands);

/// Returns the result of an operator of constants for which can_fold() is true.
[[nodiscard]] ir::Tensor fold(const ir::Op& op, const ir::Shape& shape,
                              std::span<const ir::TensorPtr> operands);

/// Returns the result of a dequantize or dequantize_channels of constants.
[[nodiscard]] ir::Tensor dequantized(const ir::Op& op, std::span<const ir::Tensor* const> operands);

}  // namespace thimble::import_pt2
