// SPDX-License-Identifier: Apache-2.0
// Operators that only move data. Elements are opaque bytes. max_pool2d compares elements and is in
// eval_pool.cpp.

#include <algorithm>
#include <cstring>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Returns the bytes of the element at `offset`, counted in elements.
const std::byte* element(const ir::Tensor& tensor, int64_t offset) {
  return tensor.bytes.data() + offset * static_cast<int64_t>(ir::dtype_bytes(tensor.dtype));
}
void store(const Call& call, int64_t offset, const std::byte* bytes) {
  const size_t width = ir::dtype_bytes(call.output.dtype);
  std::memcpy(call.output.bytes.data() + static_cast<size_t>(offset) * width, bytes, width);
}

}  // namespace

void eval_concat(const Call& call) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  const OperandStrides steps = ir::strides(call.output.shape, {});
  int64_t start = 0;
  for (const ir::Tensor* part : call.inputs) {
    for_each<1>(part->shape, {steps}, [&](size_t i, const std::array<int64_t, 1>& to) {
      store(call, start * steps[dim] + to[0], element(*part, static_cast<int64_t>(i)));
    });
    start += part->shape[dim];
  }
}

void eval_copy(const Call& call) {
  call.output.bytes = call.inputs[0]->bytes;
}

void eval_expand(const Call& call) {
  const OperandStrides steps = broadcast_strides(call.shape(0), call.output.shape);
  for_each<1>(call.output.shape, {steps}, [&](size_t i, const std::array<int64_t, 1>& from) {
    store(call, static_cast<int64_t>(i), element(*call.inputs[0], from[0]));
  });
}

void eval_pad(const Call& call) {
  dispatch_dtype(call.output.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::ranges::fill(call.result<T>(), static_cast<T>(call.op.get(ir::attr::value)));
  });
  const auto& before = call.op.get(ir::attr::before);
  const OperandStrides steps = ir::strides(call.output.shape, {});
  int64_t start = 0;
  for (size_t dim = 0; dim < before.size(); ++dim) start += before[dim] * steps[dim];
  for_each<1>(call.shape(0), {steps}, [&](size_t i, const std::array<int64_t, 1>& to) {
    store(call, start + to[0], element(*call.inputs[0], static_cast<int64_t>(i)));
  });
}

void eval_permute(const Call& call) {
  const OperandStrides from = ir::strides(call.shape(0), {});
  OperandStrides steps;
  for (const int64_t dim : call.op.get(ir::attr::dims))
    steps.push_back(from[static_cast<size_t>(dim)]);
  for_each<1>(call.output.shape, {steps}, [&](size_t i, const std::array<int64_t, 1>& offset) {
    store(call, static_cast<int64_t>(i), element(*call.inputs[0], offset[0]));
  });
}

void eval_reshape(const Call& call) {
  call.output.bytes = call.inputs[0]->bytes;
}

void eval_slice(const Call& call) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  OperandStrides steps = ir::strides(call.shape(0), {});
  const int64_t start = call.get(ir::attr::start) * steps[dim];
  steps[dim] *= call.get(ir::attr::step);
  for_each<1>(call.output.shape, {steps}, [&](size_t i, const std::array<int64_t, 1>& offset) {
    store(call, static_cast<int64_t>(i), element(*call.inputs[0], start + offset[0]));
  });
}

}  // namespace thimble::eval
