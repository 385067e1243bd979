// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/packed.h"

#include <algorithm>
#include <cstdlib>

#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "engines/cortex_m/compiler/pack.h"

namespace thimble::engine::cortex_m {
namespace {

using ir::Graph;
using ir::Op;

struct Axis {
  int64_t in, out, kernel, stride, dilation, pad;
};

/// Checks the limits that the kernels require.
bool axis_fits(const Axis& axis) {
  const bool fields = axis.in <= UINT16_MAX && axis.out <= UINT16_MAX && axis.kernel <= UINT8_MAX &&
                      axis.stride <= UINT8_MAX && axis.dilation <= UINT8_MAX &&
                      axis.pad <= UINT8_MAX;
  const int64_t reach = (axis.kernel - 1) * axis.dilation;
  const int64_t after = (axis.out - 1) * axis.stride + reach + 1 - axis.pad - axis.in;
  return fields && axis.pad >= 0 && axis.pad <= reach && after <= reach && after > -axis.stride;
}

}  // namespace

Constant PackedWriter::take() {
  const auto size = static_cast<int64_t>(bytes_.size());
  return {std::make_shared<const std::vector<std::byte>>(std::move(bytes_)),
          ir::DType::kU8,
          {size},
          {}};
}

std::optional<abi::WindowGeometry> window_geometry(const Graph& graph, const Op& conv) {
  const ir::Shape& x = graph.type(conv.inputs[0]).shape;
  const ir::Shape& weights = graph.type(conv.inputs[1]).shape;
  const ir::Shape& y = graph.type(conv.output).shape;
  if (x.size() != 4 || x[0] != 1) return {};
  Axis axes[2];
  for (size_t a = 0; a < 2; ++a) {
    axes[a] = {x[2 + a],
               y[2 + a],
               weights[2 + a],
               conv.get(ir::attr::stride)[a],
               conv.get(ir::attr::dilation)[a],
               conv.get(ir::attr::padding)[a]};
    if (!axis_fits(axes[a])) return {};
    // Offsets of taps must fit 31 bits (kernels/args/packed.cpp).
    if (axes[a].dilation != 1 && ir::element_count(x) > 1 << 23) return {};
  }
  if (x[1] > UINT16_MAX || y[1] > UINT16_MAX) return {};
  const auto half = [](int64_t value) { return static_cast<uint16_t>(value); };
  const auto byte = [](int64_t value) { return static_cast<uint8_t>(value); };
  const auto code = [&](ir::AttrKey<int64_t> key) { return static_cast<int16_t>(conv.get(key)); };
  const Axis& down = axes[0];
  const Axis& across = axes[1];
  abi::WindowGeometry geometry = {};
  geometry.in_h = half(down.in);
  geometry.in_w = half(across.in);
  geometry.in_c = half(x[1]);
  geometry.out_h = half(down.out);
  geometry.out_w = half(across.out);
  geometry.out_c = half(y[1]);
  geometry.kernel_h = byte(down.kernel);
  geometry.kernel_w = byte(across.kernel);
  geometry.stride_h = byte(down.stride);
  geometry.stride_w = byte(across.stride);
  geometry.dilation_h = byte(down.dilation);
  geometry.dilation_w = byte(across.dilation);
  geometry.pad_top = byte(down.pad);
  geometry.pad_left = byte(across.pad);
  geometry.x_zero_point = code(ir::attr::x_zp);
  geometry.y_zero_point = code(ir::attr::y_zp);
  geometry.min = code(ir::attr::min);
  geometry.max = code(ir::attr::max);
  return geometry;
}

std::optional<abi::LinearGeometry> linear_geometry(const Graph& graph, const Op& linear) {
  const ir::Shape& weights = graph.type(linear.inputs[1]).shape;
  const int64_t rows = graph.type(linear.inputs[0]).elements() / weights[1];
  if (std::max(rows, std::max(weights[0], weights[1])) > INT32_MAX) return {};
  const auto code = [&](ir::AttrKey<int64_t> key) { return static_cast<int16_t>(linear.get(key)); };
  return abi::LinearGeometry{.rows = static_cast<uint32_t>(rows),
                             .in_features = static_cast<uint32_t>(weights[1]),
                             .out_features = static_cast<uint32_t>(weights[0]),
                             .x_zero_point = code(ir::attr::x_zp),
                             .y_zero_point = code(ir::attr::y_zp),
                             .min = code(ir::attr::min),
                             .max = code(ir::attr::max)};
}

namespace {

/// requantize() of docs/numerics.md for a right shift.
int64_t requantize(int64_t sum, const Filter& filter) {
  const int64_t c = (sum * filter.mult + (int64_t{1} << 30)) >> 31;
  return (c + (c < 0 ? -1 : 0) + (int64_t{1} << (-filter.shift - 1))) >> -filter.shift;
}

/// If the result of the filter is the same for all inputs, replaces it by a filter with this result
/// and small parameters. Only filters whose shift the packed forms may not support: a batch norm
/// that makes a channel nearly constant leaves such a small scale.
void simplify_constant(const Op& op, Filter* filter) {
  constexpr int32_t kUsualShift = -22;
  if (filter->mult < 0 || filter->shift >= kUsualShift || filter->shift < -62) return;
  const int64_t reach = 128 * filter->magnitude();
  const int64_t least = filter->bias - reach, most = filter->bias + reach;
  if (least < INT32_MIN || most > INT32_MAX) return;
  const auto code = [&](int64_t sum) {
    const int64_t y = requantize(sum, *filter) + op.get(ir::attr::y_zp);
    return std::clamp(y, op.get(ir::attr::min), op.get(ir::attr::max));
  };
  if (code(least) != code(most)) return;
  // The sum is 256 times the result, times 2^30 / 2^31 and divided by 2^7.
  std::ranges::fill(filter->weights, int8_t{0});
  filter->bias = 256 * (code(least) - op.get(ir::attr::y_zp));
  filter->mult = 1 << 30;
  filter->shift = -7;
}

}  // namespace

int64_t Filter::magnitude() const {
  int64_t sum = 0;
  for (const int8_t code : weights) sum += std::abs(int{code});
  return sum;
}

std::vector<Filter> filters(const Graph& graph, const Op& op) {
  const ir::Tensor& all = *graph.value(op.inputs[1]).constant;
  const int64_t count = all.shape[0];
  const ir::Tensor ordered =
      all.shape.size() == 4 ? ir::permuted(all, std::vector<int64_t>{0, 2, 3, 1}) : all;
  const std::span<const int8_t> codes = ordered.data<int8_t>();
  const size_t depth = codes.size() / static_cast<size_t>(count);
  const std::vector<int32_t> mult = per_channel(graph, op.inputs[3], count);
  const std::vector<int32_t> shift = per_channel(graph, op.inputs[4], count);
  std::vector<int32_t> bias(static_cast<size_t>(count), 0);
  if (op.inputs[2] != ir::kNoValue) bias = per_channel(graph, op.inputs[2], count);
  const int64_t x_zp = op.get(ir::attr::x_zp);
  std::vector<Filter> result;
  result.reserve(bias.size());
  for (size_t o = 0; o < bias.size(); ++o) {
    const std::span<const int8_t> own = codes.subspan(o * depth, depth);
    Filter filter = {{own.begin(), own.end()}, bias[o], mult[o], shift[o]};
    for (const int8_t code : own) filter.bias -= x_zp * code;
    simplify_constant(op, &filter);
    result.push_back(std::move(filter));
  }
  return result;
}

}  // namespace thimble::engine::cortex_m
