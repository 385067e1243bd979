// SPDX-License-Identifier: Apache-2.0
// Lowers convolutions, linear layers and matrix products.

#include <algorithm>

#include "engines/neutron/compiler/lowering.h"
#include "ir/op_cost.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::ValueId;

namespace {

/// Returns the constant tensor of an operand, or an error.
Result<ir::TensorPtr> constant_of(const ir::Graph& graph, ValueId id, std::string_view what) {
  const ir::TensorPtr& tensor = graph.value(id).constant;
  if (tensor == nullptr) return unsupported("its {} are not constant", what);
  return tensor;
}

/// Returns the weights; an error if they or the bias are not constant.
Result<ir::TensorPtr> weights_of(const ir::Graph& graph, const Op& op) {
  THIMBLE_TRY(const ir::TensorPtr weights, constant_of(graph, op.inputs[1], "weights"));
  if (op.inputs[2] != ir::kNoValue) THIMBLE_CHECK(constant_of(graph, op.inputs[2], "bias"));
  return weights;
}

void set_window(const Op& op, const ir::Tensor& weights, const std::vector<int64_t>& padding,
                KernelOp* kernel) {
  const auto &stride = op.get(ir::attr::stride), &dilation = op.get(ir::attr::dilation);
  kernel->kernel_h = weights.shape[2];
  kernel->kernel_w = weights.shape[3];
  kernel->stride_h = stride[0];
  kernel->stride_w = stride[1];
  kernel->dilation_h = dilation[0];
  kernel->dilation_w = dilation[1];
  kernel->pad_top = padding[0];
  kernel->pad_left = padding[1];
}

std::vector<int8_t> in_order(const ir::Tensor& weights, const std::vector<int64_t>& dims) {
  const ir::Tensor turned = ir::permuted(weights, dims);
  const auto codes = turned.data<int8_t>();
  return {codes.begin(), codes.end()};
}

template <typename T>
std::vector<T> part(const std::vector<T>& all, int64_t index, int64_t parts) {
  if (all.size() <= 1) return all;
  const auto size = static_cast<std::ptrdiff_t>(all.size()) / parts;
  const auto from = all.begin() + index * size;
  return {from, from + size};
}

/// Returns every `parts`-th entry, beginning at `index`.
template <typename T>
std::vector<T> every_nth(const std::vector<T>& all, int64_t index, int64_t parts) {
  if (all.size() <= 1) return all;
  std::vector<T> result;
  for (size_t i = static_cast<size_t>(index); i < all.size(); i += static_cast<size_t>(parts)) {
    result.push_back(all[i]);
  }
  return result;
}

/// Returns the dimension's element indices sorted by address; nothing if there are gaps.
std::optional<std::vector<int64_t>> memory_order(const Axes& axes) {
  Axes by_stride = merged(axes);
  std::ranges::stable_sort(by_stride,
                           [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
  const Axes joined = merged(by_stride);
  if (joined.size() > 1 || (joined.size() == 1 && joined[0].stride != 1)) return std::nullopt;
  const Axes own = merged(axes);
  std::vector<std::pair<int64_t, int64_t>> addresses = {{0, 0}};  // (address, element index)
  for (const Axis& axis : own) {
    std::vector<std::pair<int64_t, int64_t>> next;
    for (const auto& [address, position] : addresses) {
      for (int64_t i = 0; i < axis.size; ++i) {
        next.emplace_back(address + i * axis.stride, position * axis.size + i);
      }
    }
    addresses = std::move(next);
  }
  std::ranges::sort(addresses);
  std::vector<int64_t> order;
  for (const auto& [address, position] : addresses) order.push_back(position);
  return order;
}

template <typename T>
std::vector<T> reordered(const std::vector<T>& values, const std::vector<int64_t>& order) {
  if (values.size() <= 1) return values;
  std::vector<T> result;
  for (const int64_t from : order) result.push_back(values[static_cast<size_t>(from)]);
  return result;
}

/// Returns all dimensions except the last as one loop over both locations; nothing if not possible.
std::optional<Loop> row_loop(const Location& x, const Location& y) {
  std::vector<size_t> leading = all_dims(y);
  leading.pop_back();
  const auto loops = common_loops(std::vector<const Location*>{&x, &y}, leading);
  if (!loops || loops->size() > 1) return std::nullopt;
  return loops->empty() ? Loop{1, {0, 0}} : loops->front();
}

BufferView matrix(const Location& location, const Loop& rows, size_t which, int64_t columns) {
  return {location.buffer,
          location.offset,
          {rows.size, columns},
          {rows.size == 1 ? 0 : rows.strides[which], columns == 1 ? 0 : 1}};
}

}  // namespace

void Lowering::set_scales(const Op& op, KernelOp* kernel) const {
  const auto ints = [&](ValueId id) {
    const auto values = graph_.value(id).constant->data<int32_t>();
    return std::vector<int32_t>(values.begin(), values.end());
  };
  if (op.inputs[2] != ir::kNoValue) kernel->bias = ints(op.inputs[2]);
  kernel->multipliers = ints(op.inputs[3]);
  kernel->shifts = ints(op.inputs[4]);
  kernel->a_zero_point = op.get(ir::attr::x_zp);
  set_requantization(op, kernel);
  kernel->macs = ir::macs_of(graph_, op);
  set_table(kernel);
}

Status Lowering::convolution(const Op& op) {
  if (op.get(ir::attr::leaky) != 0) return unsupported("it rounds as another NPU does");
  THIMBLE_TRY(const ir::TensorPtr weights, weights_of(graph_, op));
  THIMBLE_TRY(const Location x, image(fusion().input, fusion().input_shape));
  const Location y = target(op.output, {x}, false, has_contiguous_channels);
  KernelOp kernel;
  set_scales(op, &kernel);
  auto padding = op.get(ir::attr::padding);
  for (size_t i = 0; i < fusion().padding.size(); ++i) padding[i] += fusion().padding[i];
  set_window(op, *weights, padding, &kernel);
  kernel.operands = {image_view(x)};
  kernel.output = image_view(y);
  kernel.weights = in_order(*weights, {0, 2, 3, 1});
  const bool point = kernel.kernel_h * kernel.kernel_w == 1 &&
                     std::ranges::all_of(padding, [](int64_t p) { return p == 0; });
  kernel.kernel = point ? Kernel::kConv2DPointwise : Kernel::kConv2DStandard;
  if (op.get(ir::attr::groups) > 1) return grouped(op, kernel, x, y);
  return append_result(op, std::move(kernel), y, Kernel::kTranspose);
}

/// Adds one kernel per group on the group's channels. With one input channel per group, adds one
/// depthwise kernel per output channel of a group.
Status Lowering::grouped(const Op& op, const KernelOp& whole, const Location& x,
                         const Location& y) {
  const int64_t groups = op.get(ir::attr::groups);
  const int64_t inputs = shape(op.inputs[0])[1] / groups;
  const int64_t outputs = shape(op.output)[1] / groups;
  const bool depthwise = inputs == 1;
  const int64_t parts = depthwise ? outputs : groups;
  const ir::Tensor& weights = *graph_.value(op.inputs[1]).constant;
  for (int64_t i = 0; i < parts; ++i) {
    KernelOp kernel = whole;
    kernel.macs /= parts;
    if (depthwise) {
      kernel.kernel = Kernel::kConv2DDepthwise;
      kernel.weights = every_nth(in_order(weights, {2, 3, 0, 1}), i, parts);
      kernel.bias = every_nth(whole.bias, i, parts);
      kernel.multipliers = every_nth(whole.multipliers, i, parts);
      kernel.shifts = every_nth(whole.shifts, i, parts);
      kernel.output = image_view(*sliced(y, 1, i, groups, parts));
    } else {
      kernel.weights = part(whole.weights, i, parts);
      kernel.bias = part(whole.bias, i, parts);
      kernel.multipliers = part(whole.multipliers, i, parts);
      kernel.shifts = part(whole.shifts, i, parts);
      kernel.operands = {image_view(*sliced(x, 1, i * inputs, inputs))};
      kernel.output = image_view(*sliced(y, 1, i * outputs, outputs));
    }
    THIMBLE_CHECK(append(std::move(kernel)));
  }
  return finish_result(op.output, y, Kernel::kTranspose);
}

Status Lowering::transposed(const Op& op) {
  if (op.get(ir::attr::groups) != 1) {
    return unsupported("it has {} groups, expected 1", op.get(ir::attr::groups));
  }
  THIMBLE_TRY(const ir::TensorPtr weights, weights_of(graph_, op));
  KernelOp kernel;
  kernel.kernel = Kernel::kTransposeConv2D;
  set_scales(op, &kernel);
  set_window(op, *weights, op.get(ir::attr::padding), &kernel);
  kernel.weights = in_order(*weights, {1, 2, 3, 0});
  return window(op, std::move(kernel));
}

/// If the elements of a row are stored in another order (a flattened channels-last image), they are
/// read in memory order and the weights are reordered. The result is handled the same way.
Status Lowering::linear(const Op& op) {
  if (op.get(ir::attr::leaky) != 0) return unsupported("it rounds as another NPU does");
  THIMBLE_TRY(const ir::TensorPtr weights, weights_of(graph_, op));
  const ValueId result = op.output;
  const int64_t inputs = weights->shape[1], outputs = weights->shape[0];
  Location x = location(op.inputs[0]);
  if (x.dims.empty()) return unsupported("its input has no dimension");
  auto columns = memory_order(x.dims.back());
  if (!columns) {
    THIMBLE_TRY(x, copy_of(op.inputs[0], {}));
    columns = memory_order(x.dims.back());
  }
  const auto fits = [&](const Location& to) {
    return memory_order(to.dims.back()).has_value() && row_loop(x, to).has_value();
  };
  Location y = target(result, {x}, false, fits);
  if (!fits(y)) {
    THIMBLE_TRY(x, copy_of(op.inputs[0], {}));
    columns = memory_order(x.dims.back());
    y = fresh(result, {});
  }
  const Loop rows = *row_loop(x, y);
  const auto order = *memory_order(y.dims.back());
  KernelOp kernel;
  kernel.kernel = Kernel::kFullyConnected;
  set_scales(op, &kernel);
  const auto codes = weights->data<int8_t>();
  for (const int64_t row : order) {
    for (const int64_t column : *columns) {
      kernel.weights.push_back(codes[static_cast<size_t>(row * inputs + column)]);
    }
  }
  kernel.bias = reordered(kernel.bias, order);
  kernel.multipliers = reordered(kernel.multipliers, order);
  kernel.shifts = reordered(kernel.shifts, order);
  kernel.operands = {matrix(x, rows, 0, inputs)};
  kernel.output = matrix(y, rows, 1, outputs);
  return append_result(op, std::move(kernel), y, Kernel::kTranspose);
}

/// Joins the leading dimensions into one loop; adds one kernel per index of those that do not join.
Status Lowering::matmul(const Op& op) {
  const ValueId result = op.output;
  THIMBLE_TRY(Location a, simple(op.inputs[0]));
  THIMBLE_TRY(Location b, simple(op.inputs[1]));
  const Location y = target(result, {a, b}, false, is_simple);
  const size_t rank = y.dims.size();
  if (op.get(ir::attr::transpose_b) != 0) {
    std::swap(b.dims[b.dims.size() - 1], b.dims[b.dims.size() - 2]);
  }
  const auto broadcast_batch = [&](const Location& from) {
    ir::Shape wanted = shape(result);
    wanted[rank - 2] = from.shape()[from.dims.size() - 2];
    wanted[rank - 1] = from.shape().back();
    return broadcast(from, wanted);
  };
  a = broadcast_batch(a);
  b = broadcast_batch(b);
  std::vector<size_t> leading = all_dims(y);
  leading.resize(rank - 2);
  auto loops = *common_loops(std::vector<const Location*>{&a, &b, &y}, leading);
  Loop batch{1, {0, 0, 0}};
  if (!loops.empty()) {
    batch = loops.back();
    loops.pop_back();
  }
  int64_t count = 1;
  for (const Loop& loop : loops) count *= loop.size;
  const auto view = [&](const Location& from, size_t which, int64_t index) {
    BufferView matrices = view_of(from, {rank - 2, rank - 1});
    matrices.dims.insert(matrices.dims.begin(), batch.size);
    matrices.strides.insert(matrices.strides.begin(), batch.strides[which]);
    for (const Loop& loop : loops) {
      matrices.offset += index % loop.size * loop.strides[which];
      index /= loop.size;
    }
    return matrices;
  };
  for (int64_t i = 0; i < count; ++i) {
    KernelOp kernel;
    kernel.kernel = Kernel::kBatchMatMul;
    kernel.a_zero_point = op.get(ir::attr::a_zp);
    kernel.b_zero_point = op.get(ir::attr::b_zp);
    set_requantization(op, &kernel);
    kernel.macs = ir::macs_of(graph_, op) / count;
    set_table(&kernel);
    kernel.operands = {view(a, 0, i), view(b, 1, i)};
    kernel.output = view(y, 2, i);
    THIMBLE_CHECK(append(std::move(kernel)));
  }
  return finish_result(result, y);
}

}  // namespace thimble::engine::neutron
