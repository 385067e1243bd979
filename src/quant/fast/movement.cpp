// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/movement.h"

#include <cassert>
#include <cstring>

#include "quant/fast/broadcast.h"
#include "quant/fast/convolution.h"

namespace thimble::quant {
namespace {

/// to[index . to_steps] = from[index . from_steps] for every index of `shape`.
template <typename T>
void copy_strided(const T* from, T* to, const JointStrides& walk) {
  const size_t last = walk.sizes.size() - 1;
  int64_t outer = 1;
  for (size_t i = 0; i < last; ++i) outer *= walk.sizes[i];
  const int64_t count = walk.sizes[last];
  const int64_t step_from = walk.steps_a[last];
  const int64_t step_to = walk.steps_b[last];
  std::vector<int64_t> index(walk.sizes.size(), 0);
  for (int64_t i = 0; i < outer; ++i) {
    if (step_from == 1 && step_to == 1) {
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t k = 0; k < count; ++k) to[k * step_to] = from[k * step_from];
    }
    for (size_t dim = last; dim-- > 0;) {
      from += walk.steps_a[dim];
      to += walk.steps_b[dim];
      if (++index[dim] < walk.sizes[dim]) break;
      from -= walk.steps_a[dim] * walk.sizes[dim];
      to -= walk.steps_b[dim] * walk.sizes[dim];
      index[dim] = 0;
    }
  }
}

/// Copies elements of any width; offsets count elements.
void copy_elements(const ir::Tensor& from, int64_t from_offset,
                   const eval::OperandStrides& from_steps, ir::Tensor& to, int64_t to_offset,
                   const eval::OperandStrides& to_steps, const ir::Shape& shape) {
  const JointStrides walk = join(shape, from_steps, to_steps);
  const int64_t width = static_cast<int64_t>(ir::dtype_bytes(to.dtype));
  const std::byte* source = from.bytes.data() + from_offset * width;
  std::byte* target = to.bytes.data() + to_offset * width;
  const auto run = [&]<typename T>(T) {
    copy_strided(reinterpret_cast<const T*>(source), reinterpret_cast<T*>(target), walk);
  };
  switch (width) {
    case 1:
      return run(uint8_t{});
    case 2:
      return run(uint16_t{});
    case 4:
      return run(uint32_t{});
    default:
      assert(width == 8);
      return run(uint64_t{});
  }
}

template <typename T>
void max_pool(const eval::Call& call) {
  const T* x = call.input<T>(0).data();
  T* y = call.result<T>().data();
  for_each_window(pool_window_of(call), [=](int64_t index, int64_t first, int64_t rows,
                                            int64_t row_step, int64_t columns, int64_t step) {
    T best = x[first];
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        const T value = x[first + r * row_step + c * step];
        best = value > best || value != value ? value : best;
      }
    }
    y[index] = best;
  });
}

void move_concat(const eval::Call& call, Scratch&) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  const eval::OperandStrides steps = ir::strides(call.output.shape, {});
  int64_t start = 0;
  for (const ir::Tensor* part : call.inputs) {
    copy_elements(*part, 0, ir::strides(part->shape, {}), call.output, start * steps[dim], steps,
                  part->shape);
    start += part->shape[dim];
  }
}

void move_copy(const eval::Call& call, Scratch&) {
  call.output.bytes = call.inputs[0]->bytes;
}

void move_expand(const eval::Call& call, Scratch&) {
  const ir::Shape& shape = call.output.shape;
  copy_elements(*call.inputs[0], 0, eval::broadcast_strides(call.shape(0), shape), call.output, 0,
                ir::strides(shape, {}), shape);
}

void move_permute(const eval::Call& call, Scratch&) {
  const eval::OperandStrides from = ir::strides(call.shape(0), {});
  eval::OperandStrides steps;
  for (const int64_t dim : call.op.get(ir::attr::dims))
    steps.push_back(from[static_cast<size_t>(dim)]);
  copy_elements(*call.inputs[0], 0, steps, call.output, 0, ir::strides(call.output.shape, {}),
                call.output.shape);
}

void move_slice(const eval::Call& call, Scratch&) {
  const size_t dim = static_cast<size_t>(call.get(ir::attr::dim));
  eval::OperandStrides steps = ir::strides(call.shape(0), {});
  const int64_t start = call.get(ir::attr::start) * steps[dim];
  steps[dim] *= call.get(ir::attr::step);
  copy_elements(*call.inputs[0], start, steps, call.output, 0, ir::strides(call.output.shape, {}),
                call.output.shape);
}

void move_max_pool2d(const eval::Call& call, Scratch&) {
  if (call.output.dtype == ir::DType::kF32) return max_pool<float>(call);
  if (call.output.dtype == ir::DType::kI8) return max_pool<int8_t>(call);
  eval::eval_max_pool2d(call);
}

}  // namespace

PoolWindow pool_window_of(const eval::Call& call) {
  const ir::Shape& x = call.shape(0);
  const ir::Shape& y = call.output.shape;
  const auto& kernel = call.op.get(ir::attr::kernel);
  const auto& stride = call.op.get(ir::attr::stride);
  const auto& padding = call.op.get(ir::attr::padding);
  const bool dilated = ir::has_attr(call.op.kind, ir::attr::dilation);
  const auto dilation = dilated ? call.op.get(ir::attr::dilation) : std::vector<int64_t>{1, 1};
  return {x[0] * x[1], x[2],      x[3],        y[2],        y[3],       kernel[0], kernel[1],
          stride[0],   stride[1], dilation[0], dilation[1], padding[0], padding[1]};
}

KernelTable with_shared_kernels(std::initializer_list<std::pair<ir::OpKind, Kernel>> rows) {
  KernelTable table{};
  const auto add = [&table](ir::OpKind kind, Kernel kernel) {
    table[static_cast<size_t>(kind)] = kernel;
  };
  add(ir::OpKind::concat, move_concat);
  add(ir::OpKind::copy, move_copy);
  add(ir::OpKind::expand, move_expand);
  add(ir::OpKind::max_pool2d, move_max_pool2d);
  add(ir::OpKind::permute, move_permute);
  add(ir::OpKind::reshape, move_copy);
  add(ir::OpKind::slice, move_slice);
  for (const auto& [kind, kernel] : rows) add(kind, kernel);
  return table;
}

}  // namespace thimble::quant
