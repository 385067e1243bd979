// SPDX-License-Identifier: Apache-2.0
// Rule for log_mel: docs/numerics.md, "Log-mel spectrum".

#include <algorithm>
#include <cmath>
#include <numbers>

#include "numerics/multiplier.h"
#include "numerics/spectrum.h"
#include "quant/fast/stable_math.h"
#include "quant/rules/rules.h"

namespace thimble::quant {
namespace {

using ir::ValueId;

/// Returns the largest magnitude / code_max, or 1 if all elements are 0.
double scale_of(std::span<const float> elements, double code_max) {
  double largest = 0;
  for (const float each : elements) largest = std::max(largest, std::abs(double{each}));
  return largest > 0 ? largest / code_max : 1;
}

ValueId window_codes(RuleCall& call, double scale) {
  const ir::Value& window = call.operand(1);
  ir::Tensor codes = ir::zeros(ir::DType::kI32, window.type.shape);
  const auto to = codes.data<int32_t>();
  const auto from = window.constant->data<float>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<int32_t>(std::nearbyint(double{from[i]} / scale));
  }
  return call.named_constant(window.name, std::move(codes), ir::per_tensor(scale, 0));
}

ValueId sine_table(RuleCall& call, int64_t n) {
  ir::Tensor table = ir::zeros(ir::DType::kI32, {n / 4});
  const auto to = table.data<int32_t>();
  for (size_t k = 0; k < to.size(); ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    to[k] = static_cast<int32_t>(std::nearbyint(stable_sin(angle) * 0x1p31));
  }
  return call.constant("sine", std::move(table));
}

/// The filters without the zeros before and after their bins.
struct Bands {
  ValueId bands = ir::kNoValue, weights = ir::kNoValue;
};

Bands bands_of(RuleCall& call, double scale) {
  const ir::Value& mel = call.operand(2);
  const auto filters = static_cast<size_t>(mel.type.shape[0]);
  const auto bins = static_cast<size_t>(mel.type.shape[1]);
  const auto all = mel.constant->data<float>();
  ir::Tensor bands = ir::zeros(ir::DType::kI32, {mel.type.shape[0], 2});
  std::vector<int16_t> weights;
  for (size_t m = 0; m < filters; ++m) {
    std::vector<int16_t> row;
    for (const float each : all.subspan(m * bins, bins)) {
      row.push_back(static_cast<int16_t>(std::nearbyint(double{each} / scale)));
    }
    const auto first = std::ranges::find_if(row, [](int16_t weight) { return weight != 0; });
    const auto last = std::find_if(row.rbegin(), row.rend(), [](int16_t w) { return w != 0; });
    if (first == row.end()) continue;
    bands.data<int32_t>()[2 * m] = static_cast<int32_t>(first - row.begin());
    bands.data<int32_t>()[2 * m + 1] = static_cast<int32_t>(last.base() - first);
    weights.insert(weights.end(), first, last.base());
  }
  if (weights.empty()) weights.push_back(0);
  ir::Tensor codes = ir::zeros(ir::DType::kI16, {static_cast<int64_t>(weights.size())});
  std::ranges::copy(weights, codes.data<int16_t>().begin());
  const ValueId bands_id = call.constant("bands", std::move(bands));
  return {bands_id, call.named_constant(mel.name, std::move(codes), ir::per_tensor(scale, 0))};
}

/// Sets a term of the sum as mantissa * 2^shift.
void set_term(ir::Attrs& attrs, ir::AttrKey<int64_t> mantissa, ir::AttrKey<int64_t> shift,
              double value) {
  int64_t bits = 0;
  for (; std::nearbyint(value) >= 0x1p31; value /= 2) ++bits;
  attrs.set(mantissa, static_cast<int64_t>(std::nearbyint(value)));
  attrs.set(shift, bits);
}

}  // namespace

Result<ValueId> log_mel_rule(RuleCall& call) {
  const ir::Op& op = call.op();
  const Params samples = read(call.decisions().params[static_cast<size_t>(op.inputs[0])], {}, true);
  const double window_scale = scale_of(call.operand(1).constant->data<float>(), INT32_MAX);
  const double mel_scale = scale_of(call.operand(2).constant->data<float>(), INT16_MAX);
  const auto n = call.type(1).shape[0];
  // The real number that one unit of the sum represents.
  constexpr double kHalfWindow = 1 << (numerics::kWindowShift - 1);
  const double amplitude = samples.scale * window_scale * static_cast<double>(n) * kHalfWindow;
  const double unit = amplitude * amplitude * mel_scale;
  const double largest = std::max(op.get(ir::attr::floor), op.get(ir::attr::eps));
  if (largest / unit > 0x1p61) {
    return call.located(
        unsupported("its floor or eps, {}, is too large for its integer arithmetic", largest));
  }
  ir::Attrs attrs{{ir::attr::hop, op.get(ir::attr::hop)}};
  set_term(attrs, ir::attr::int_floor, ir::attr::floor_shift, op.get(ir::attr::floor) / unit);
  set_term(attrs, ir::attr::int_eps, ir::attr::eps_shift, op.get(ir::attr::eps) / unit);
  // scale * ln(sum * unit) + offset = factor * (log2(sum) * 2^16 + offset / factor + ...).
  const double factor = op.get(ir::attr::scale) * std::numbers::ln2 / 0x1p16;
  const double shifted =
      op.get(ir::attr::float_offset) / factor + stable_log(unit) / std::numbers::ln2 * 0x1p16;
  if (!(std::abs(shifted) <= numerics::kLogMelOffsetMax)) {
    return call.located(unsupported("its offset, {}, is too large for its integer arithmetic",
                                    op.get(ir::attr::float_offset)));
  }
  attrs.set(ir::attr::offset, static_cast<int64_t>(std::nearbyint(shifted)));
  const double real = factor / call.result().scale;
  if (real >= 1) {
    return call.located(
        unsupported("the scale of its result, {}, is too fine for its integer arithmetic",
                    call.result().scale));
  }
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::multiplier, real));
  attrs.set(ir::attr::y_zp, int64_t{call.result().zero_point});
  call.set_clamp(attrs);
  attrs.set(ir::attr::wide, int64_t{call.wide() ? 1 : 0});
  THIMBLE_TRY(const ValueId x, call.codes(0, samples));
  const ValueId window = window_codes(call, window_scale);
  const ValueId sine = sine_table(call, n);
  const Bands bands = bands_of(call, mel_scale);
  return call.add(ir::OpKind::qlog_mel, {x, window, sine, bands.bands, bands.weights}, attrs);
}

}  // namespace thimble::quant
