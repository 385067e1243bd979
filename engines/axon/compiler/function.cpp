// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/function.h"

#include <algorithm>
#include <cmath>

#include "engines/axon/compiler/scale.h"

namespace thimble::engine::axon {
namespace {

using ir::OpKind;

/// Half a quantization step, plus a tolerance because the table was computed with rounded
/// parameters.
constexpr double kHalf = 0.5 + 1e-3;

double clamped_code(double code) {
  return std::clamp(std::nearbyint(code), -128.0, 127.0);
}

/// Returns true if every entry differs by at most 1 from `f` at output scale 1 / `steps`.
template <typename F>
bool is_curve(std::span<const int8_t> table, const ir::Quant& x, double steps, double zero_point,
              F f) {
  for (int code = -128; code < 128; ++code) {
    const double real = x.scale[0] * (code - x.zero_point[0]);
    const double expected = clamped_code(steps * f(real) + zero_point);
    const double found = table[static_cast<size_t>(code + 128)];
    if (std::abs(found - expected) > 1) return false;
  }
  return true;
}

/// Returns the decimal number with the fewest digits between two bounds.
double simplest_between(double low, double high) {
  for (double unit = 1; unit <= 1e6; unit *= 10) {
    const double nearest = std::nearbyint((low + high) / 2 * unit) / unit;
    if (nearest >= low && nearest <= high) return nearest;
  }
  return (low + high) / 2;
}

/// Fits a table to a function with two linear parts: slope 1 above 0, another slope below 0.
class Line {
 public:
  Line(std::span<const int8_t> table, const ir::Quant& x, const ir::Quant& y)
      : table_(table),
        ratio_(x.scale[0] / y.scale[0]),
        x_zp_(x.zero_point[0]),
        y_zp_(y.zero_point[0]),
        min_(*std::ranges::min_element(table)),
        max_(*std::ranges::max_element(table)) {}

  std::optional<Function> find() {
    const auto slope = slope_below();
    if (!slope) return std::nullopt;
    for (int code = -128; code < 128; ++code) {
      const double part = code < x_zp_ ? *slope : 1;
      const double exact = part * ratio_ * (code - x_zp_) + y_zp_;
      const double found = at(code);
      const double bounded =
          std::clamp(exact, static_cast<double>(min_), static_cast<double>(max_));
      if (std::abs(found - bounded) > kHalf) return std::nullopt;
    }
    Function f;
    f.ratio = ratio_;
    f.slopes = {*slope};
    f.zero_point = y_zp_;
    f.min = lowest(*slope);
    f.max = highest();
    return f;
  }

 private:
  double at(int code) const { return table_[static_cast<size_t>(code + 128)]; }
  double end(int code, double slope) const {
    return clamped_code(slope * ratio_ * (code - x_zp_) + y_zp_);
  }
  /// Clamping bounds of the result. If the line never reaches the bound: the bound of int8.
  int64_t lowest(double slope) const { return end(-128, slope) >= min_ ? -128 : min_; }
  int64_t highest() const { return end(127, 1) <= max_ ? 127 : max_; }

  std::optional<double> slope_below() const {
    double low = -1e9, high = 1e9;
    for (int code = -128; code < std::min(x_zp_, 128); ++code) {
      const double found = at(code);
      const double run = ratio_ * (x_zp_ - code);  // found == y_zp - slope * run
      low = std::max(low, (y_zp_ - found - kHalf) / run);
      // The lowest value may be clamped, so the line can be lower there.
      if (found > min_ || found >= y_zp_) high = std::min(high, (y_zp_ - found + kHalf) / run);
    }
    if (low > high) return std::nullopt;
    if (low <= 1 && high >= 1) return 1;
    if (low <= 0 && high >= 0) return 0;
    if (low < 0 || high > 1e8) return std::nullopt;
    return simplest_between(low, high);
  }

