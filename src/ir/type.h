#pragma once
// Types of IR values: element type, logical shape, memory order, quantization.
//
// Meaning is always by *logical* index ([N,C,H,W] for images). `dim_order` only says how the
// elements lie in memory (outermost to innermost dimension); no operator's result depends on it.
// That is why the evaluator can ignore it and why layout can be solved once, late.

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

/// Limits of a checked type. Devices address 32 bits, so more elements than this run nowhere.
inline constexpr size_t kMaxRank = 8;
inline constexpr int64_t kMaxElements = INT32_MAX;

/// Number of elements; shapes in a checked graph never overflow.
[[nodiscard]] int64_t element_count(const Shape& shape);
/// The same for any numbers: nothing if a size is below 1 or the product exceeds kMaxElements.
[[nodiscard]] std::optional<int64_t> checked_element_count(const Shape& shape);

/// Permutation of dimensions from outermost to innermost in memory. Empty = contiguous (0,1,2,..).
using DimOrder = std::vector<uint8_t>;
[[nodiscard]] DimOrder channels_last_order();  // 0,2,3,1
[[nodiscard]] bool is_contiguous(const DimOrder& order);
/// True if a tensor of this shape has the same bytes in both orders (sizes of 1 do not matter).
[[nodiscard]] bool same_memory(const Shape& shape, const DimOrder& a, const DimOrder& b);
/// Strides in elements by logical dimension.
[[nodiscard]] std::vector<int64_t> strides(const Shape& shape, const DimOrder& order);

/// real = scale * (q - zero_point). Per tensor: one entry. Per channel: one entry per index of
/// `axis`.
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
  std::optional<Quant> quant;  // only on integer values

  bool operator==(const Type&) const = default;
  [[nodiscard]] int64_t elements() const { return element_count(shape); }
  [[nodiscard]] size_t bytes() const {
    return static_cast<size_t>(elements()) * dtype_bytes(dtype);
  }
};

/// `[1,8,8,3]` and `i8[1,8,8,3]`, as messages and the text form write them.
[[nodiscard]] std::string list_text(const std::vector<int64_t>& values);
[[nodiscard]] std::string type_text(DType dtype, const Shape& shape);

}  // namespace thimble::ir
