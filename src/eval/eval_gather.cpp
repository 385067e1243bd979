// SPDX-License-Identifier: Apache-2.0
// Operators that select elements by an index. A negative index counts from the end. An index out of
// range is clamped to the first or the last element.

#include <cstring>

#include "eval/call.h"

namespace thimble::eval {
namespace {

int64_t index_at(const ir::Tensor& index, size_t i, int64_t size) {
  int64_t found =
      index.dtype == ir::DType::kI32 ? index.data<int32_t>()[i] : index.data<int64_t>()[i];
  // Adding before clamping cannot overflow, even for the smallest int64.
  if (found < 0) found += size;
  return clamp(found, 0, size - 1);
}

void copy_element(const Call& call, size_t to, int64_t from) {
  const size_t width = ir::dtype_bytes(call.output.dtype);
  std::memcpy(call.output.bytes.data() + to * width,
              call.inputs[0]->bytes.data() + static_cast<size_t>(from) * width, width);
}

}  // namespace

void eval_gather(const Call& call) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  const size_t index_rank = call.shape(1).size();
  const OperandStrides x_strides = ir::strides(call.shape(0), {});
  const OperandStrides index_strides = ir::strides(call.shape(1), {});
  // x has stride 0 along the dimensions of the index; the index has stride 0 along all others.
  OperandStrides x_steps(call.output.shape.size(), 0);
  OperandStrides index_steps(call.output.shape.size(), 0);
  for (size_t i = 0; i < call.output.shape.size(); ++i) {
    if (i < dim) {
      x_steps[i] = x_strides[i];
    } else if (i < dim + index_rank) {
      index_steps[i] = index_strides[i - dim];
    } else {
      x_steps[i] = x_strides[i - index_rank + 1];
    }
  }
  const int64_t size = call.shape(0)[dim];
  for_each<2>(call.output.shape, {x_steps, index_steps},
              [&](size_t i, const std::array<int64_t, 2>& offset) {
                const int64_t at = index_at(*call.inputs[1], static_cast<size_t>(offset[1]), size);
                copy_element(call, i, offset[0] + at * x_strides[dim]);
              });
}

void eval_gather_elements(const Call& call) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  const OperandStrides x_strides = ir::strides(call.shape(0), {});
  OperandStrides steps = x_strides;
  steps[dim] = 0;
  const int64_t size = call.shape(0)[dim];
  for_each<1>(call.output.shape, {steps}, [&](size_t i, const std::array<int64_t, 1>& offset) {
    copy_element(call, i, offset[0] + index_at(*call.inputs[1], i, size) * x_strides[dim]);
  });
}

}  // namespace thimble::eval
