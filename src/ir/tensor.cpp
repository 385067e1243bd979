// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor.h"

#include <bit>

namespace thimble::ir {
namespace {

// Tensor bytes are little-endian, in files and in memory.
static_assert(std::endian::native == std::endian::little);

template <typename T>
Tensor make(DType dtype, const Shape& shape, std::span<const T> values) {
  assert(static_cast<int64_t>(values.size()) == element_count(shape));
  Tensor tensor = zeros(dtype, shape);
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

/// Writes one element of `kBytes` bytes for each index of `shape`, in row-major order. `steps`
/// gives its offset in `from`, in elements.
template <size_t kBytes>
void gather(const Shape& shape, const std::vector<int64_t>& steps, const std::byte* from,
            std::byte* to) {
  const int64_t row = shape.empty() ? 1 : shape.back();
  const int64_t step = shape.empty() ? 0 : steps.back();
  const int64_t count = element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t first = 0; first < count; first += row) {
    for (int64_t k = 0; k < row; ++k) {
      std::memcpy(to + (first + k) * static_cast<int64_t>(kBytes),
                  from + (offset + k * step) * static_cast<int64_t>(kBytes), kBytes);
    }
    for (size_t dim = shape.size(); dim-- > 1;) {
      offset += steps[dim - 1];
      if (++index[dim - 1] < shape[dim - 1]) break;
      offset -= steps[dim - 1] * shape[dim - 1];
      index[dim - 1] = 0;
    }
  }
}

/// Returns the tensor of this shape whose elements are at the offsets that `steps` gives.
Tensor gathered(DType dtype, const Shape& shape, const std::vector<int64_t>& steps,
                const std::byte* from) {
  Tensor result = zeros(dtype, shape);
  std::byte* const to = result.bytes.data();
  switch (dtype_bytes(dtype)) {
    case 1:
      gather<1>(shape, steps, from, to);
      break;
    case 2:
      gather<2>(shape, steps, from, to);
      break;
    case 4:
      gather<4>(shape, steps, from, to);
      break;
    default:
      assert(dtype_bytes(dtype) == 8);
      gather<8>(shape, steps, from, to);
  }
  return result;
}

}  // namespace

Tensor zeros(DType dtype, const Shape& shape) {
  const size_t count = static_cast<size_t>(element_count(shape));
  return {dtype, shape, std::vector<std::byte>(count * dtype_bytes(dtype))};
}

Tensor make_f32(const Shape& shape, std::span<const float> values) {
  return make(DType::kF32, shape, values);
}
Tensor make_i8(const Shape& shape, std::span<const int8_t> values) {
  return make(DType::kI8, shape, values);
}
Tensor make_i32(const Shape& shape, std::span<const int32_t> values) {
  return make(DType::kI32, shape, values);
}

Tensor permuted(const Tensor& tensor, std::span<const int64_t> dims) {
  assert(dims.size() == tensor.shape.size());
  const std::vector<int64_t> from = strides(tensor.shape, {});
  Shape shape;
  std::vector<int64_t> steps;
  for (const int64_t dim : dims) {
    shape.push_back(tensor.shape[static_cast<size_t>(dim)]);
    steps.push_back(from[static_cast<size_t>(dim)]);
  }
  return gathered(tensor.dtype, shape, steps, tensor.bytes.data());
}

std::vector<std::byte> to_memory(const Tensor& tensor, const DimOrder& order) {
  if (is_contiguous(order)) return tensor.bytes;
  return permuted(tensor, std::vector<int64_t>(order.begin(), order.end())).bytes;
}

Tensor from_memory(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                   const DimOrder& order) {
  assert(bytes.size() == static_cast<size_t>(element_count(shape)) * dtype_bytes(dtype));
  return gathered(dtype, shape, strides(shape, order), bytes.data());
}

}  // namespace thimble::ir
