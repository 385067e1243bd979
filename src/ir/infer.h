#pragma once
// The type rule of each operator: operand types and attributes -> result type, or why they do not
// fit. Called by Graph::add and by the verifier; messages name the operand.

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {

/// `operands[i]` is null where an optional operand is absent. dim_order and quant of the result
/// are left empty, but for data movement, which keeps the operand's per-tensor quant.
[[nodiscard]] Result<Type> infer_type(OpKind kind, std::span<const Value* const> operands,
                                      const Op& op);

/// Is this a type that a value may have: rank, sizes, order of dimensions, quantization.
[[nodiscard]] Status check_type(const Type& type);

/// Shape of numpy-style broadcasting, or nullopt.
[[nodiscard]] std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b);

/// Output extent of a window along one dimension; 0 or less means it does not fit.
[[nodiscard]] int64_t window_extent(int64_t input, int64_t pad_before, int64_t pad_after,
                                    int64_t kernel, int64_t stride, int64_t dilation);

}  // namespace thimble::ir
