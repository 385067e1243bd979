// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/clamped_linear.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "numerics/fixed_point.h"
#include "numerics/multiplier.h"

namespace thimble::engine::neutron {
namespace {

using Entries = std::span<const int8_t>;  // table entries, for the values from -128 on

struct InterceptRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  [[nodiscard]] double width() const { return high - low; }
};

/// Returns the range of intercepts for which a line of this slope rounds to every entry. The
/// smallest and largest entries may be clamping bounds, so the line may exceed them.
InterceptRange intercept_range(double slope, Entries entries, int least, int most) {
  InterceptRange room;
  for (int code = -128; code < 128; ++code) {
    const int entry = entries[static_cast<size_t>(code + 128)];
    const double start = entry - slope * code;
    if (entry > least) room.low = std::max(room.low, start - 0.5);
    if (entry < most) room.high = std::min(room.high, start + 0.5);
  }
  return room;
}

/// Returns the slope with the widest range; the width is a concave function of the slope.
double best_slope(Entries entries, int least, int most) {
  constexpr int kSteps = 200;
  double low = -255, high = 255;
  for (int i = 0; i < kSteps; ++i) {
    const double third = (high - low) / 3;
    const double left = intercept_range(low + third, entries, least, most).width();
    const double right = intercept_range(high - third, entries, least, most).width();
    (left < right ? low : high) += left < right ? third : -third;
  }
  return (low + high) / 2;
}

int32_t result_of(const ClampedLinear& function, int code) {
  const int32_t sum = function.weight * (code - function.x_zero) + function.bias;
  const int32_t scaled = numerics::requantize(sum, function.mult, function.shift);
  return std::clamp(scaled + function.y_zero, function.min, function.max);
}

std::optional<ClampedLinear> line_through(Entries entries, int32_t x_zero, int32_t y_zero) {
  constexpr int32_t kWeight = 127;  // the largest weight gives the finest bias
  const int least = *std::ranges::min_element(entries);
  const int most = *std::ranges::max_element(entries);
  if (least == most) return std::nullopt;
  const double slope = best_slope(entries, least, most);
  const InterceptRange room = intercept_range(slope, entries, least, most);
  // Tables round halves to even. No line rounds all of them alike, so allow a small tolerance.
  constexpr double kHalves = 0x1p-20;
  if (!(room.width() > -kHalves) || !std::isfinite(room.width()) || slope == 0) {
    return std::nullopt;
  }
  const double start = (room.low + room.high) / 2;
  const double unit = std::abs(slope) / kWeight;
  const double bias = (slope * x_zero + start - y_zero) / unit;
  const auto multiplier = numerics::quantize_multiplier(unit);
  if (std::abs(bias) > 0x1p30 || !numerics::shift_in_range(multiplier.shift)) return std::nullopt;
  ClampedLinear function{slope < 0 ? -kWeight : kWeight,
                         static_cast<int32_t>(std::lround(bias)),
                         multiplier.mult,
                         multiplier.shift,
                         x_zero,
                         y_zero};
  // Clamp only where the line would exceed the bounds.
  const double first = slope * -128 + start, last = slope * 127 + start;
  if (std::min(first, last) < least - 0.5) function.min = least;
  if (std::max(first, last) > most + 0.5) function.max = most;
  for (int code = -128; code < 128; ++code) {
    const int entry = entries[static_cast<size_t>(code + 128)];
    if (std::abs(result_of(function, code) - entry) > 1) return std::nullopt;
  }
  return function;
}

int32_t zero_of(const ir::Type& type) {
  return type.quant ? type.quant->zero_point[0] : 0;
}

}  // namespace

std::optional<ClampedLinear> clamped_linear_of(const ir::Graph& graph, const ir::Op& op) {
  const ir::Type &x = graph.type(op.inputs[0]), &y = graph.type(op.output);
  if (x.dtype != ir::DType::kI8 || y.dtype != ir::DType::kI8) return std::nullopt;
  if (op.kind == ir::OpKind::rescale) {
    ClampedLinear function;
    function.mult = static_cast<int32_t>(op.get(ir::attr::mult));
    function.shift = static_cast<int32_t>(op.get(ir::attr::shift));
    function.x_zero = static_cast<int32_t>(op.get(ir::attr::x_zp));
    function.y_zero = static_cast<int32_t>(op.get(ir::attr::y_zp));
    return function;
  }
  if (op.kind != ir::OpKind::lut) return std::nullopt;
  const ir::TensorPtr& table = graph.value(op.inputs[1]).constant;
  if (table == nullptr) return std::nullopt;
  return line_through(table->data<int8_t>(), zero_of(x), zero_of(y));
}

}  // namespace thimble::engine::neutron
