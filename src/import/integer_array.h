// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arrays of 64-bit integers, and the arguments of a node read as such, for what is computed at
// import (integers.h).

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "import/call.h"

namespace thimble::import_pt2::integers {

using ir::DType;
using ir::Shape;

struct Array {
  Shape shape;
  std::vector<int64_t> values;
};
using Folded = Result<std::optional<Array>>;

[[nodiscard]] inline bool is_whole(DType dtype) {
  return dtype != DType::kF32;
}

// Overflow wraps, as in PyTorch.
inline int64_t wrap(uint64_t value) {
  return static_cast<int64_t>(value);
}
inline int64_t add(int64_t a, int64_t b) {
  return wrap(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t larger(int64_t a, int64_t b) {
  return std::max(a, b);
}
inline int64_t smaller(int64_t a, int64_t b) {
  return std::min(a, b);
}
inline int64_t both(int64_t a, int64_t b) {
  return a != 0 && b != 0 ? 1 : 0;
}
inline int64_t either(int64_t a, int64_t b) {
  return a != 0 || b != 0 ? 1 : 0;
}
inline int64_t subtract(int64_t a, int64_t b) {
  return wrap(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t multiply(int64_t a, int64_t b) {
  return wrap(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t negate(int64_t a) {
  return subtract(0, a);
}
/// `b` is not 0. The quotient of the smallest integer and -1 wraps.
inline int64_t divide(int64_t a, int64_t b) {
  return b == -1 ? negate(a) : a / b;
}
inline int64_t rest(int64_t a, int64_t b) {
  return b == -1 ? 0 : a % b;
}
inline int64_t floor_divide(int64_t a, int64_t b) {
  return rest(a, b) != 0 && (a < 0) != (b < 0) ? divide(a, b) - 1 : divide(a, b);
}
inline int64_t floor_rest(int64_t a, int64_t b) {
  const int64_t r = rest(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
/// Squares the base once per bit of the exponent, which is not negative.
inline int64_t power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/// Calls visit(offset in the operand) for each element of `shape`, in order.
template <typename Visit>
void for_each_broadcast(const Shape& from, const Shape& shape, Visit visit) {
  const auto from_steps = ir::strides(from, {});
  std::vector<int64_t> steps(shape.size(), 0), at(shape.size(), 0);
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) steps[shape.size() - from.size() + i] = from_steps[i];
  }
  int64_t offset = 0;
  for (int64_t i = 0, count = ir::element_count(shape); i < count; ++i) {
    visit(static_cast<size_t>(offset));
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += steps[dim];
      if (++at[dim] < shape[dim]) break;
      offset -= steps[dim] * shape[dim];
      at[dim] = 0;
    }
  }
}

std::vector<int64_t> broadcast(const Array& from, const Shape& shape);

/// Tables of the values that depend on one position.
using Tables = std::map<ir::ValueId, PositionTable>;

/// Reads the arguments of a node as integers.
class Reader {
 public:
  explicit Reader(Call& call) : call_(call) {}
  /// Values in `tables` have their row `row`.
  Reader(Call& call, const Tables& tables, int64_t row)
      : call_(call), tables_(&tables), row_(row) {}

  [[nodiscard]] Call& call() const { return call_; }
  [[nodiscard]] bool has(std::string_view name) const { return call_.has(name); }
  /// Returns true if a result of this shape is not too large (Builder::known_elements_max).
  [[nodiscard]] bool fits(const Shape& shape) const;
  /// Returns the common shape, if the operands broadcast to one that fits.
  [[nodiscard]] std::optional<Shape> joint_shape(const Shape& a, const Shape& b) const;
  /// Returns a tensor or a number; nothing for a number that is no integer.
  [[nodiscard]] std::optional<Array> operand(std::string_view name) const;
  static Array array_of(const ir::Tensor& tensor);

 private:
  [[nodiscard]] std::optional<Array> row_of(ir::ValueId id) const;

  Call& call_;
  const Tables* tables_ = nullptr;
  int64_t row_ = 0;
};

/// Reads `dim` as a dimension of the tensor.
Result<size_t> dimension(const Reader& in, const Array& x);

/// Calls visit(index of the first element, distance of elements) for each row along a dimension.
template <typename Visit>
void for_each_row(const Shape& shape, size_t dim, Visit visit) {
  const auto step = static_cast<size_t>(shape.empty() ? 1 : ir::strides(shape, {})[dim]);
  const auto length = static_cast<size_t>(shape.empty() ? 1 : shape[dim]);
  const auto count = static_cast<size_t>(ir::element_count(shape));
  for (size_t i = 0; i < count; ++i) {
    if (i / step % length == 0) visit(i, step, length);
  }
}

/// How an ATen operator is computed. Returns nothing for arguments that only the handler accepts.
using Fold = Folded (*)(const Reader&);
struct FoldRow {
  std::string_view target;
  Fold fold;
};
/// The rows of each topic.
std::span<const FoldRow> arithmetic_folds();
std::span<const FoldRow> indexing_folds();
std::span<const FoldRow> reduction_folds();

}  // namespace thimble::import_pt2::integers
