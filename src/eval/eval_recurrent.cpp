// SPDX-License-Identifier: Apache-2.0
// Recurrent layers with one layer and one direction, computed step by step and gate by gate.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// One element of h in one step.
template <typename T>
struct HiddenElement {
  std::span<const T> x, h;  // the step's input, and h after the previous step
  size_t j = 0;             // position in h
  size_t state_index = 0;   // in the initial h and c
  size_t result_index = 0;  // in the result

  [[nodiscard]] size_t row(size_t gate) const { return gate * h.size() + j; }
};

/// Computes h step by step: update(element) returns the element's new h and stores its result.
template <typename T, typename Update>
void for_each_hidden_element(const Call& call, Update update) {
  const ir::Shape& shape = call.output.shape;
  const size_t steps = static_cast<size_t>(shape[0]);
  const size_t batch = static_cast<size_t>(shape[1]);
  const size_t hidden = static_cast<size_t>(shape[2]);
  const size_t inputs = static_cast<size_t>(call.shape(0)[2]);
  const bool reverse = call.get(ir::attr::reverse) != 0;
  for (size_t b = 0; b < batch; ++b) {
    const auto h0 = call.input<T>(1).subspan(b * hidden, hidden);
    std::vector<T> h(h0.begin(), h0.end());
    for (size_t i = 0; i < steps; ++i) {
      const size_t t = reverse ? steps - 1 - i : i;
      const std::vector<T> before = h;
      for (size_t j = 0; j < hidden; ++j) {
        h[j] = update(HiddenElement<T>{call.input<T>(0).subspan((t * batch + b) * inputs, inputs),
                                       before, j, b * hidden + j, (t * batch + b) * hidden + j});
      }
    }
  }
}

// --- float ---------------------------------------------------------------------------------------

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Returns the sum of w[row, k] * x[k].
double product(std::span<const float> w, std::span<const float> x, size_t row) {
  double sum = 0;
  for (size_t k = 0; k < x.size(); ++k) {
    sum += static_cast<double>(w[row * x.size() + k]) * static_cast<double>(x[k]);
  }
  return sum;
}

double bias(const Call& call, size_t operand, size_t row) {
  return call.has(operand) ? static_cast<double>(call.input<float>(operand)[row]) : 0;
}

/// Returns w_ih * x + w_hh * h + b_ih + b_hh of one gate. `w_ih` is the first of these operands.
double gate_sum(const Call& call, size_t w_ih, const HiddenElement<float>& element, size_t gate) {
  const size_t row = element.row(gate);
  return product(call.input<float>(w_ih), element.x, row) +
         product(call.input<float>(w_ih + 1), element.h, row) + bias(call, w_ih + 2, row) +
         bias(call, w_ih + 3, row);
}

}  // namespace

void eval_lstm(const Call& call) {
  const auto c0 = call.input<float>(2);
  std::vector<float> cells(c0.begin(), c0.end());
  const bool returns_cell = call.get(ir::attr::cell) != 0;
  for_each_hidden_element<float>(call, [&](const HiddenElement<float>& element) {
    const auto gate = [&](size_t index) { return gate_sum(call, 3, element, index); };
    float& c = cells[element.state_index];
    const double cell =
        sigmoid(gate(1)) * static_cast<double>(c) + sigmoid(gate(0)) * std::tanh(gate(2));
    c = static_cast<float>(cell);
    const float h = static_cast<float>(sigmoid(gate(3)) * std::tanh(cell));
    call.result<float>()[element.result_index] = returns_cell ? c : h;
    return h;
  });
}

void eval_gru(const Call& call) {
  for_each_hidden_element<float>(call, [&](const HiddenElement<float>& element) {
    const auto of_x = [&](size_t gate) {
      const size_t row = element.row(gate);
      return product(call.input<float>(2), element.x, row) + bias(call, 4, row);
    };
    const auto of_h = [&](size_t gate) {
      const size_t row = element.row(gate);
      return product(call.input<float>(3), element.h, row) + bias(call, 5, row);
    };
    const double reset = sigmoid(of_x(0) + of_h(0));
    const double keep = sigmoid(of_x(1) + of_h(1));
    const double fresh = std::tanh(of_x(2) + reset * of_h(2));
    const double h = (1 - keep) * fresh + keep * static_cast<double>(element.h[element.j]);
    return call.result<float>()[element.result_index] = static_cast<float>(h);
  });
}

