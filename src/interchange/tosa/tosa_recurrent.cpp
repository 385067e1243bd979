// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, unrolled over the time steps (docs/numerics.md, "Recurrent layers"). The graph
// of a layer therefore grows with the sequence length. The products with x for all steps are one
// convolution.

#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using formats::tosa::ConvAttr;
using formats::tosa::DType;
using formats::tosa::Op;
using formats::tosa::Rounding;
using ir::OpKind;
using ir::Shape;

namespace {

/// Gates and cell functions of one layer; the vector of one step is [batch, hidden] in int32.
class Cell {
 public:
  Cell(TosaBuilder& b, const ir::Graph& graph, const ir::Op& op, size_t w_ih, size_t biases)
      : b_(b), graph_(graph), op_(op), w_ih_(w_ih), tables_(w_ih + 2 + biases) {
    const ir::Tensor& points = constant(tables_ + 2);
    table_ = b_.constant(DType::kInt16, points.shape, points.bytes);
    rows_ = constant(w_ih).shape[0];
  }

  [[nodiscard]] const ir::Tensor& constant(size_t i) const {
    return *graph_.value(op_.inputs[i]).constant;
  }

  /// Multiplies x [rows, inputs] by a weight matrix and rescales: [rows, gates * hidden].
  int product(int x, int side, int64_t zero_point) {
    const ir::Tensor& w = constant(w_ih_ + static_cast<size_t>(side));
    const int64_t count = b_.shape(x)[0], in = w.shape[1];
    const int kernel = b_.constant(DType::kInt8, {rows_, 1, 1, in}, w.bytes);
    const int bias = b_.constants32({rows_}, std::vector<int32_t>(static_cast<size_t>(rows_)));
    const int zero = b_.constants8({1}, {static_cast<int32_t>(zero_point)});
    const int acc =
        b_.emit(Op::kConv2d, ConvAttr{{0, 0, 0, 0}, {1, 1}, {1, 1}},
                {b_.reshape(x, {count, 1, 1, in}), kernel, bias, zero, b_.constants8({1}, {0})},
                DType::kInt32, {count, 1, 1, rows_});
    const Rescaling r{multipliers(side), 0, 0, DType::kInt32, Rounding::kDouble};
    return b_.reshape(b_.rescale(acc, r), {count, rows_});
  }

  int bias(size_t which) {
    const auto values = constant(w_ih_ + 2 + which).data<int32_t>();
    return b_.constants32({1, rows_}, {values.begin(), values.end()});
  }

  /// Clamps to the int16 range; the type stays int32.
  int limited(int x) { return b_.min_scalar(b_.max_scalar(x, -32768), 32767); }
  /// Requires values in the int16 range.
  int tanh(int x) {
    const int line =
        b_.emit(Op::kTable, {}, {b_.narrow(x, DType::kInt16), table_}, DType::kInt32, b_.shape(x));
    return b_.down(line, 7, true);
  }
  int sigmoid(int x) { return b_.down(b_.plus(tanh(b_.down(x, 1)), 32768), 1); }
  int half_up(int x, int64_t bits) {
    if (bits == 0) return x;
    return bits > 0 ? b_.down(x, static_cast<int32_t>(bits), true)
                    : b_.times(x, static_cast<int32_t>(int64_t{1} << -bits));
  }
  int blend(int keep, int old, int fresh, int64_t bits) {
    return limited(half_up(b_.add(b_.mul(keep, old), half_up(fresh, 15 - bits)), 15));
  }
  /// Rescales to int8.
  int to_int8_output(int x, const ir::MultiplierKeys& keys, ir::AttrKey<int64_t> zero_point) {
    const Multiplier scale{static_cast<int32_t>(op_.get(keys.mult)),
                           static_cast<int32_t>(op_.get(keys.shift))};
    return b_.rescale(
        x,
        {{scale}, 0, static_cast<int32_t>(op_.get(zero_point)), DType::kInt8, Rounding::kDouble});
  }

 private:
  std::vector<Multiplier> multipliers(int side) const {
    const ir::Tensor& mult = constant(tables_);
    const ir::Tensor& shift = constant(tables_ + 1);
    const int64_t entries = mult.shape[1];
    std::vector<Multiplier> all;
    for (int64_t row = 0; row < rows_; ++row) {
      const auto at = static_cast<size_t>(side * entries + row / (rows_ / entries));
      all.push_back({mult.data<int32_t>()[at], shift.data<int32_t>()[at]});
    }
    return all;
  }

