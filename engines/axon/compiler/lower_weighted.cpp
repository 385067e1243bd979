// SPDX-License-Identifier: Apache-2.0
// Lowers linear layers and convolutions. A convolution can become one of several layer types; the
// one with the fewest cycles is chosen.

#include <algorithm>
#include <limits>
#include <type_traits>

#include "engines/axon/compiler/cost.h"
#include "engines/axon/compiler/limits.h"
#include "engines/axon/compiler/lowering.h"

namespace thimble::engine::axon {

using ir::Op;

namespace {

// A linear layer with one multiplier and at least 1024 inputs computes wrong results for outputs
// from index 512 on (docs/nordic-axon.md, "Defects": D1). Such a layer is split.
constexpr int64_t kManyInputs = 1024, kOutputsAtOnce = 512;

template <typename T>
std::vector<T> elements(const ir::Tensor& tensor) {
  const auto data = tensor.data<T>();
  return {data.begin(), data.end()};
}

/// Returns outputs `first` to `first + count` of a linear layer with one multiplier, or all
/// outputs.
Layer outputs_of(const Layer& whole, int64_t inputs, int64_t first, int64_t count) {
  if (count == static_cast<int64_t>(whole.bias.size())) return whole;
  Layer part = whole;
  part.weights.assign(whole.weights.begin() + first * inputs,
                      whole.weights.begin() + (first + count) * inputs);
  part.bias.assign(whole.bias.begin() + first, whole.bias.begin() + first + count);
  return part;
}

/// Returns group `index` of a grouped convolution, without operands.
Layer group_of(const Layer& whole, int64_t groups, int64_t index) {
  const auto part_of = [&](const auto& values) {
    using Values = std::remove_cvref_t<decltype(values)>;
    const int64_t count = static_cast<int64_t>(values.size()) / groups;
    return Values(values.begin() + index * count, values.begin() + (index + 1) * count);
  };
  Layer part = whole;
  part.weights = part_of(whole.weights);
  part.bias = part_of(whole.bias);
  if (whole.per_channel()) {
    part.multipliers = part_of(whole.multipliers);
    part.shifts = part_of(whole.shifts);
  }
  return part;
}

}  // namespace

/// Returns a layer with weights, multipliers and bias (zero point folded in), without operands.
Result<Layer> Lowering::weighted_layer(const Op& op, Operation operation) {
  THIMBLE_CHECK(check_bounds(op));
  const ir::Tensor& w = *graph_.value(op.inputs[1]).constant;
  Layer layer;
  layer.operation = operation;
  layer.weights = elements<int8_t>(w);
  layer.multipliers = elements<int32_t>(*graph_.value(op.inputs[3]).constant);
  for (const int32_t shift : graph_.value(op.inputs[4]).constant->data<int32_t>()) {
    layer.shifts.push_back(static_cast<int8_t>(shift));
  }
  const auto channels = static_cast<size_t>(w.shape[0]);
  const size_t terms = layer.weights.size() / channels;
  for (size_t o = 0; o < channels; ++o) {
    int64_t bias =
        op.inputs[2] == ir::kNoValue ? 0 : graph_.value(op.inputs[2]).constant->data<int32_t>()[o];
    int64_t sum = 0;
    for (size_t i = 0; i < terms; ++i) sum += layer.weights[o * terms + i];
    bias -= op.get(ir::attr::x_zp) * sum;
    if (bias != static_cast<int32_t>(bias)) {
      return unsupported(
          "the bias of channel {} including the zero point is {}, which exceeds 32 bits", o, bias);
    }
    layer.bias.push_back(static_cast<int32_t>(bias));
  }
  set_requantize(op, &layer);
  if (op.get(ir::attr::leaky) != 0) layer.activation = Activation::kLeakyRelu;
  if (feeds_softmax(op.output)) layer.activation = Activation::kPrepareSoftmax;
  return layer;
}

Status Lowering::linear(const Op& op) {
  const ir::Shape& x = graph_.type(op.inputs[0]).shape;
  const int64_t rows = ir::element_count(x) / x.back();
  if (rows != 1) return linear_rows(op, rows);
  THIMBLE_TRY(Layer layer, weighted_layer(op, Operation::kFullyConnected));
  THIMBLE_TRY(BufferView input, flat(op.inputs[0]));
  input.zero_point = static_cast<int32_t>(op.get(ir::attr::x_zp));
  layer.inputs = {input};
  return append_fully_connected(op, layer);
}

Status Lowering::linear_rows(const Op& op, int64_t rows) {
  THIMBLE_TRY(const Layer whole, weighted_layer(op, Operation::kFullyConnected));
  const int64_t inputs = graph_.type(op.inputs[0]).shape.back();
  const auto outputs = static_cast<int64_t>(whole.bias.size());
  THIMBLE_TRY(BufferView x, map(op.inputs[0]));
  THIMBLE_TRY(x, reshaped(x, {1, rows, inputs}));
  THIMBLE_TRY(x, interlayer(x));
  x.zero_point = static_cast<int32_t>(op.get(ir::attr::x_zp));
  const bool split = inputs >= kManyInputs && outputs > kOutputsAtOnce && !whole.per_channel();
  const int64_t at_once = split ? kOutputsAtOnce : outputs;
  const BufferView result = result_of(op, {1, rows, outputs});
  const size_t pieces = static_cast<size_t>((outputs + at_once - 1) / at_once);
  std::vector<int> first_row(pieces, -1);  // by piece of the outputs: the layer of the first row
  std::vector<BufferView> made;
  for (int64_t row = 0; row < rows; ++row) {
    THIMBLE_TRY(const BufferView input, piece_of(x, Axis::kHeight, row, 1));
    std::vector<BufferView> parts;
    for (size_t i = 0; i < pieces; ++i) {
      const int64_t first = static_cast<int64_t>(i) * at_once;
      const int64_t count = std::min(at_once, outputs - first);
      Layer part = outputs_of(whole, inputs, first, count);
      if (first_row[i] >= 0) part.weights.clear();
      part.constants_of = first_row[i];
      part.inputs = {input};
      part.output = result;
      part.output.dims = {1, 1, count};
      part.output.offset += row * result.row_stride + first * result.element_bytes;
      THIMBLE_TRY(const BufferView part_output, append(std::move(part)));
      if (first_row[i] < 0) first_row[i] = part_output.producer;
      parts.push_back(part_output);
    }
    THIMBLE_TRY(const BufferView output, joined_in_place(parts, Axis::kWidth));
    made.push_back(output);
  }
  THIMBLE_TRY(const BufferView joint, joined_in_place(made, Axis::kHeight));
  set(op.output, joint);
  return ok();
}

/// Appends a fully connected layer; its result is a vector.
Status Lowering::append_fully_connected(const Op& op, const Layer& whole) {
  const auto outputs = static_cast<int64_t>(whole.bias.size());
  const int64_t inputs = whole.inputs[0].dims.elements();
  if (inputs >= kManyInputs && outputs > kOutputsAtOnce && !whole.per_channel()) {
    return split_fully_connected(op, whole);
  }
  Layer layer = whole;
  layer.output = result_of(op, {1, 1, outputs});
  return append_result(op, std::move(layer));
}

Status Lowering::split_fully_connected(const Op& op, const Layer& whole) {
  const auto outputs = static_cast<int64_t>(whole.bias.size());
  const int64_t inputs = whole.inputs[0].dims.elements();
  std::optional<BufferView> joint;
  for (int64_t first = 0; first < outputs; first += kOutputsAtOnce) {
    const int64_t count = std::min(kOutputsAtOnce, outputs - first);
    Layer part = outputs_of(whole, inputs, first, count);
    part.output = result_of(op, {1, 1, count});
    THIMBLE_TRY(const BufferView piece, append(std::move(part)));
    if (!joint) {
      joint = piece;
      continue;
    }
    THIMBLE_TRY(joint, joined(*joint, piece, Axis::kWidth));
  }
  set(op.output, *joint);
  return ok();
}

Result<Layer> Lowering::window_layer(const Op& op, Operation operation) {
  const ir::Shape& w = graph_.type(op.inputs[1]).shape;
  const auto& stride = op.get(ir::attr::stride);
  const auto& dilation = op.get(ir::attr::dilation);
  const auto& padding = op.get(ir::attr::padding);
  THIMBLE_TRY(Layer layer, weighted_layer(op, operation));
  THIMBLE_TRY(BufferView input, map(op.inputs[0]));
  input.zero_point = static_cast<int32_t>(op.get(ir::attr::x_zp));
  layer.inputs = {input};
  layer.kernel_h = w[2];
  layer.kernel_w = w[3];
  layer.stride_y = stride[0];
  layer.stride_x = stride[1];
  layer.dilation_y = dilation[0];
  layer.dilation_x = dilation[1];
  layer.pad_top = padding[0];
  layer.pad_left = padding[1];
  THIMBLE_TRY(const Dims dims, dims_of(op.output));
  layer.output.dims = dims;
  // Padding after the last window costs cycles and has no effect, so it is reduced.
  const auto read = [](int64_t out, int64_t step, int64_t kernel, int64_t apart) {
    return (out - 1) * step + (kernel - 1) * apart + 1;
  };
  const Dims& in = input.dims;
  layer.pad_bottom = std::clamp<int64_t>(
      read(dims.h, stride[0], w[2], dilation[0]) - in.h - padding[0], 0, padding[2]);
  layer.pad_right = std::clamp<int64_t>(
      read(dims.w, stride[1], w[3], dilation[1]) - in.w - padding[1], 0, padding[3]);
  return layer;
}

std::vector<Lowering::Choice> Lowering::choices(const Layer& window) {
  const Dims& in = window.inputs[0].dims;
  const Dims& out = window.output.dims;
  std::vector<Choice> all = {{window, false}};
  const bool pads = window.pad_top + window.pad_bottom + window.pad_left + window.pad_right != 0;
  if (pads || window.operation == Operation::kDepthwise) return all;
  const bool one = window.kernel_h == 1 && window.kernel_w == 1;
  const bool steps = window.stride_y != 1 || window.stride_x != 1;
  // With one position, a pointwise layer reads wrong rows (D2); a fully connected layer replaces
  // it.
  if (one && out.h * out.w > 1) {
    all.push_back({window, steps});
    Layer& layer = all.back().layer;
    layer.operation = Operation::kPointwise;
    layer.stride_y = layer.stride_x = 1;
    layer.inputs[0].dims = {in.c, out.h, out.w};
  }
  if (window.kernel_h == in.h && window.kernel_w == in.w && out.h == 1 && out.w == 1) {
    all.push_back({window, false});
    Layer& layer = all.back().layer;
    layer.operation = Operation::kFullyConnected;
    layer.output.dims = {1, 1, out.c};
  }
  return all;
}

/// A pointwise layer has no stride. It also reads wrong rows of a packed input if it runs
/// in several parts along the height (D2). In both cases a slice is inserted before it.
Result<BufferView> Lowering::pointwise_input(const BufferView& input, const Choice& choice,
                                             const Op& op) {
  const Source source = net_.buffers[static_cast<size_t>(input.buffer)].source;
  const bool packed =
      source != Source::kInterlayer && input.row_stride % container::kRowAlignment != 0;
  if (!choice.sliced && !packed) return input;
  const auto& stride = op.get(ir::attr::stride);
  const Dims& wanted = choice.layer.inputs[0].dims;
  const Dims end = {input.dims.c, (wanted.h - 1) * stride[0] + 1, (wanted.w - 1) * stride[1] + 1};
  return sliced(input, {0, 0, 0}, end, {1, stride[0], stride[1]}, wanted);
}

Status Lowering::grouped(const Op& op, const Layer& window, int64_t groups) {
  THIMBLE_TRY(const Dims out, dims_of(op.output));
  THIMBLE_TRY(const BufferView x, interlayer(window.inputs[0]));
  const BufferView result = result_of(op, out);
  const int64_t inputs = x.dims.c / groups, outputs = out.c / groups;
  std::vector<BufferView> made;
  for (int64_t i = 0; i < groups; ++i) {
    Layer part = group_of(window, groups, i);
    THIMBLE_TRY(BufferView input, piece_of(x, Axis::kChannel, i * inputs, inputs));
    input.zero_point = window.inputs[0].zero_point;
    part.inputs = {input};
    part.output = result;
    part.output.dims.c = outputs;
    part.output.offset += i * outputs * out.h * result.row_stride;
    THIMBLE_TRY(const BufferView output, append(std::move(part)));
    made.push_back(output);
  }
  THIMBLE_TRY(const BufferView joint, joined_in_place(made, Axis::kChannel));
  set(op.output, joint);
  return ok();
}

Status Lowering::convolution(const Op& op) {
  const int64_t groups = op.get(ir::attr::groups);
  THIMBLE_TRY(const Dims in, dims_of(op.inputs[0]));
  THIMBLE_TRY(const Dims out, dims_of(op.output));
  const bool depthwise = groups > 1 && groups == in.c && groups == out.c;
  THIMBLE_TRY(const Layer window,
              window_layer(op, depthwise ? Operation::kDepthwise : Operation::kConv2d));
  if (groups > 1 && !depthwise) return grouped(op, window, groups);
  const std::vector<Choice> all = choices(window);
  const Choice* best = nullptr;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Choice& choice : all) {
    const int64_t slice = choice.sliced ? cycles_of_copy(choice.layer.inputs[0].dims) : 0;
    const int64_t cycles = cycles_of(choice.layer) + slice;
    if (!check_limits(choice.layer).ok() || cycles >= least) continue;
    best = &choice;
    least = cycles;
  }
  if (best == nullptr) return check_limits(window);
  Layer layer = best->layer;
  if (layer.operation == Operation::kFullyConnected) {
    layer.kernel_h = layer.kernel_w = 0;
    return append_fully_connected(op, layer);
  }
  if (layer.operation == Operation::kPointwise) {
    THIMBLE_TRY(layer.inputs[0], pointwise_input(window.inputs[0], *best, op));
    layer.inputs[0].zero_point = window.inputs[0].zero_point;
  }
  layer.output = result_of(op, out);
  return append_result(op, std::move(layer));
}

}  // namespace thimble::engine::axon
