// SPDX-License-Identifier: Apache-2.0
#pragma once
// thimble::lstm.f32, gru.f32 and rnn.f32: one layer and direction. Sums of products are accumulated
// in float32, those of w_ih before those of w_hh; gates, c and h are computed in double and rounded
// once. See docs/numerics.md, "Float operators".
//
// Operands: x [T,B,I], h0 [1,B,H], [c0 [1,B,H],] w_ih [gates H, I], w_hh [gates H, H], b_ih?,
// b_hh?, [cell or relu,] reverse, scratch, y [T,B,H]; contiguous. The order of the gates is
// PyTorch's.
//
// The function that adds products is a parameter of the kernels: variants have their own.

#include "abi/params/recurrent.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/args/packed.h"
#include "numerics/float_math.h"

namespace thimble::kernels::float_recurrent {

/// Adds the products of each of `rows` rows of w, `count` elements long, and x to one sum, term by
/// term, then the row's bias. `bias` may be null.
using AddProducts = void(float* sums, const float* w, int32_t rows, const float* x, int32_t count,
                         const float* bias);

/// Positions of the operands, and the sizes that differ between the layers.
struct Signature {
  uint32_t w_ih, reverse;
  int32_t gates, lanes;
  constexpr uint32_t scratch() const { return reverse + 1; }
  constexpr uint32_t y() const { return reverse + 2; }
};
inline constexpr Signature kLstm = {3, 8, 4, abi::kFloatLstmLanes};
inline constexpr Signature kGru = {2, 6, 3, abi::kFloatGruLanes};
inline constexpr Signature kRnn = {2, 7, 1, abi::kFloatRnnLanes};

inline Status check_contiguous(const Tensor& t, uint32_t rank) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kF32));
  if (t.rank != rank) return Status::kBadShape;
  return is_contiguous(t) ? Status::kOk : Status::kBadDimOrder;
}

inline Status check(const Call& call, const Signature& form) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, form.y());
  THIMBLE_RETURN_IF_ERROR(check_contiguous(x, 3));
  THIMBLE_RETURN_IF_ERROR(check_contiguous(y, 3));
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  const int32_t hidden = y.sizes[2];
  for (uint32_t i = 1; i < form.w_ih; ++i) {
    const Tensor& state = tensor(call, i);
    THIMBLE_RETURN_IF_ERROR(check_contiguous(state, 3));
    if (state.sizes[0] != 1 || state.sizes[1] != x.sizes[1] || state.sizes[2] != hidden) {
      return Status::kBadShape;
    }
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const Tensor& w = tensor(call, form.w_ih + i);
    const Tensor& bias = tensor(call, form.w_ih + 2 + i);
    THIMBLE_RETURN_IF_ERROR(check_contiguous(w, 2));
    const int64_t rows = int64_t{form.gates} * hidden;
    if (w.sizes[0] != rows || w.sizes[1] != (i == 0 ? x.sizes[2] : hidden)) {
      return Status::kBadShape;
    }
    if (bias.is_null) continue;
    THIMBLE_RETURN_IF_ERROR(check_contiguous(bias, 1));
    if (bias.sizes[0] != rows) return Status::kBadShape;
  }
  return check_scratch(tensor(call, form.scratch()),
                       abi::float_recurrent_scratch_bytes(form.lanes, hidden));
}

inline double wide(float x) {
  return static_cast<double>(x);
}
inline double gate(float x) {
  return numerics::sigmoid(wide(x));
}

class Layer {
 public:
  Layer(const Call& call, const Signature& form)
      : call_(call),
        form_(form),
        steps_(tensor(call, 0).sizes[0]),
        batch_(tensor(call, 0).sizes[1]),
        inputs_(tensor(call, 0).sizes[2]),
        hidden_(tensor(call, form.y()).sizes[2]),
        lanes_(mutable_floats(tensor(call, form.scratch()))) {}

  /// For each element b of the batch: sets h to h0, calls begin(b), then step(x, y) for each step.
  template <class Begin, class Step>
  void run(float* h, Begin begin, Step step) const {
    const bool reverse = call_.args[form_.reverse].integer != 0;
    for (int32_t b = 0; b < batch_; ++b) {
      memcpy(h, floats(tensor(call_, 1)) + b * hidden_, row_bytes());
      begin(b);
      for (int32_t i = 0; i < steps_; ++i) {
        const int32_t row = (reverse ? steps_ - 1 - i : i) * batch_ + b;
        step(floats(tensor(call_, 0)) + row * inputs_,
             mutable_floats(tensor(call_, form_.y())) + row * hidden_);
      }
    }
  }

