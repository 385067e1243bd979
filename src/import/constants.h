#pragma once
// Tensors that are known at import: weights of the archive, and what data movement and float
// arithmetic make of constants. Folding here keeps weights constants, which is what the handlers
// need to see; folding in general is a pass.

#include <optional>
#include <span>

#include "base/result.h"
#include "formats/pt2/weights.h"
#include "ir/graph.h"

namespace thimble::import_pt2 {

/// The IR's name for a PyTorch type; nothing for types that the IR does not have.
[[nodiscard]] std::optional<ir::DType> ir_dtype(formats::pt2::ScalarType type);

/// float16, bfloat16 and float64 become float32; a number that overflows is bad input. Types
/// without an IR name are unsupported.
[[nodiscard]] Result<ir::Tensor> convert_weight(const formats::pt2::WeightTensor& weight);

/// Elements converted as PyTorch does: integers and booleans to float and the reverse.
[[nodiscard]] ir::Tensor converted(const ir::Tensor& tensor, ir::DType dtype);

/// A tensor with `value` everywhere.
[[nodiscard]] ir::Tensor filled(ir::DType dtype, const ir::Shape& shape, double value);

/// One element as a number, and back (a conversion as in C++).
[[nodiscard]] double element(const ir::Tensor& tensor, size_t index);
void set_element(ir::Tensor& tensor, size_t index, double value);

/// The operator's result if it is one of reshape, permute, slice, expand, copy, concat, add, sub,
/// mul, div, abs, clamp, floor, sqrt, rsqrt on constants and of a reasonable size. The operator has
/// been checked; `shape` is its result's.
[[nodiscard]] std::optional<ir::Tensor> fold(const ir::Op& op, const ir::Shape& shape,
                                             std::span<const ir::TensorPtr> operands);

/// What a dequantize or dequantize_channels of constants computes.
[[nodiscard]] ir::Tensor dequantized(const ir::Op& op, std::span<const ir::Tensor* const> operands);

}  // namespace thimble::import_pt2