  TosaBuilder& b_;
  const ir::Graph& graph_;
  const ir::Op& op_;
  size_t w_ih_, tables_;
  int table_ = -1;
  int64_t rows_ = 0;
};

}  // namespace

Status TosaLowering::recurrent() {
  if (wide()) return refuse("16-bit activations: their sums need 64 bits");
  const bool lstm = op_->kind == OpKind::qlstm, gru = op_->kind == OpKind::qgru;
  const size_t w_ih = lstm ? 3 : 2;
  for (size_t i = w_ih; i < op_->inputs.size(); ++i) THIMBLE_CHECK(check_constant(i));
  Cell cell(b_, graph_, *op_, w_ih, gru ? 2 : 1);
  const int64_t steps = shape(0)[0], batch = shape(0)[1], in = shape(0)[2];
  const int64_t hidden = result_shape()[2];
  const int of_x =
      cell.product(b_.reshape(logical(0), {steps * batch, in}), 0, zero_point(ir::attr::x_zp));
  int h = b_.reshape(logical(1), {batch, hidden});
  int kept = -1;  // state in 16 bits between steps: c of an lstm, h of a gru
  if (lstm) {
    kept = b_.reshape(logical(2), {batch, hidden});
    if (b_.type(kept) == DType::kInt16) {
      kept = b_.widen(kept);
    } else {
      kept = cell.limited(multiplied(b_.widen(kept, zero_point(ir::attr::c0_zp)),
                                     multiplier(ir::attr::c0_multiplier), Rounding::kDouble));
    }
  } else if (gru) {
    kept = cell.limited(multiplied(b_.widen(h, zero_point(ir::attr::h_zp)),
                                   multiplier(ir::attr::h0_multiplier), Rounding::kDouble));
  }
  std::vector<int> results(static_cast<size_t>(steps), -1);
  const auto gate = [&](int sums, int64_t index) {
    return b_.part(sums, 1, index * hidden, hidden);
  };
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = get(ir::attr::reverse) != 0 ? steps - 1 - i : i;
    const int x_sums = b_.part(of_x, 0, t * batch, batch);
    const int h_sums = cell.product(h, 1, zero_point(ir::attr::h_zp));
    int result = -1;
    if (lstm) {
      const int all = cell.limited(b_.add(b_.add(x_sums, h_sums), cell.bias(0)));
      const int fresh = b_.mul(cell.sigmoid(gate(all, 0)), cell.tanh(gate(all, 2)));
      kept = cell.blend(cell.sigmoid(gate(all, 1)), kept, fresh, get(ir::attr::c_bits));
      const int shown = cell.tanh(cell.limited(cell.half_up(kept, get(ir::attr::c_bits) - 12)));
      h = cell.to_int8_output(b_.mul(cell.sigmoid(gate(all, 3)), shown), ir::attr::h_multiplier,
                              ir::attr::h_zp);
      result = get(ir::attr::cell) == 0 ? h
               : get(ir::attr::cell) == 1
                   ? cell.to_int8_output(kept, ir::attr::y_multiplier, ir::attr::y_zp)
                   : b_.narrow(kept, DType::kInt16);
    } else if (gru) {
      const int x_biased = b_.add(x_sums, cell.bias(0));
      const int h_biased = b_.add(h_sums, cell.bias(1));
      const int all = cell.limited(b_.add(x_biased, h_biased));
      const int reset = cell.sigmoid(gate(all, 0)), keep = cell.sigmoid(gate(all, 1));
      const int scaled_h = cell.half_up(b_.mul(reset, cell.limited(gate(h_biased, 2))), 15);
      const int fresh = cell.tanh(cell.limited(b_.add(cell.limited(gate(x_biased, 2)), scaled_h)));
      const int rest = b_.sub(b_.same_rank(keep, 32768), keep);
      kept = cell.blend(keep, kept, b_.mul(rest, fresh), get(ir::attr::h_bits));
      h = cell.to_int8_output(kept, ir::attr::h_multiplier, ir::attr::h_zp);
      result = h;
    } else {
      const int all = cell.limited(b_.add(b_.add(x_sums, h_sums), cell.bias(0)));
      h = cell.to_int8_output(get(ir::attr::relu) != 0 ? b_.max_scalar(all, 0) : cell.tanh(all),
                              ir::attr::h_multiplier, ir::attr::h_zp);
      result = h;
    }
    results[static_cast<size_t>(t)] = b_.reshape(result, {1, batch, hidden});
  }
  return put(b_.concat(results, 0));
}

}  // namespace thimble::interchange
