// SPDX-License-Identifier: Apache-2.0
#include "random_integer_generator.h"

#include "ir/infer.h"
#include "numerics/multiplier.h"

namespace thimble::test {

using ir::Attrs;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

ValueId IntegerGraphGenerator::second_operand(ValueId x) {
  if (random_.chance(25)) {
    Shape small = shape(x);
    for (int64_t& size : small) {
      if (random_.chance(50)) size = 1;
    }
    if (!small.empty() && random_.chance(30)) small.erase(small.begin());
    return codes(small);
  }
  std::vector<ValueId> fitting;
  for (const ValueId value : values_) {
    if (shape(value) == shape(x)) fitting.push_back(value);
  }
  if (random_.chance(30)) return pick();
  return fitting[static_cast<size_t>(random_.between(0, static_cast<int64_t>(fitting.size()) - 1))];
}

void IntegerGraphGenerator::binary(OpKind kind, ValueId x) {
  const ValueId other = second_operand(x);
  Attrs attrs = {{ir::attr::a_zp, code()}, {ir::attr::b_zp, code()}, {ir::attr::y_zp, code()}};
  const auto put = [&](const ir::MultiplierKeys& keys, double real) {
    const auto m = numerics::quantize_multiplier(real);
    attrs.set(keys.mult, int64_t{m.mult});
    attrs.set(keys.shift, int64_t{m.shift});
  };
  if (kind == OpKind::qmul) {
    put(ir::attr::multiplier, random_.real(0.001, 0.1));
  } else {
    put(ir::attr::a_multiplier, random_.real(0.05, 0.5));
    put(ir::attr::b_multiplier, random_.real(0.05, 0.5));
    put(ir::attr::y_multiplier, random_.real(0.5, 3) / (1 << 20));
  }
  set_clamp(&attrs);
  const bool swap = random_.chance(30);
  keep(kind, swap ? std::vector<ValueId>{other, x} : std::vector<ValueId>{x, other},
       std::move(attrs), true);
}

ValueId IntegerGraphGenerator::comparable(ValueId x) {
  const ValueId other = second_operand(x);
  if (graph_.value(other).constant) return other;
  ir::Graph::ResultHint hint;
  hint.quant = graph_.type(x).quant;
  return *graph_.add(OpKind::lut, {other, codes({256})}, {}, {}, hint);
}

ValueId IntegerGraphGenerator::mask(ValueId x) {
  if (!masks_.empty() && random_.chance(40)) {
    const ValueId known =
        masks_[static_cast<size_t>(random_.between(0, static_cast<int64_t>(masks_.size()) - 1))];
    if (ir::broadcast_shape(shape(known), shape(x))) return known;
  }
  if (random_.chance(20)) {
    return constant(random_tensor(random_, ir::DType::kBool, shape(x)));
  }
  const auto compared = graph_.add(OpKind::compare, {x, comparable(x)},
                                   {{ir::attr::relation, random_.between(0, 5)}});
  const bool fits = compared.ok() && graph_.type(*compared).elements() <= 4000;
  if (fits) masks_.push_back(*compared);
  return fits ? *compared : constant(random_tensor(random_, ir::DType::kBool, {}));
}

void IntegerGraphGenerator::choice(OpKind kind, ValueId x) {
  switch (kind) {
    case OpKind::compare:
    case OpKind::logical_not: {
      const ValueId a = mask(x);
      const ValueId b = mask(x);
      const OpKind both = random_.chance(50) ? OpKind::logical_and : OpKind::logical_or;
      const bool one = kind == OpKind::logical_not;
      const auto made = one ? graph_.add(kind, {a}, {}) : graph_.add(both, {a, b}, {});
      if (made.ok() && graph_.type(*made).elements() <= 4000) masks_.push_back(*made);
      return;
    }
    case OpKind::qdiv:
    case OpKind::qprelu:
      return scaled_pair(kind, x);
    case OpKind::where:
      keep(kind, {mask(x), x, comparable(x)}, {}, false);
      return;
    default:
      keep(kind, {x, comparable(x)}, {}, false);
  }
}

void IntegerGraphGenerator::stock_choice(ValueId x) {
  const ValueId other = comparable(x);
  if (random_.chance(60)) {
    const OpKind kind = random_.chance(50) ? OpKind::maximum : OpKind::minimum;
    keep(kind, {x, other}, {}, false);
    return;
  }
  Shape small = shape(x);
  if (random_.chance(50) && !small.empty()) small.erase(small.begin());
  const ValueId condition = constant(random_tensor(random_, ir::DType::kBool, small));
  keep(OpKind::where, {condition, x, other}, {}, false);
}

void IntegerGraphGenerator::scaled_pair(OpKind kind, ValueId x) {
  const bool divides = kind == OpKind::qdiv;
  const auto m = numerics::quantize_multiplier(divides ? random_.real(1, 60) / (1 << 20)
                                                       : random_.real(0.2, 2));
  const auto w = numerics::quantize_multiplier(random_.real(0.002, 0.02));
  Attrs attrs = {{divides ? ir::attr::a_zp : ir::attr::x_zp, code()},
                 {divides ? ir::attr::b_zp : ir::attr::w_zp, code()},
                 {ir::attr::y_zp, code()},
                 {ir::attr::mult, int64_t{m.mult}},
                 {ir::attr::shift, int64_t{m.shift}}};
  if (!divides) {
    attrs.set(ir::attr::w_mult, int64_t{w.mult});
    attrs.set(ir::attr::w_shift, int64_t{w.shift});
  }
  set_clamp(&attrs);
  keep(kind, {x, second_operand(x)}, std::move(attrs), true);
}

}  // namespace thimble::test
