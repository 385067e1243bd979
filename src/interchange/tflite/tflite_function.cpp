// SPDX-License-Identifier: Apache-2.0
// Functions of one value as LiteRT operators. If LiteRT's kernel differs from the table, it differs
// by one quantized value: docs/interchange.md lists the counts.

#include <algorithm>
#include <cmath>
#include <limits>

#include "interchange/tflite/tflite_lowering.h"

namespace thimble::interchange {

using formats::tflite::LeakyReluOptions;
using formats::tflite::Op;
using formats::tflite::Options;
using ir::DimOrder;
using ir::Shape;
using Kind = Function::Kind;

namespace {

/// The quantization of the result, if LiteRT fixes it for the operator.
struct FixedResult {
  float scale;
  int64_t zero_point;
};
std::optional<FixedResult> fixed_result(Kind kind) {
  if (kind == Kind::kLogistic) return FixedResult{0x1p-8F, -128};
  if (kind == Kind::kTanh) return FixedResult{0x1p-7F, 0};
  return std::nullopt;
}

std::optional<Op> operator_of(Kind kind) {
  switch (kind) {
    case Kind::kAbs:
      return Op::kAbs;
    case Kind::kExp:
      return Op::kExp;
    case Kind::kHardSwish:
      return Op::kHardSwish;
    case Kind::kLeakyRelu:
      return Op::kLeakyRelu;
    case Kind::kLog:
      return Op::kLog;
    case Kind::kLogistic:
      return Op::kLogistic;
    case Kind::kRescale:
      return Op::kQuantize;
    case Kind::kRsqrt:
      return Op::kRsqrt;
    case Kind::kTanh:
      return Op::kTanh;
    default:
      return std::nullopt;
  }
}

/// Returns RELU or a similar operator if the bounds equal its fixed bounds.
std::optional<Op> named_clamp(const Function& f) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (f.min == 0 && f.max == kInfinity) return Op::kRelu;
  if (f.min == 0 && f.max == 6) return Op::kRelu6;
  if (f.min == 0 && f.max == 1) return Op::kRelu0To1;
  if (f.min == -1 && f.max == 1) return Op::kReluN1To1;
  return std::nullopt;
}

}  // namespace

Status TfliteLowering::lookup_table() {
  if (profile_.functions) {
    if (const auto f = recognize_table_function(graph_, *op_)) return function(*f);
  }
  return table_lookup();
}

Status TfliteLowering::function(const Function& f) {
  const DimOrder order = common_order();
  const int x = operand_in(0, order);
  const Shape out = result_shape_in(order);
  const auto& from = graph_.type(operand(0)).quant;
  const auto& to = graph_.type(op_->output).quant;
  if (f.kind == Kind::kRescale && from == to) {
    layouts_.alias(operand(0), op_->output);
    return ok();
  }
  if (f.kind == Kind::kClamp) return clamped_by_function(x, f, order);
  if (f.kind == Kind::kNeg) {
    const int zero = scalar_like(x, from->zero_point[0]);
    return put(emit(Op::kSub, formats::tflite::ActivationOptions{}, {zero, x}, make_result(out)),
               order);
  }
  Options options;
  if (f.kind == Kind::kLeakyRelu) options = LeakyReluOptions{static_cast<float>(f.alpha)};
  int made = make_result(out);
  const auto fixed = fixed_result(f.kind);
  const bool rescaled =
      fixed && (at(made).scale[0] != fixed->scale || at(made).zero_point[0] != fixed->zero_point);
  if (rescaled) {
    at(made).scale = {fixed->scale};
    at(made).zero_point = {fixed->zero_point};
  }
  emit(*operator_of(f.kind), options, {x}, made);
  if (rescaled) made = emit(Op::kQuantize, {}, {made}, make_result(out));
  return put(made, order);
}

/// Writes other bounds as MAXIMUM and MINIMUM, which require the result's scale for their operands.
Status TfliteLowering::clamped_by_function(int x, const Function& f, const DimOrder& order) {
  const Shape out = result_shape_in(order);
  if (const auto named = named_clamp(f)) {
    return put(emit(*named, {}, {x}, make_result(out)), order);
  }
  const ir::Quant& quant = *graph_.type(op_->output).quant;
  int made = x;
  if (graph_.type(operand(0)).quant != quant) made = emit(Op::kQuantize, {}, {x}, make_result(out));
  const auto code = [&](double bound) {
    const double nearest = std::nearbyint(bound / quant.scale[0]) + quant.zero_point[0];
    return static_cast<int64_t>(std::clamp(nearest, -128.0, 127.0));
  };
  if (std::isfinite(f.min)) {
    const int low = scalar_like(made, code(f.min));
    made = emit(Op::kMaximum, {}, {made, low}, make_result(out));
  }
  if (std::isfinite(f.max)) {
    const int high = scalar_like(made, code(f.max));
    made = emit(Op::kMinimum, {}, {made, high}, make_result(out));
  }
  return put(made, order);
}

/// LiteRT computes both multipliers in float32. To get the graph's results, the scales of the
/// slopes and of the result are moved by a few floats. A QUANTIZE that changes no quantized value
/// then restores the scale of the result.
Status TfliteLowering::prelu() {
  THIMBLE_CHECK(check_constant(1));
  THIMBLE_TRY(const float x_scale, operand_scale(0, ir::attr::x_zp));
  THIMBLE_TRY(const float w_scale, operand_scale(1, ir::attr::w_zp));
  THIMBLE_TRY(const float y_scale, result_scale());
  const int64_t x_zp = get(ir::attr::x_zp);
  int64_t far = 0;
  for (const int8_t w : graph_.value(operand(1)).constant->data<int8_t>()) {
    far = std::max(far, std::abs((-128 - x_zp) * (w - get(ir::attr::w_zp))));
  }
  const auto same = [&](const ir::MultiplierKeys& which, double real, int64_t low, int64_t high) {
    const auto theirs = litert_multiplier(real);
    return numerics::shift_in_range(theirs.shift) &&
           same_requantization(make_requantize_fn(multiplier(which), bounds(), single_rounding()),
                               make_requantize_fn(theirs, bounds()), low, high);
  };
  const auto y = nearest_fitting_scale(y_scale, [&](float scale) {
    return same(ir::attr::multiplier, static_cast<double>(x_scale / scale), 0, 127 - x_zp);
  });
  const auto w = nearest_fitting_scale(w_scale, [&](float scale) {
    const float product = x_scale * scale / (profile_.functions ? y_scale : y.value_or(y_scale));
    return same(ir::attr::w_multiplier, static_cast<double>(product), -far, far);
  });
  if ((!y || !w) && !profile_.functions) {
    return refuse("PRELU's multipliers, computed from the scales, give other results");
  }
  const DimOrder order = common_order();
  const Shape out = result_shape_in(order);
  const formats::tflite::Tensor shared = at(broadcastable(1, order));
  model_.tensors.push_back(shared);  // a copy: other readers may require another scale
  const int slopes = static_cast<int>(model_.tensors.size()) - 1;
  at(slopes).scale = {w.value_or(w_scale)};
  int made = make_result(out);
  if (!profile_.functions) at(made).scale = {*y};
  emit(Op::kPrelu, {}, {operand_in(0, order), slopes}, made);
  const Bounds b = bounds();
  if (b.min > -128 || b.max < 127) made = clamped(made);
  if (at(made).scale[0] != y_scale) made = emit(Op::kQuantize, {}, {made}, make_result(out));
  return put(made, order);
}

}  // namespace thimble::interchange
