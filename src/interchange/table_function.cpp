// SPDX-License-Identifier: Apache-2.0
#include "interchange/table_function.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace thimble::interchange {
namespace {

using Kind = Function::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Tolerance around the midpoint between two quantized values. A float32 computation in several
/// steps may round to the other value within it. In units of the result's scale.
constexpr double kSlack = 4e-5;

double hard_swish(double x) {
  return x * std::clamp(x + 3, 0.0, 6.0) / 6;
}

/// Returns a number from `low` to `high` with the fewest decimals.
double shortest_between(double low, double high) {
  constexpr double kUnitMax = 1e9;
  for (double unit = 1; unit <= kUnitMax; unit *= 10) {
    const double nearest = std::nearbyint((low + high) / 2 * unit) / unit;
    if (nearest >= low && nearest <= high) return nearest;
    const double first = std::ceil(low * unit) / unit;
    if (first >= low && first <= high) return first;
  }
  return (low + high) / 2;
}

/// A lookup table with the quantizations of its operand and result.
class Table {
 public:
  Table(std::span<const int8_t> entries, const ir::Quant& x, const ir::Quant& y)
      : entries_(entries),
        x_scale_(x.scale[0]),
        y_scale_(y.scale[0]),
        x_zero_(x.zero_point[0]),
        y_zero_(y.zero_point[0]),
        lowest_(*std::ranges::min_element(entries)),
        highest_(*std::ranges::max_element(entries)) {}

  template <typename F>
  bool holds(F f) const {
    for (int code = -128; code < 128; ++code) {
      if (!holds_at(code, f)) return false;
    }
    return true;
  }

  std::optional<Function> clamp() const {
    Function f{Kind::kRescale, 0, -kInfinity, kInfinity};
    if (cuts_below()) f.min = lower_bound();
    if (cuts_above()) f.max = upper_bound(f.min);
    if (f.min > -kInfinity || f.max < kInfinity) f.kind = Kind::kClamp;
    if (f.min > f.max) return std::nullopt;
    if (!holds([&](double x) { return std::clamp(x, f.min, f.max); })) return std::nullopt;
    if (f.kind == Kind::kRescale) f.min = f.max = 0;
    return f;
  }