void eval_rnn(const Call& call) {
  const bool relu = call.get(ir::attr::relu) != 0;
  for_each_hidden_element<float>(call, [&](const HiddenElement<float>& element) {
    const double sum = gate_sum(call, 2, element, 0);
    const double h = relu ? std::max(sum, 0.0) : std::tanh(sum);
    return call.result<float>()[element.result_index] = static_cast<float>(h);
  });
}

// --- integer -------------------------------------------------------------------------------------

namespace {

int64_t saturate16(int64_t value) {
  return clamp(value, -32768, 32767);
}

/// Returns value / 2^bits, halves up. `bits` may be negative.
int64_t scale_down(int64_t value, int64_t bits) {
  if (bits <= 0) return value * pow2(-bits);
  return floor_divide(value + pow2(bits - 1), pow2(bits));
}

/// Converts a value of 16 bits to a code of the result.
template <typename Code>
class ResultCode {
 public:
  ResultCode(const Call& call, const ir::MultiplierKeys& keys, ir::AttrKey<int64_t> zero_point)
      : mult_(call.get(keys.mult)), shift_(call.get(keys.shift)), zp_(call.get(zero_point)) {}

  [[nodiscard]] Code code(int64_t value) const {
    const int64_t scaled = requantize(value, mult_, shift_, Rounding::kDouble);
    return static_cast<Code>(clamp(wrap32(scaled + zp_), std::numeric_limits<Code>::min(),
                                   std::numeric_limits<Code>::max()));
  }

 private:
  int64_t mult_, shift_, zp_;
};

/// The products of x or of h with the weights, in the unit of the gates.
template <typename Code>
struct Side {
  std::span<const int8_t> w;
  std::span<const int32_t> mult, shift;
  size_t rows_per_entry;  // of mult and shift
  int64_t zero_point;

  [[nodiscard]] int64_t product(std::span<const Code> x, size_t row) const {
    int64_t sum = 0;
    const auto weights = w.subspan(row * x.size(), x.size());
    for (size_t k = 0; k < x.size(); ++k) sum += (x[k] - zero_point) * weights[k];
    const size_t entry = row / rows_per_entry;
    if (sizeof(Code) == 1) return requantize(sum, mult[entry], shift[entry], Rounding::kDouble);
    // The 64-bit sum is saturated to 32 bits.
    return saturate32(requantize64(sum, mult[entry], shift[entry]));
  }
};

/// Helpers shared by the integer layers, with operands and attributes read once. The biases are the
/// operands after w_hh.
template <typename Code>
class Gates {
 public:
  Gates(const Call& call, size_t w_ih, size_t biases)
      : x_(side(call, w_ih, w_ih + 2 + biases, 0)),
        h_(side(call, w_ih, w_ih + 2 + biases, 1)),
        table_(call.input<int16_t>(w_ih + 4 + biases)),
        output_(call, ir::attr::h_multiplier, ir::attr::h_zp) {
    for (size_t i = 0; i < biases; ++i) biases_.push_back(call.input<int32_t>(w_ih + 2 + i));
  }

  /// The contribution of x alone or h alone, without bias.
  int64_t of_x(std::span<const Code> x, size_t row) const { return x_.product(x, row); }
  int64_t of_h(std::span<const Code> h, size_t row) const { return h_.product(h, row); }
  int64_t bias(size_t which, size_t row) const { return biases_[which][row]; }
  /// Returns the gate's sum, saturated to int16, of a layer with one bias operand: the sum of the
  /// float layer's two biases.
  int64_t sum(const HiddenElement<Code>& element, size_t gate) const {
    const size_t row = element.row(gate);
    return saturate16(wrap32(of_x(element.x, row) + of_h(element.h, row) + bias(0, row)));
  }

  int64_t tanh(int64_t v) const {
    const size_t piece = static_cast<size_t>((v + 32768) / 128);
    const int64_t part = (v + 32768) % 128;
    const int64_t low = table_[piece];
    return low + floor_divide((table_[piece + 1] - low) * part + 64, 128);
  }
  int64_t sigmoid(int64_t v) const { return (32768 + tanh(floor_divide(v, 2))) / 2; }

  Code output(int64_t value) const { return output_.code(value); }

 private:
  static Side<Code> side(const Call& call, size_t w_ih, size_t mult, size_t which) {
    const auto entries = static_cast<size_t>(call.shape(mult)[1]);
    const auto rows = static_cast<size_t>(call.shape(w_ih)[0]);
    return {call.input<int8_t>(w_ih + which),
            call.input<int32_t>(mult).subspan(which * entries, entries),
            call.input<int32_t>(mult + 1).subspan(which * entries, entries), rows / entries,
            call.get(which == 0 ? ir::attr::x_zp : ir::attr::h_zp)};
  }

