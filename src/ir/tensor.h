// SPDX-License-Identifier: Apache-2.0
#pragma once
// A host tensor: dense and contiguous in *logical* order, independent of the value's dim_order.

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "ir/type.h"

namespace thimble::ir {

struct Tensor {
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<std::byte> bytes;  // element_count(shape) * dtype_bytes(dtype)

  bool operator==(const Tensor&) const = default;

  template <typename T>
  [[nodiscard]] std::span<const T> data() const {
    assert(sizeof(T) == dtype_bytes(dtype));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  [[nodiscard]] std::span<T> data() {
    assert(sizeof(T) == dtype_bytes(dtype));
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

[[nodiscard]] Tensor zeros(DType dtype, const Shape& shape);
/// Returns a tensor with these values; `values.size()` must equal element_count(shape).
[[nodiscard]] Tensor make_f32(const Shape& shape, std::span<const float> values);
[[nodiscard]] Tensor make_i8(const Shape& shape, std::span<const int8_t> values);
[[nodiscard]] Tensor make_i32(const Shape& shape, std::span<const int32_t> values);
/// Returns the transposed tensor: dimension i of the result is dimension dims[i] of the source.
[[nodiscard]] Tensor permuted(const Tensor& tensor, std::span<const int64_t> dims);
/// Converts between a logical tensor and its bytes in memory with dimension order `order`.
[[nodiscard]] std::vector<std::byte> to_memory(const Tensor& tensor, const DimOrder& order);
[[nodiscard]] Tensor from_memory(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                                 const DimOrder& order);

using TensorPtr = std::shared_ptr<const Tensor>;

}  // namespace thimble::ir
