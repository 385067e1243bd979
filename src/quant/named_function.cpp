// SPDX-License-Identifier: Apache-2.0
#include "quant/named_function.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

namespace thimble::quant {
namespace {

using Real = std::function<double(double)>;

/// Test points: 0 and numbers on both sides of it, dense where the functions bend. They are not
/// multiples of a common step, so that a function of rounded numbers is detected.
const std::vector<double>& points() {
  static const std::vector<double> kPoints = [] {
    constexpr double kDense = 8, kStep = 0.0617283, kFurthest = 1000, kGrowth = 1.07;
    std::vector<double> all = {0};
    for (double x = kStep; x <= kFurthest; x = x < kDense ? x + kStep : x * kGrowth) {
      all.push_back(x);
      all.push_back(-x);
    }
    std::ranges::sort(all);
    return all;
  }();
  return kPoints;
}

/// Returns true if a and b are equal up to float32 rounding. Not-finite results must coincide.
bool close(double a, double b) {
  constexpr double kTolerance = 1e-5;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::isfinite(a) == std::isfinite(b);
  return std::abs(a - b) <= kTolerance * (1 + std::abs(b));
}

bool equals(const Real& f, const Real& other) {
  return std::ranges::all_of(points(), [&](double x) { return close(f(x), other(x)); });
}

bool is_abs(const Real& f) {
  return equals(f, [](double x) { return std::abs(x); });
}
bool is_exp(const Real& f) {
  return equals(f, [](double x) { return std::exp(x); });
}
bool is_hard_swish(const Real& f) {
  return equals(f, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; });
}
bool is_leaky_relu(const Real& f) {
  const double slope = -f(-1);
  return equals(f, [=](double x) { return x < 0 ? slope * x : x; });
}
bool is_log(const Real& f) {
  return equals(f, [](double x) { return std::log(x); });
}
bool is_logistic(const Real& f) {
  return equals(f, [](double x) { return 1 / (1 + std::exp(-x)); });
}
bool is_rsqrt(const Real& f) {
  return equals(f, [](double x) { return 1 / std::sqrt(x); });
}
bool is_tanh(const Real& f) {
  return equals(f, [](double x) { return std::tanh(x); });
}

bool is_clamp(const Real& f) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double x : points()) {
    low = std::min(low, f(x));
    high = std::max(high, f(x));
  }
  return low <= high && equals(f, [=](double x) { return std::clamp(x, low, high); });
}

/// Returns true if f is a clamped line: the values between minimum and maximum are on one line,
/// which meets both bounds.
bool is_line(const Real& f) {
  std::vector<double> values;
  for (const double x : points()) values.push_back(f(x));
  const auto finite = [](double y) { return std::isfinite(y); };
  if (!std::ranges::all_of(values, finite)) return false;
  const double low = std::ranges::min(values), high = std::ranges::max(values);
  std::vector<size_t> inner;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!close(values[i], low) && !close(values[i], high)) inner.push_back(i);
  }
  if (inner.size() < 2) return false;
  const double x0 = points()[inner.front()], x1 = points()[inner.back()];
  const double y0 = values[inner.front()], y1 = values[inner.back()];
  const double slope = (y1 - y0) / (x1 - x0);
  return equals(f, [=](double x) { return std::clamp(y0 + slope * (x - x0), low, high); });
}

struct Row {
  std::string_view name;
  bool (*is)(const Real& f);
};
// keep-sorted
constexpr Row kRows[] = {
    {"abs", is_abs},
    {"clamp", is_clamp},
    {"exp", is_exp},
    {"hard_swish", is_hard_swish},
    {"leaky_relu", is_leaky_relu},
    {"line", is_line},
    {"log", is_log},
    {"logistic", is_logistic},
    {"rsqrt", is_rsqrt},
    {"tanh", is_tanh},
};

}  // namespace

bool is_function_name(std::string_view name) {
  return std::ranges::find(kRows, name, &Row::name) != std::end(kRows);
}

bool is_named(const Real& f, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) {
    const auto* row = std::ranges::find(kRows, name, &Row::name);
    assert(row != std::end(kRows) && "a name of the header's list");
    return row->is(f);
  });
}

}  // namespace thimble::quant
