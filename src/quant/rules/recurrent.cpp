// SPDX-License-Identifier: Apache-2.0
// Rules for recurrent layers: one integer operator for all steps (docs/numerics.md, "Recurrent
// layers").

#include <algorithm>
#include <cmath>

#include "numerics/fixed_point.h"
#include "numerics/int16.h"
#include "numerics/multiplier.h"
#include "numerics/recurrent.h"
#include "quant/expose.h"
#include "quant/fast/stable_math.h"
#include "quant/rules/rules.h"
#include "quant/weights.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

constexpr double kGateUnit = 1.0 / (1 << numerics::kGateBits);
// Margin for LSTM cell values beyond the calibrated range. The scale is a power of two, so a factor
// below two usually costs no resolution.
constexpr double kHeadroom = 1.25;

double magnitude(const Params& params) {
  if (params.wide) return std::abs(params.real(INT16_MIN));
  return std::max(std::abs(params.real(-128)), std::abs(params.real(127)));
}

/// Returns the largest magnitude of the range from which the parameters were chosen. 16-bit
/// parameters represent twice of it.
double observed_magnitude(const Params& params) {
  return magnitude(params) / (params.wide ? 2 : 1);
}

/// Returns the largest magnitude of the cell before the first step. A constant needs no range: that
/// of zeros has scale 1.
double initial_magnitude(const RuleCall& call) {
  const ir::Value& c0 = call.operand(2);
  if (c0.constant == nullptr) return kHeadroom * observed_magnitude(call.params(2));
  double largest = 0;
  for (const float value : c0.constant->data<float>()) {
    largest = std::max(largest, std::abs(double{value}));
  }
  return largest;
}

/// Returns the largest number of fractional bits with which 16 bits represent `reach`.
int64_t bits_for(double reach) {
  int64_t bits = 15;
  while (bits > 0 && std::ldexp(reach, static_cast<int>(bits)) > 32767) --bits;
  return bits;
}

ir::Tensor tanh_table() {
  ir::Tensor table = ir::zeros(ir::DType::kI16, {numerics::kTanhEntries});
  for (int i = 0; i < numerics::kTanhEntries; ++i) {
    const double exact = std::nearbyint(stable_tanh((i - 256) / 32.0) * 32768);
    table.data<int16_t>()[static_cast<size_t>(i)] =
        static_cast<int16_t>(std::clamp(exact, -32767.0, 32767.0));
  }
  return table;
}

/// The constants that are common to the integer operators.
class Layer {
 public:
  /// `unit` is the scale of the gates. Operand `w_ih` is followed by w_hh and two biases.
  Layer(RuleCall& call, size_t w_ih, double unit)
      : call_(call),
        w_ih_(w_ih),
        unit_(unit),
        bits_(call.decisions().int4.contains(call.op().output) ? 4 : 8) {}

  /// Bits of a weight.
  [[nodiscard]] int64_t bits() const { return bits_; }

  Status check() const {
    for (size_t i = w_ih_; i < w_ih_ + 4; ++i) {
      if (!call_.has(i) || call_.operand(i).constant != nullptr) continue;
      return call_.located(unsupported("its weights are not constant"));
    }
    return ok();
  }

  /// Appends w_ih, w_hh, `biases` biases (if one: their sum), mult, shift and table.
  Status append(const Params& x, const Params& h, size_t biases, std::vector<ValueId>& operands) {
    THIMBLE_CHECK(add_weights(w_ih_, x.scale, operands));
    THIMBLE_CHECK(add_weights(w_ih_ + 1, h.scale, operands));
    for (size_t i = 0; i < biases; ++i) operands.push_back(add_bias(i, biases));
    const ir::Shape shape = {2, static_cast<int64_t>(mult_.size()) / 2};
    operands.push_back(call_.constant("mult", ir::make_i32(shape, mult_)));
    operands.push_back(call_.constant("shift", ir::make_i32(shape, shift_)));
    operands.push_back(call_.named_constant("tanh_table", tanh_table()));
    return ok();
  }

