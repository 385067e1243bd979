// SPDX-License-Identifier: Apache-2.0
#pragma once
// Types of IR values: element type, logical shape, memory order, quantization.
//
// Operators are defined by *logical* index ([N,C,H,W] for images). `dim_order` states only how the
// elements are ordered in memory (outermost to innermost dimension); no operator's result depends
// on it. The evaluator can therefore ignore dim_order, and layout can be chosen once, late.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::ir {

enum class DType : uint8_t { kF32, kI8, kU8, kI16, kI32, kI64, kBool };

[[nodiscard]] std::string_view dtype_name(DType dtype);  // "f32", "i8", ...
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);
[[nodiscard]] size_t dtype_bytes(DType dtype);

using Shape = std::vector<int64_t>;

/// Limits of a checked type. Devices have 32-bit addresses, so no device runs a larger tensor.
inline constexpr size_t kMaxRank = 8;
inline constexpr int64_t kMaxElements = INT32_MAX;

/// Returns the number of elements; shapes in a checked graph never overflow.
[[nodiscard]] int64_t element_count(const Shape& shape);
/// Returns the number of elements of an unchecked shape; nullopt if a size is below 1 or the
/// product exceeds kMaxElements.
[[nodiscard]] std::optional<int64_t> checked_element_count(const Shape& shape);

/// Permutation of dimensions from outermost to innermost in memory. Empty = contiguous (0,1,2,..).
using DimOrder = std::vector<uint8_t>;
[[nodiscard]] DimOrder channels_last_order();  // 0,2,3,1
[[nodiscard]] bool is_contiguous(const DimOrder& order);
/// Returns true if a tensor of this shape has the same bytes in both orders (dimensions of size 1
/// are ignored).
[[nodiscard]] bool same_memory(const Shape& shape, const DimOrder& a, const DimOrder& b);
/// Returns the stride of each logical dimension, in elements.
[[nodiscard]] std::vector<int64_t> strides(const Shape& shape, const DimOrder& order);

/// Affine quantization: real = scale * (q - zero_point). Per tensor: one entry. Per channel: one
/// entry per index of `axis`.
struct Quant {
  std::vector<double> scale;
  std::vector<int32_t> zero_point;
  int axis = -1;  // -1 = per tensor

  bool operator==(const Quant&) const = default;
};
[[nodiscard]] Quant per_tensor(double scale, int32_t zero_point);

struct Type {
  DType dtype = DType::kF32;
  Shape shape;
  DimOrder dim_order;          // empty = contiguous
  std::optional<Quant> quant;  // only for integer values

  bool operator==(const Type&) const = default;
  [[nodiscard]] int64_t elements() const { return element_count(shape); }
  [[nodiscard]] size_t bytes() const {
    return static_cast<size_t>(elements()) * dtype_bytes(dtype);
  }
};

/// Returns `[1,8,8,3]` and `i8[1,8,8,3]`, the notation of messages and of the text form.
[[nodiscard]] std::string list_text(const std::vector<int64_t>& values);
[[nodiscard]] std::string type_text(DType dtype, const Shape& shape);

}  // namespace thimble::ir
