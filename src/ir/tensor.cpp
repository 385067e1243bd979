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

/// Visits all indices of `shape` in row-major order. Calls `visit` with the row-major index and the
/// offset computed from the strides `steps`.
template <typename Visit>
void for_each_index(const Shape& shape, const std::vector<int64_t>& steps, Visit visit) {
  const int64_t count = element_count(shape);
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, offset);
    for (size_t dim = shape.size(); dim-- > 0;) {
      offset += steps[dim];
      if (++index[dim] < shape[dim]) break;
      offset -= steps[dim] * shape[dim];
      index[dim] = 0;
    }
  }
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
  Tensor result = zeros(tensor.dtype, shape);
  const int64_t width = static_cast<int64_t>(dtype_bytes(tensor.dtype));
  for_each_index(shape, steps, [&](int64_t to, int64_t offset) {
    std::memcpy(result.bytes.data() + to * width, tensor.bytes.data() + offset * width,
                static_cast<size_t>(width));
  });
  return result;
}

std::vector<std::byte> to_memory(const Tensor& tensor, const DimOrder& order) {
  if (is_contiguous(order)) return tensor.bytes;
  return permuted(tensor, std::vector<int64_t>(order.begin(), order.end())).bytes;
}

Tensor from_memory(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                   const DimOrder& order) {
  Tensor result = zeros(dtype, shape);
  assert(bytes.size() == result.bytes.size());
  const int64_t width = static_cast<int64_t>(dtype_bytes(dtype));
  for_each_index(shape, strides(shape, order), [&](int64_t to, int64_t offset) {
    std::memcpy(result.bytes.data() + to * width, bytes.data() + offset * width,
                static_cast<size_t>(width));
  });
  return result;
}

}  // namespace thimble::ir
