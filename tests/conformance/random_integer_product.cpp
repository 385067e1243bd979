// SPDX-License-Identifier: Apache-2.0
#include "random_integer_generator.h"

#include <cmath>

#include "numerics/multiplier.h"

namespace thimble::test {

using ir::Attrs;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

void IntegerGraphGenerator::linear(ValueId x) {
  const int64_t in = shape(x).back();
  const int64_t out = random_.between(1, 10);
  const auto [mult, shift] = multipliers(random_.chance(50) ? out : 1, 0.02);
  const ValueId bias = random_.chance(70) ? constant(small_i32(out)) : ir::kNoValue;
  Attrs attrs = {{ir::attr::x_zp, code()}, {ir::attr::y_zp, code()}};
  set_clamp(&attrs);
  keep(OpKind::qlinear, {x, codes({out, in}), bias, mult, shift}, std::move(attrs), true);
}

void IntegerGraphGenerator::product(ValueId x) {
  if (options_.stock_only || shape(x).size() < 2) return;
  const int64_t transpose_b = random_.between(0, 1);
  ValueId other = random_.chance(50) ? x : pick();
  const int64_t depth = shape(x).back();
  if (random_.chance(50)) {
    const int64_t columns = random_.between(1, 6);
    other = codes(transpose_b != 0 ? Shape{columns, depth} : Shape{depth, columns});
  }
  const auto m = numerics::quantize_multiplier(random_.real(0.2, 1.5) /
                                               (40.0 * std::sqrt(static_cast<double>(depth))));
  Attrs attrs{{ir::attr::transpose_b, transpose_b},
              {ir::attr::a_zp, code()},
              {ir::attr::b_zp, code()},
              {ir::attr::y_zp, code()},
              {ir::attr::mult, int64_t{m.mult}},
              {ir::attr::shift, int64_t{m.shift}}};
  set_clamp(&attrs);
  keep(OpKind::qmatmul, {x, other}, attrs, true);
}

void IntegerGraphGenerator::gathered(OpKind kind, ValueId x) {
  if (options_.stock_only) return;
  const int64_t dim = random_.between(0, static_cast<int64_t>(shape(x).size()) - 1);
  Shape chosen = shape(x);
  chosen[static_cast<size_t>(dim)] = random_.between(1, 5);
  if (kind == OpKind::gather) chosen = {random_.between(1, 5)};
  ir::Tensor index = ir::zeros(ir::DType::kI64, chosen);
  for (int64_t& at : index.data<int64_t>()) at = random_.between(-9, 9);
  keep(kind, {x, constant(std::move(index))}, {{ir::attr::dim, dim}}, false);
}

void IntegerGraphGenerator::recurrent(OpKind kind, ValueId x) {
  if (options_.stock_only || shape(x).size() != 3) return;
  const int64_t gates = kind == OpKind::qgru ? 3 : kind == OpKind::qlstm ? 4 : 1;
  const int64_t hidden = random_.between(1, 6), rows = gates * hidden, inputs = shape(x)[2];
  const Shape state = {1, shape(x)[1], hidden};
  std::vector<ValueId> operands = {x, codes(state)};
  Attrs attrs = {{ir::attr::reverse, random_.between(0, 1)},
                 {ir::attr::x_zp, code()},
                 {ir::attr::h_zp, code()}};
  const auto put = [&](const ir::MultiplierKeys& keys, double real) {
    const auto m = numerics::quantize_multiplier(real);
    attrs.set(keys.mult, int64_t{m.mult});
    attrs.set(keys.shift, int64_t{m.shift});
  };
  const bool relu = kind == OpKind::qrnn && random_.chance(50);
  const int64_t bits = random_.between(8, 15);
  put(ir::attr::h_multiplier, kind == OpKind::qlstm  ? 0x1p-23
                              : kind == OpKind::qgru ? std::ldexp(128, static_cast<int>(-bits))
                              : relu                 ? 0x1p-7
                                                     : 0x1p-8);
  if (kind == OpKind::qrnn) attrs.set(ir::attr::relu, int64_t{relu});
  if (kind == OpKind::qgru) {
    attrs.set(ir::attr::h_bits, bits);
    put(ir::attr::h0_multiplier, std::ldexp(1.0 / 128, static_cast<int>(bits)));
  }
  const bool cell = kind == OpKind::qlstm && random_.chance(50);
  if (kind == OpKind::qlstm) {
    attrs.set(ir::attr::cell, int64_t{cell});
    attrs.set(ir::attr::c_bits, bits);
    const bool wide = random_.chance(50);
    operands.push_back(wide ? constant(random_tensor(random_, ir::DType::kI16, state))
                            : codes(state));
    if (!wide) attrs.set(ir::attr::c0_zp, code());
    if (!wide) put(ir::attr::c0_multiplier, std::ldexp(0.02, static_cast<int>(bits)));
    if (cell) attrs.set(ir::attr::y_zp, code());
    if (cell) put(ir::attr::y_multiplier, std::ldexp(50.0, static_cast<int>(-bits)));
  }
  const bool int4 = kind != OpKind::qrnn && random_.chance(50);
  if (int4) attrs.set(ir::attr::weight_bits, int64_t{4});
  for (const int64_t terms : {inputs, hidden}) {
    ir::Tensor w = random_tensor(random_, ir::DType::kI8, {rows, terms});
    for (int8_t& weight : w.data<int8_t>()) {
      if (int4) weight = static_cast<int8_t>(weight >> 4);
    }
    operands.push_back(int4 ? constant(std::move(w)) : codes({rows, terms}));
  }
  for (int i = 0; i < (kind == OpKind::qgru ? 2 : 1); ++i) {
    operands.push_back(constant(small_i32(rows)));
  }
  const int64_t entries = random_.chance(50) ? rows : gates;
  const auto [mult, shift] = multipliers(2 * entries, 0.3);
  for (const ValueId id : {mult, shift}) {
    ir::Tensor pairs = *graph_.value(id).constant;
    pairs.shape = {2, entries};
    operands.push_back(constant(std::move(pairs)));
  }
  ir::Tensor table = ir::zeros(ir::DType::kI16, {513});
  for (int i = 0; i < 513; ++i) {
    table.data<int16_t>()[static_cast<size_t>(i)] =
        static_cast<int16_t>(std::lround(std::tanh((i - 256) / 32.0) * 32767));
  }
  operands.push_back(constant(std::move(table)));
  keep(kind, std::move(operands), std::move(attrs), true);
}

}  // namespace thimble::test