  Side<Code> x_, h_;
  std::vector<std::span<const int32_t>> biases_;
  std::span<const int16_t> table_;
  ResultCode<Code> output_;
};

int64_t blend(int64_t keep, int64_t old, int64_t fresh, int64_t bits) {
  return saturate16(scale_down(keep * old + scale_down(fresh, 15 - bits), 15));
}

template <typename Code>
void integer_lstm(const Call& call) {
  const Gates<Code> gates(call, 3, 1);
  const ResultCode<Code> cell(call, ir::attr::y_multiplier, ir::attr::y_zp);
  const int64_t bits = call.get(ir::attr::c_bits);
  const int64_t which = call.get(ir::attr::cell);
  std::vector<int64_t> cells;
  if (call.inputs[2]->dtype == ir::DType::kI16) {
    const auto c0 = call.input<int16_t>(2);
    cells.assign(c0.begin(), c0.end());
  } else {
    for (const int8_t code : call.input<int8_t>(2)) {
      cells.push_back(
          saturate16(requantize(code - call.get(ir::attr::c0_zp), call.get(ir::attr::c0_mult),
                                call.get(ir::attr::c0_shift), Rounding::kDouble)));
    }
  }
  for_each_hidden_element<Code>(call, [&](const HiddenElement<Code>& element) {
    const auto gate = [&](size_t index) { return gates.sum(element, index); };
    int64_t& c = cells[element.state_index];
    c = blend(gates.sigmoid(gate(1)), c, gates.sigmoid(gate(0)) * gates.tanh(gate(2)), bits);
    const int64_t tanh_c = gates.tanh(saturate16(scale_down(c, bits - 12)));
    const Code h = gates.output(gates.sigmoid(gate(3)) * tanh_c);
    if (which == 0) call.result<Code>()[element.result_index] = h;
    if (which == 1) call.result<Code>()[element.result_index] = cell.code(c);
    if (which == 2) call.result<int16_t>()[element.result_index] = static_cast<int16_t>(c);
    return h;
  });
}

template <typename Code>
void integer_gru(const Call& call) {
  const Gates<Code> gates(call, 2, 2);
  const int64_t bits = call.get(ir::attr::h_bits);
  std::vector<int64_t> states16;  // h in 16 bits, with h_bits fraction bits
  for (const Code h : call.input<Code>(1)) {
    states16.push_back(
        saturate16(requantize(h - call.get(ir::attr::h_zp), call.get(ir::attr::h0_mult),
                              call.get(ir::attr::h0_shift), Rounding::kDouble)));
  }
  for_each_hidden_element<Code>(call, [&](const HiddenElement<Code>& element) {
    const auto of_x = [&](size_t gate) {
      const size_t row = element.row(gate);
      return wrap32(gates.of_x(element.x, row) + gates.bias(0, row));
    };
    const auto of_h = [&](size_t gate) {
      const size_t row = element.row(gate);
      return wrap32(gates.of_h(element.h, row) + gates.bias(1, row));
    };
    const int64_t reset = gates.sigmoid(saturate16(wrap32(of_x(0) + of_h(0))));
    const int64_t keep = gates.sigmoid(saturate16(wrap32(of_x(1) + of_h(1))));
    const int64_t past = scale_down(reset * saturate16(of_h(2)), 15);
    const int64_t fresh = gates.tanh(saturate16(saturate16(of_x(2)) + past));
    int64_t& state = states16[element.state_index];
    state = blend(keep, state, (32768 - keep) * fresh, bits);
    return call.result<Code>()[element.result_index] = gates.output(state);
  });
}

template <typename Code>
void integer_rnn(const Call& call) {
  const Gates<Code> gates(call, 2, 1);
  const bool relu = call.get(ir::attr::relu) != 0;
  for_each_hidden_element<Code>(call, [&](const HiddenElement<Code>& element) {
    const int64_t sum = gates.sum(element, 0);
    return call.result<Code>()[element.result_index] =
               gates.output(relu ? std::max<int64_t>(sum, 0) : gates.tanh(sum));
  });
}

}  // namespace

void eval_qlstm(const Call& call) {
  is_wide(call) ? integer_lstm<int16_t>(call) : integer_lstm<int8_t>(call);
}
void eval_qgru(const Call& call) {
  is_wide(call) ? integer_gru<int16_t>(call) : integer_gru<int8_t>(call);
}
void eval_qrnn(const Call& call) {
  is_wide(call) ? integer_rnn<int16_t>(call) : integer_rnn<int8_t>(call);
}

}  // namespace thimble::eval