 private:
  /// Returns the scale of a row; 1 if all its weights are 0.
  [[nodiscard]] double scale_of(std::span<const float> row) const {
    double largest = 0;
    for (const float weight : row) largest = std::max(largest, std::abs(double{weight}));
    if (!(largest > 0)) return 1;
    return bits_ == 4 ? int4_weight_scale(row, 0) : double{static_cast<float>(largest / 127)};
  }

  /// Adds weights with one scale per row.
  Status add_weights(size_t operand, double input_scale, std::vector<ValueId>& operands) {
    const ir::Value& w = call_.operand(operand);
    const auto real = w.constant->data<float>();
    const size_t rows = static_cast<size_t>(w.type.shape[0]);
    const size_t terms = real.size() / rows;
    ir::Tensor codes = ir::zeros(ir::DType::kI8, w.type.shape);
    ir::Quant quant{{}, std::vector<int32_t>(rows, 0), 0};
    const CodeRange range = code_range(bits_);
    for (size_t row = 0; row < rows; ++row) {
      const auto weights = real.subspan(row * terms, terms);
      const bool zeros = std::ranges::all_of(weights, [](float weight) { return weight == 0; });
      const double scale = scale_of(weights);
      for (size_t k = row * terms; k < (row + 1) * terms; ++k) {
        const double code = std::nearbyint(double{real[k]} / scale);
        codes.data<int8_t>()[k] = static_cast<int8_t>(std::clamp(code, range.min, range.max));
      }
      quant.scale.push_back(scale);
      const numerics::Multiplier m =
          numerics::quantize_multiplier(zeros ? 0 : input_scale * scale / unit_);
      if (m.shift > (call_.wide() ? numerics::kRequantize64ShiftMax : numerics::kShiftMax)) {
        return call_.located(unsupported("row {} of {} is out of range", row, w.name));
      }
      mult_.push_back(m.mult);
      shift_.push_back(m.shift);
    }
    operands.push_back(call_.named_constant(w.name, std::move(codes), std::move(quant)));
    return ok();
  }

  /// Adds a bias in units of the gates, clamped to +-2^24, far beyond the 16-bit range of the
  /// gates.
  ValueId add_bias(size_t which, size_t biases) {
    const int64_t rows = call_.type(w_ih_).shape[0];
    ir::Tensor bias = ir::zeros(ir::DType::kI32, {rows});
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      double sum = 0;
      for (size_t i = which; i < 2; i += biases) {
        const size_t operand = w_ih_ + 2 + i;
        if (call_.has(operand)) sum += double{call_.operand(operand).constant->data<float>()[row]};
      }
      bias.data<int32_t>()[row] =
          static_cast<int32_t>(std::clamp(std::nearbyint(sum / unit_), -0x1p24, 0x1p24));
    }
    return call_.constant(which == 0 ? "bias" : "bias_hh", std::move(bias),
                          ir::per_tensor(unit_, 0));
  }

  RuleCall& call_;
  const size_t w_ih_;
  const double unit_;
  const int bits_;
  std::vector<int32_t> mult_, shift_;
};

Attrs common_attrs(const RuleCall& call, const Params& x, const Params& h) {
  return {{ir::attr::reverse, call.op().get(ir::attr::reverse)},
          {ir::attr::x_zp, int64_t{x.zero_point}},
          {ir::attr::h_zp, int64_t{h.zero_point}}};
}

/// Returns c0. A constant is converted to the format of the cell. Otherwise c0 is int8 with a
/// multiplier for the conversion, or a 16-bit value in the format of the cell.
Result<ValueId> first_cell(RuleCall& call, int64_t bits, Attrs& attrs) {
  const ir::Value& c0 = call.operand(2);
  if (c0.constant == nullptr) {
    if (call.wide()) return call.codes(2, wide_params(std::ldexp(1.0, static_cast<int>(-bits))));
    const Params params = call.params(2);
    attrs.set(ir::attr::c0_zp, int64_t{params.zero_point});
    THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::c0_multiplier,
                                      std::ldexp(params.scale, static_cast<int>(bits))));
    return call.codes(2);
  }
  ir::Tensor content = ir::zeros(ir::DType::kI16, c0.type.shape);
  const auto real = c0.constant->data<float>();
  for (size_t i = 0; i < real.size(); ++i) {
    const double exact = std::nearbyint(std::ldexp(double{real[i]}, static_cast<int>(bits)));
    content.data<int16_t>()[i] = static_cast<int16_t>(std::clamp(exact, -32768.0, 32767.0));
  }
  return call.named_constant(c0.name, std::move(content),
                             ir::per_tensor(std::ldexp(1.0, static_cast<int>(-bits)), 0));
}

}  // namespace