  std::span<const int8_t> table_;
  double ratio_;
  int x_zp_, y_zp_;
  int min_, max_;
};

bool is_per_tensor(const std::optional<ir::Quant>& quant) {
  return quant && quant->axis < 0;
}

Result<Function> function_of_prelu(const ir::Graph& graph, const ir::Op& op) {
  const ir::Value& w = graph.value(op.inputs[1]);
  const ir::Shape& x = graph.type(op.inputs[0]).shape;
  if (!w.constant) return unsupported("its slopes are not constant");
  ir::Shape shape(x.size() - std::min(x.size(), w.type.shape.size()), 1);
  shape.insert(shape.end(), w.type.shape.begin(), w.type.shape.end());
  const size_t channel = x.size() > 1 ? 1 : 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 && i != channel) return unsupported("its slopes differ within a channel");
  }
  const double above = real_of(op.get(ir::attr::mult), op.get(ir::attr::shift));
  const double unit = real_of(op.get(ir::attr::w_mult), op.get(ir::attr::w_shift));
  if (!(above > 0)) return unsupported("its multiplier is 0");
  Function f;
  f.ratio = above;
  f.zero_point = op.get(ir::attr::y_zp);
  f.min = op.get(ir::attr::min);
  f.max = op.get(ir::attr::max);
  for (const int8_t code : w.constant->data<int8_t>()) {
    const double slope = static_cast<double>(code - op.get(ir::attr::w_zp)) * unit / above;
    if (slope < 0) return unsupported("a slope is {:.3g}, expected 0 or more", slope);
    f.slopes.push_back(slope);
  }
  return f;
}

}  // namespace

bool is_function(OpKind kind) {
  return kind == OpKind::lut || kind == OpKind::qprelu || kind == OpKind::qsoftmax;
}

Result<Function> function_of_table(std::span<const int8_t> table, const ir::Quant& x,
                                   const ir::Quant& y) {
  const auto sigmoid = [](double real) { return 1 / (1 + std::exp(-real)); };
  const auto tanh = [](double real) { return std::tanh(real); };
  // Test for a line first: close to 0 a curve is a line too, and a line costs fewer cycles.
  if (auto line = Line(table, x, y).find()) return *std::move(line);
  Function f;
  f.zero_point = y.zero_point[0];
  if (is_curve(table, x, 1 / y.scale[0], y.zero_point[0], sigmoid)) {
    f.kind = Function::Kind::kSigmoid;
    f.ratio = 1.0 / 256 / y.scale[0];
    f.rescaled = f.ratio != 1 || f.zero_point != -128;
    return f;
  }
  if (is_curve(table, x, 1 / y.scale[0], y.zero_point[0], tanh)) {
    f.kind = Function::Kind::kTanh;
    f.ratio = 1.0 / 128 / y.scale[0];
    f.rescaled = f.ratio != 1 || f.zero_point != 0;
    return f;
  }
  return unsupported(
      "the table is not a relu, leaky relu, sigmoid, tanh or change of scale; the NPU has no other "
      "functions");
}

Result<Function> function_of(const ir::Graph& graph, const ir::Op& op) {
  const std::optional<ir::Quant>& x = graph.type(op.inputs[0]).quant;
  const std::optional<ir::Quant>& y = graph.type(op.output).quant;
  if (op.kind == OpKind::qprelu) return function_of_prelu(graph, op);
  if (!is_per_tensor(x)) return unsupported("its operand has no per-tensor scale");
  if (op.kind == OpKind::qsoftmax) {
    Function f;
    f.kind = Function::Kind::kSoftmax;
    f.dim = op.get(ir::attr::dim);
    return f;
  }
  if (!is_per_tensor(y)) return unsupported("its result has no per-tensor scale");
  const ir::Value& table = graph.value(op.inputs[1]);
  if (!table.constant) return unsupported("its table is not constant");
  return function_of_table(table.constant->data<int8_t>(), *x, *y);
}

}  // namespace thimble::engine::axon