  /// Adds the products of rows of operand `w`: 0 for w_ih, 1 for w_hh.
  template <AddProducts& kAdd>
  void add_products(float* sums, uint32_t w, int32_t first_row, int32_t rows,
                    const float* x) const {
    const int32_t count = w == 0 ? inputs_ : hidden_;
    const float* const weights = floats(tensor(call_, form_.w_ih + w)) + first_row * count;
    const Tensor& bias = tensor(call_, form_.w_ih + 2 + w);
    kAdd(sums, weights, rows, x, count, bias.is_null ? nullptr : floats(bias) + first_row);
  }
  /// Sets `count` sums of both products, from gate 0 on.
  template <AddProducts& kAdd>
  void sums(int32_t count, const float* x, const float* h, float* to) const {
    clear(to, count);
    add_products<kAdd>(to, 0, 0, count, x);
    add_products<kAdd>(to, 1, 0, count, h);
  }
  static void clear(float* to, int32_t count) {
    for (int32_t i = 0; i < count; ++i) to[i] = 0;
  }

  int32_t hidden() const { return hidden_; }
  size_t row_bytes() const { return static_cast<size_t>(hidden_) * sizeof(float); }
  float* lane(int32_t i) const { return lanes_ + i * hidden_; }

 private:
  const Call& call_;
  const Signature& form_;
  int32_t steps_, batch_, inputs_, hidden_;
  float* lanes_;
};

inline Status check_lstm(const Call& call) {
  return check(call, kLstm);
}
template <AddProducts& kAdd>
void run_lstm(const Call& call) {
  const Layer layer(call, kLstm);
  const int32_t hidden = layer.hidden();
  const bool returns_cell = call.args[7].integer != 0;
  float* const h = layer.lane(4);
  float* const c = layer.lane(5);
  layer.run(
      h, [&](int32_t b) { memcpy(c, floats(tensor(call, 2)) + b * hidden, layer.row_bytes()); },
      [&](const float* x, float* y) {
        layer.sums<kAdd>(4 * hidden, x, h, layer.lane(0));
        for (int32_t j = 0; j < hidden; ++j) {
          const double cell = gate(layer.lane(1)[j]) * wide(c[j]) +
                              gate(layer.lane(0)[j]) * numerics::tanh(wide(layer.lane(2)[j]));
          c[j] = static_cast<float>(cell);
          h[j] = static_cast<float>(gate(layer.lane(3)[j]) * numerics::tanh(cell));
        }
        memcpy(y, returns_cell ? c : h, layer.row_bytes());
      });
}

inline Status check_gru(const Call& call) {
  return check(call, kGru);
}
template <AddProducts& kAdd>
void run_gru(const Call& call) {
  const Layer layer(call, kGru);
  const int32_t hidden = layer.hidden();
  float* const h = layer.lane(4);
  layer.run(
      h, [](int32_t) {},
      [&](const float* x, float* y) {
        layer.sums<kAdd>(2 * hidden, x, h, layer.lane(0));
        Layer::clear(layer.lane(2), 2 * hidden);
        layer.add_products<kAdd>(layer.lane(2), 0, 2 * hidden, hidden, x);
        layer.add_products<kAdd>(layer.lane(3), 1, 2 * hidden, hidden, h);
        for (int32_t j = 0; j < hidden; ++j) {
          const double keep = gate(layer.lane(1)[j]);
          const double fresh = numerics::tanh(wide(layer.lane(2)[j]) +
                                              gate(layer.lane(0)[j]) * wide(layer.lane(3)[j]));
          h[j] = static_cast<float>((1 - keep) * fresh + keep * wide(h[j]));
        }
        memcpy(y, h, layer.row_bytes());
      });
}

inline Status check_rnn(const Call& call) {
  return check(call, kRnn);
}
template <AddProducts& kAdd>
void run_rnn(const Call& call) {
  const Layer layer(call, kRnn);
  const bool relu = call.args[6].integer != 0;
  float* const h = layer.lane(1);
  layer.run(
      h, [](int32_t) {},
      [&](const float* x, float* y) {
        layer.sums<kAdd>(layer.hidden(), x, h, layer.lane(0));
        for (int32_t j = 0; j < layer.hidden(); ++j) {
          const float sum = layer.lane(0)[j];
          h[j] = relu ? (sum < 0 ? 0 : sum) : static_cast<float>(numerics::tanh(wide(sum)));
        }
        memcpy(y, h, layer.row_bytes());
      });
}

}  // namespace thimble::kernels::float_recurrent