Result<ValueId> lstm_rule(RuleCall& call) {
  const bool is_cell = call.op().get(ir::attr::cell) != 0;
  const ir::Op& other = call.from().ops()[other_lstm_result(call.from(), call.op())];
  const Params other_params = call.decisions().read(other.output, call.wide());
  const Params& h = is_cell ? other_params : call.result();
  const Params& c = is_cell ? call.result() : other_params;
  const Params x = call.params(0);
  const double reach = std::max(kHeadroom * observed_magnitude(c), initial_magnitude(call));
  const int64_t bits = bits_for(reach);

  Layer layer(call, 3, kGateUnit);
  THIMBLE_CHECK(layer.check());
  Attrs attrs = common_attrs(call, x, h);
  attrs.set(ir::attr::cell, int64_t{is_cell ? 1 : 0});
  attrs.set(ir::attr::c_bits, bits);
  attrs.set(ir::attr::weight_bits, layer.bits());
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::h_multiplier, 0x1p-30 / h.scale));
  if (is_cell) {
    attrs.set(ir::attr::y_zp, int64_t{c.zero_point});
    THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::y_multiplier,
                                      std::ldexp(1 / c.scale, static_cast<int>(-bits))));
  }
  THIMBLE_TRY(const ValueId x_id, call.codes(0));
  THIMBLE_TRY(const ValueId h0, call.codes(1, h));
  THIMBLE_TRY(const ValueId c0, first_cell(call, bits, attrs));
  std::vector<ValueId> operands = {x_id, h0, c0};
  THIMBLE_CHECK(layer.append(x, h, 1, operands));
  return call.add(OpKind::qlstm, std::move(operands), attrs);
}

Result<ValueId> gru_rule(RuleCall& call) {
  const Params x = call.params(0);
  const Params& h = call.result();
  // h is always between h0 and the range of tanh.
  const int64_t bits = bits_for(std::max(magnitude(h), 32767.0 / 32768));
  Layer layer(call, 2, kGateUnit);
  THIMBLE_CHECK(layer.check());
  Attrs attrs = common_attrs(call, x, h);
  attrs.set(ir::attr::h_bits, bits);
  attrs.set(ir::attr::weight_bits, layer.bits());
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::h_multiplier,
                                    std::ldexp(1 / h.scale, static_cast<int>(-bits))));
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::h0_multiplier,
                                    std::ldexp(h.scale, static_cast<int>(bits))));
  THIMBLE_TRY(const ValueId x_id, call.codes(0));
  THIMBLE_TRY(const ValueId h0, call.codes(1, h));
  std::vector<ValueId> operands = {x_id, h0};
  THIMBLE_CHECK(layer.append(x, h, 2, operands));
  return call.add(OpKind::qgru, std::move(operands), attrs);
}

Result<ValueId> rnn_rule(RuleCall& call) {
  const double relu_part = call.wide() ? 1 : 0x1p-7;  // gate unit relative to the scale of h
  const Params x = call.params(0);
  const Params& h = call.result();
  const bool relu = call.op().get(ir::attr::relu) != 0;
  Layer layer(call, 2, relu ? h.scale * relu_part : kGateUnit);
  THIMBLE_CHECK(layer.check());
  Attrs attrs = common_attrs(call, x, h);
  attrs.set(ir::attr::relu, int64_t{relu ? 1 : 0});
  THIMBLE_CHECK(
      call.set_multiplier(attrs, ir::attr::h_multiplier, relu ? relu_part : 0x1p-15 / h.scale));
  THIMBLE_TRY(const ValueId x_id, call.codes(0));
  THIMBLE_TRY(const ValueId h0, call.codes(1, h));
  std::vector<ValueId> operands = {x_id, h0};
  THIMBLE_CHECK(layer.append(x, h, 1, operands));
  return call.add(OpKind::qrnn, std::move(operands), attrs);
}

}  // namespace thimble::quant