  std::optional<Function> leaky_relu() const {
    for (const double half : {0.5, 0.5 + kSlack}) {
      const auto slopes = slopes_below(half);
      if (!slopes) continue;
      const auto [low, high] = *slopes;
      for (const double alpha : {shortest_between(low, high), (low + high) / 2}) {
        if (holds([&](double x) { return x < 0 ? alpha * x : x; })) {
          return Function{Kind::kLeakyRelu, alpha, 0, 0};
        }
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] int entry(int code) const { return entries_[static_cast<size_t>(code + 128)]; }
  [[nodiscard]] double real(int code) const { return x_scale_ * (code - x_zero_); }
  /// Converts an operand's quantized value to the result's scale, without rounding or clamping.
  [[nodiscard]] double position(int code) const { return real(code) / y_scale_ + y_zero_; }
  [[nodiscard]] double nearest(double number) const {
    return std::nearbyint(number / y_scale_) + y_zero_;
  }

  /// Returns true if the entry equals f computed in double, or in float32 as PyTorch does it. For
  /// other float32 computations the entry may differ if f is within kSlack of a midpoint.
  template <typename F>
  bool holds_at(int code, F f) const {
    const double found = entry(code);
    const double exact = f(real(code));
    if (std::isnan(exact)) return found == y_zero_;
    if (found == std::clamp(nearest(exact), -128.0, 127.0)) return true;
    const auto x = static_cast<float>(code - x_zero_) * static_cast<float>(x_scale_);
    const float inverse = 1.0F / static_cast<float>(y_scale_);
    const float single = static_cast<float>(f(static_cast<double>(x))) * inverse;
    const double as_single = std::nearbyint(static_cast<double>(single)) + y_zero_;
    if (found == std::clamp(as_single, -128.0, 127.0)) return true;
    const double distance = std::abs(exact / y_scale_ + y_zero_ - found);
    return distance > 0.5 && distance <= 0.5 + kSlack;
  }

  [[nodiscard]] bool cuts_below() const {
    return std::min(position(-128), position(127)) < lowest_ - 0.5 - kSlack;
  }
  [[nodiscard]] bool cuts_above() const {
    return std::max(position(-128), position(127)) > highest_ + 0.5 + kSlack;
  }
  /// Returns 0 or -1 if it quantizes to the lowest entry, else the real value of the lowest entry.
  /// A lowest entry of -128 is only the limit of the type: the bound is then -infinity.
  [[nodiscard]] double lower_bound() const {
    for (const double meant : {0.0, -1.0}) {
      if (nearest(meant) == lowest_) return meant;
    }
    return lowest_ == -128 ? -kInfinity : y_scale_ * (lowest_ - y_zero_);
  }
  [[nodiscard]] double upper_bound(double lower) const {
    const double first = lower == -1 ? 1 : 6, second = lower == -1 ? 6 : 1;
    for (const double meant : {first, second, 0.0}) {
      if (nearest(meant) == highest_ && meant >= lower) return meant;
    }
    return highest_ == 127 ? kInfinity : y_scale_ * (highest_ - y_zero_);
  }

  /// Returns the interval of slopes that all entries for negative inputs allow. An entry at a limit
  /// of the type bounds the interval on one side only.
  [[nodiscard]] std::optional<std::pair<double, double>> slopes_below(double half) const {
    double low = -kInfinity, high = kInfinity;
    for (int code = -128; code < std::min(x_zero_, 128); ++code) {
      const double run = -real(code) / y_scale_;  // entry = zero point - slope * run
      if (entry(code) < 127) low = std::max(low, (y_zero_ - entry(code) - half) / run);
      if (entry(code) > -128) high = std::min(high, (y_zero_ - entry(code) + half) / run);
    }
    if (!(low <= high) || std::isinf(low) || std::isinf(high)) return std::nullopt;
    return std::pair(low, high);
  }

  std::span<const int8_t> entries_;
  double x_scale_, y_scale_;
  int x_zero_, y_zero_;
  int lowest_, highest_;
};

struct Curve {
  Kind kind;
  double (*f)(double x);
};
constexpr Curve kCurves[] = {
    {Kind::kHardSwish, hard_swish},
    {Kind::kLogistic, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {Kind::kTanh, [](double x) { return std::tanh(x); }},
    {Kind::kExp, [](double x) { return std::exp(x); }},
    {Kind::kLog, [](double x) { return std::log(x); }},
    {Kind::kRsqrt, [](double x) { return 1 / std::sqrt(x); }},
};

std::optional<Function> function_of(const Table& table) {
  if (auto line = table.clamp()) return line;
  if (table.holds([](double x) { return -x; })) return Function{Kind::kNeg, 0, 0, 0};
  if (table.holds([](double x) { return std::abs(x); })) return Function{Kind::kAbs, 0, 0, 0};
  if (auto lines = table.leaky_relu()) return lines;
  for (const Curve& curve : kCurves) {
    if (table.holds(curve.f)) return Function{curve.kind, 0, 0, 0};
  }
  return std::nullopt;
}

bool is_per_tensor(const std::optional<ir::Quant>& quant) {
  return quant && quant->axis < 0 && quant->scale.size() == 1;
}

}  // namespace

std::optional<Function> recognize_table_function(const ir::Graph& graph, const ir::Op& lut) {
  if (lut.kind != ir::OpKind::lut) return std::nullopt;
  const ir::Value& entries = graph.value(lut.inputs[1]);
  const std::optional<ir::Quant>& x = graph.type(lut.inputs[0]).quant;
  const std::optional<ir::Quant>& y = graph.type(lut.output).quant;
  if (!entries.constant || !is_per_tensor(x) || !is_per_tensor(y)) return std::nullopt;
  return function_of(Table(entries.constant->data<int8_t>(), *x, *y));
}

}  // namespace thimble::interchange
