// Recurrent layers with one layer and one direction, computed step by step and gate by gate.

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "eval/call.h"

namespace thimble::eval {
namespace {

/// Sizes of a recurrent layer and its step order.
struct Layer {
  explicit Layer(const Call& call)
      : steps(static_cast<size_t>(call.output.shape[0])),
        batch(static_cast<size_t>(call.output.shape[1])),
        hidden(static_cast<size_t>(call.output.shape[2])),
        inputs(static_cast<size_t>(call.shape(0)[2])),
        reverse(call.integer("reverse") != 0) {}

  /// Calls body(offset of the row in x, offset of the row in the result) for each step of batch
  /// element b, in execution order.
  void for_each_step(size_t b, const std::function<void(size_t, size_t)>& body) const {
    for (size_t i = 0; i < steps; ++i) {
      const size_t t = reverse ? steps - 1 - i : i;
      body((t * batch + b) * inputs, (t * batch + b) * hidden);
    }
  }

  size_t steps, batch, hidden, inputs;
  bool reverse;
};

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

}  // namespace

void eval_lstm(const Call& call) {
  const Layer layer(call);
  const size_t hidden = layer.hidden;
  for (size_t b = 0; b < layer.batch; ++b) {
    const auto h0 = call.input<float>(1).subspan(b * hidden, hidden);
    const auto c0 = call.input<float>(2).subspan(b * hidden, hidden);
    std::vector<float> h(h0.begin(), h0.end()), c(c0.begin(), c0.end());
    layer.for_each_step(b, [&](size_t x_at, size_t y_at) {
      const auto x = call.input<float>(0).subspan(x_at, layer.inputs);
      const std::vector<float> before = h;
      for (size_t j = 0; j < hidden; ++j) {
        const auto gate = [&](size_t index) {
          const size_t row = index * hidden + j;
          return product(call.input<float>(3), x, row) +
                 product(call.input<float>(4), before, row) + bias(call, 5, row) +
                 bias(call, 6, row);
        };
        const double cell =
            sigmoid(gate(1)) * static_cast<double>(c[j]) + sigmoid(gate(0)) * std::tanh(gate(2));
        c[j] = static_cast<float>(cell);
        h[j] = static_cast<float>(sigmoid(gate(3)) * std::tanh(cell));
        call.result<float>()[y_at + j] = call.integer("cell") != 0 ? c[j] : h[j];
      }
    });
  }
}

void eval_gru(const Call& call) {
  const Layer layer(call);
  const size_t hidden = layer.hidden;
  for (size_t b = 0; b < layer.batch; ++b) {
    const auto h0 = call.input<float>(1).subspan(b * hidden, hidden);
    std::vector<float> h(h0.begin(), h0.end());
    layer.for_each_step(b, [&](size_t x_at, size_t y_at) {
      const auto x = call.input<float>(0).subspan(x_at, layer.inputs);
      const std::vector<float> before = h;
      for (size_t j = 0; j < hidden; ++j) {
        const auto of_x = [&](size_t index) {
          const size_t row = index * hidden + j;
          return product(call.input<float>(2), x, row) + bias(call, 4, row);
        };
        const auto of_h = [&](size_t index) {
          const size_t row = index * hidden + j;
          return product(call.input<float>(3), before, row) + bias(call, 5, row);
        };
        const double reset = sigmoid(of_x(0) + of_h(0));
        const double keep = sigmoid(of_x(1) + of_h(1));
        const double fresh = std::tanh(of_x(2) + reset * of_h(2));
        h[j] = static_cast<float>((1 - keep) * fresh + keep * static_cast<double>(before[j]));
        call.result<float>()[y_at + j] = h[j];
      }
    });
  }
}

void eval_rnn(const Call& call) {
  const Layer layer(call);
  const size_t hidden = layer.hidden;
  const bool relu = call.integer("relu") != 0;
  for (size_t b = 0; b < layer.batch; ++b) {
    const auto h0 = call.input<float>(1).subspan(b * hidden, hidden);
    std::vector<float> h(h0.begin(), h0.end());
    layer.for_each_step(b, [&](size_t x_at, size_t y_at) {
      const auto x = call.input<float>(0).subspan(x_at, layer.inputs);
      const std::vector<float> before = h;
      for (size_t j = 0; j < hidden; ++j) {
        const double sum = product(call.input<float>(2), x, j) +
                           product(call.input<float>(3), before, j) + bias(call, 4, j) +
                           bias(call, 5, j);
        h[j] = static_cast<float>(relu ? std::max(sum, 0.0) : std::tanh(sum));
        call.result<float>()[y_at + j] = h[j];
      }
    });
  }
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

/// Helpers shared by the integer layers. The biases are the operands after w_hh.
template <typename Code>
class Gates {
 public:
  Gates(const Call& call, size_t w_ih, size_t biases)
      : call_(call),
        w_ih_(w_ih),
        mult_(w_ih + 2 + biases),
        rows_(static_cast<size_t>(call.shape(w_ih)[0])) {}

  /// The contribution of x alone or h alone, without bias.
  int64_t of_x(std::span<const Code> x, size_t row) const {
    return scaled(x, call_.input<int8_t>(w_ih_), row, call_.integer("x_zp"), 0);
  }
  int64_t of_h(std::span<const Code> h, size_t row) const {
    return scaled(h, call_.input<int8_t>(w_ih_ + 1), row, call_.integer("h_zp"), 1);
  }
  int64_t bias(size_t which, size_t row) const {
    return call_.input<int32_t>(w_ih_ + 2 + which)[row];
  }

  int64_t tanh(int64_t v) const {
    const auto table = call_.input<int16_t>(mult_ + 2);
    const size_t piece = static_cast<size_t>((v + 32768) / 128);
    const int64_t part = (v + 32768) % 128;
    const int64_t low = table[piece];
    return low + floor_divide((table[piece + 1] - low) * part + 64, 128);
  }
  int64_t sigmoid(int64_t v) const { return (32768 + tanh(floor_divide(v, 2))) / 2; }

  Code output(int64_t value) const { return leaving(value, "h"); }
  Code cell(int64_t value) const { return leaving(value, "y"); }

 private:
  Code leaving(int64_t value, const std::string& name) const {
    const int64_t scaled = requantize(value, call_.integer(name + "_mult"),
                                      call_.integer(name + "_shift"), Rounding::kDouble);
    return static_cast<Code>(clamp(wrap32(scaled + call_.integer(name + "_zp")),
                                   std::numeric_limits<Code>::min(),
                                   std::numeric_limits<Code>::max()));
  }

  int64_t scaled(std::span<const Code> x, std::span<const int8_t> w, size_t row, int64_t zp,
                 size_t side) const {
    int64_t sum = 0;
    for (size_t k = 0; k < x.size(); ++k) sum += (x[k] - zp) * w[row * x.size() + k];
    const size_t entries = static_cast<size_t>(call_.shape(mult_)[1]);
    const size_t entry = side * entries + row / (rows_ / entries);
    const int32_t mult = call_.input<int32_t>(mult_)[entry];
    const int32_t shift = call_.input<int32_t>(mult_ + 1)[entry];
    if (sizeof(Code) == 1) return requantize(sum, mult, shift, Rounding::kDouble);
    // The 64-bit sum is saturated to 32 bits.
    return saturate32(requantize64(sum, mult, shift));
  }

  const Call& call_;
  size_t w_ih_, mult_, rows_;
};

int64_t blend(int64_t keep, int64_t old, int64_t fresh, int64_t bits) {
  return saturate16(scale_down(keep * old + scale_down(fresh, 15 - bits), 15));
}

template <typename Code>
void integer_lstm(const Call& call) {
  const Layer layer(call);
  const Gates<Code> gates(call, 3, 1);
  const size_t hidden = layer.hidden;
  const int64_t bits = call.integer("c_bits");
  const int64_t which = call.integer("cell");
  for (size_t b = 0; b < layer.batch; ++b) {
    const auto h0 = call.input<Code>(1).subspan(b * hidden, hidden);
    std::vector<Code> h(h0.begin(), h0.end());
    std::vector<int64_t> c(hidden);
    for (size_t j = 0; j < hidden; ++j) {
      const bool wide = call.inputs[2]->dtype == ir::DType::kI16;
      c[j] = wide ? call.input<int16_t>(2)[b * hidden + j]
                  : saturate16(requantize(
                        call.input<int8_t>(2)[b * hidden + j] - call.integer("c0_zp"),
                        call.integer("c0_mult"), call.integer("c0_shift"), Rounding::kDouble));
    }
    layer.for_each_step(b, [&](size_t x_at, size_t y_at) {
      const auto x = call.input<Code>(0).subspan(x_at, layer.inputs);
      const std::vector<Code> before = h;
      for (size_t j = 0; j < hidden; ++j) {
        const auto gate = [&](size_t index) {
          const size_t row = index * hidden + j;
          return saturate16(
              wrap32(gates.of_x(x, row) + gates.of_h(before, row) + gates.bias(0, row)));
        };
        const int64_t fresh = gates.sigmoid(gate(0)) * gates.tanh(gate(2));
        c[j] = blend(gates.sigmoid(gate(1)), c[j], fresh, bits);
        const int64_t seen = gates.tanh(saturate16(scale_down(c[j], bits - 12)));
        h[j] = gates.output(gates.sigmoid(gate(3)) * seen);
        if (which == 0) call.result<Code>()[y_at + j] = h[j];
        if (which == 1) call.result<Code>()[y_at + j] = gates.cell(c[j]);
        if (which == 2) call.result<int16_t>()[y_at + j] = static_cast<int16_t>(c[j]);
      }
    });
  }
}

template <typename Code>
void integer_gru(const Call& call) {
  const Layer layer(call);
  const Gates<Code> gates(call, 2, 2);
  const size_t hidden = layer.hidden;
  const int64_t bits = call.integer("h_bits");
  for (size_t b = 0; b < layer.batch; ++b) {
    const auto h0 = call.input<Code>(1).subspan(b * hidden, hidden);
    std::vector<Code> h(h0.begin(), h0.end());
    std::vector<int64_t> exact(hidden);
    for (size_t j = 0; j < hidden; ++j) {
      exact[j] = saturate16(requantize(h[j] - call.integer("h_zp"), call.integer("h0_mult"),
                                       call.integer("h0_shift"), Rounding::kDouble));
    }
    layer.for_each_step(b, [&](size_t x_at, size_t y_at) {
      const auto x = call.input<Code>(0).subspan(x_at, layer.inputs);
      const std::vector<Code> before = h;
      for (size_t j = 0; j < hidden; ++j) {
        const auto of_x = [&](size_t index) {
          return wrap32(gates.of_x(x, index * hidden + j) + gates.bias(0, index * hidden + j));
        };
        const auto of_h = [&](size_t index) {
          return wrap32(gates.of_h(before, index * hidden + j) + gates.bias(1, index * hidden + j));
        };
        const int64_t reset = gates.sigmoid(saturate16(wrap32(of_x(0) + of_h(0))));
        const int64_t keep = gates.sigmoid(saturate16(wrap32(of_x(1) + of_h(1))));
        const int64_t past = scale_down(reset * saturate16(of_h(2)), 15);
        const int64_t fresh = gates.tanh(saturate16(saturate16(of_x(2)) + past));
        exact[j] = blend(keep, exact[j], (32768 - keep) * fresh, bits);
        h[j] = gates.output(exact[j]);
        call.result<Code>()[y_at + j] = h[j];
      }
    });
  }
}

template <typename Code>
void integer_rnn(const Call& call) {
  const Layer layer(call);
  const Gates<Code> gates(call, 2, 1);
  const size_t hidden = layer.hidden;
  const bool relu = call.integer("relu") != 0;
  for (size_t b = 0; b < layer.batch; ++b) {
    const auto h0 = call.input<Code>(1).subspan(b * hidden, hidden);
    std::vector<Code> h(h0.begin(), h0.end());
    layer.for_each_step(b, [&](size_t x_at, size_t y_at) {
      const auto x = call.input<Code>(0).subspan(x_at, layer.inputs);
      const std::vector<Code> before = h;
      for (size_t j = 0; j < hidden; ++j) {
        const int64_t sum =
            saturate16(wrap32(gates.of_x(x, j) + gates.of_h(before, j) + gates.bias(0, j)));
        h[j] = gates.output(relu ? std::max<int64_t>(sum, 0) : gates.tanh(sum));
        call.result<Code>()[y_at + j] = h[j];
      }
    });
  }
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
