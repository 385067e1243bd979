// SPDX-License-Identifier: Apache-2.0
#include "random_integer_graph.h"

#include <cmath>
#include <iterator>

#include "ir/dce.h"
#include "numerics/multiplier.h"
#include "random_integer_generator.h"

namespace thimble::test {

using ir::Attrs;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

ir::Graph IntegerGraphGenerator::run() {
  const int inputs = random_.chance(25) ? 2 : 1;
  for (int i = 0; i < inputs; ++i) add_input(i);
  const int64_t states = random_.chance(35) ? random_.between(1, 3) : 0;
  for (int64_t i = 0; i < states; ++i) add_state();
  for (int tries = 0; made_ < options_.ops && tries < options_.ops * 20; ++tries) add_op();
  update_states();
  add_outputs();
  return ir::remove_unused(graph_);
}

ir::Quant IntegerGraphGenerator::quant() {
  const double scale = static_cast<float>(std::exp2(random_.real(-6, 0)));
  return ir::per_tensor(scale, static_cast<int32_t>(random_.between(-128, 127)));
}

ir::DimOrder IntegerGraphGenerator::maybe_channels_last(const Shape& shape) {
  return shape.size() == 4 && random_.chance(30) ? ir::channels_last_order() : ir::DimOrder{};
}

void IntegerGraphGenerator::add_input(int i) {
  Shape shape = {1, random_.between(1, 6), random_.between(1, 7), random_.between(1, 7)};
  if (random_.chance(15)) shape = {random_.between(1, 3), random_.between(1, 12)};
  if (random_.chance(10))
    shape = {random_.between(1, 2), random_.between(1, 5), random_.between(1, 6)};
  if (random_.chance(10)) shape[0] = 2;
  ir::Type type = {ir::DType::kI8, shape, maybe_channels_last(shape), quant()};
  const bool is_float = random_.chance(60);
  if (is_float) {
    type.dtype = ir::DType::kF32;
    type.quant.reset();
  }
  ValueId value = graph_.add_input("x" + std::to_string(i), type);
  if (is_float) {
    const ir::Quant q = quant();
    value = *graph_.add(
        OpKind::quantize, {value},
        {{ir::attr::scale, q.scale[0]}, {ir::attr::zero_point, int64_t{q.zero_point[0]}}});
  }
  values_.push_back(value);
}

void IntegerGraphGenerator::add_state() {
  const Shape like = shape(pick());
  ir::Tensor content = ir::zeros(ir::DType::kI8, like);
  if (random_.chance(60)) content = random_tensor(random_, ir::DType::kI8, like);
  values_.push_back(graph_.add_state("s", std::make_shared<const ir::Tensor>(std::move(content)),
                                     ir::per_tensor(0.5, 3)));
}

void IntegerGraphGenerator::update_states() {
  for (size_t i = 0; i < graph_.states().size(); ++i) {
    const ValueId state = graph_.states()[i].value;
    std::vector<ValueId> fitting;
    for (const ValueId value : values_) {
      if (shape(value) == shape(state)) fitting.push_back(value);
    }
    ValueId next =
        fitting[static_cast<size_t>(random_.between(0, static_cast<int64_t>(fitting.size()) - 1))];
    if (graph_.type(next).quant != graph_.type(state).quant) {
      ir::Graph::ResultHint hint;
      hint.quant = graph_.type(state).quant;
      next = *graph_.add(OpKind::lut, {next, codes({256})}, {}, {}, hint);
    }
    graph_.set_next(i, next);
  }
}

void IntegerGraphGenerator::add_outputs() {
  const int count = random_.chance(30) ? 2 : 1;
  for (int i = 0; i < count; ++i) {
    ValueId value = i == 0 ? values_.back() : pick();
    if (random_.chance(60)) {
      const ir::Quant q = quant();
      value = *graph_.add(
          OpKind::dequantize, {value},
          {{ir::attr::scale, q.scale[0]}, {ir::attr::zero_point, int64_t{q.zero_point[0]}}});
    }
    if (!graph_.is_input(value) && !graph_.is_state(value)) {
      graph_.value(value).type.dim_order = maybe_channels_last(graph_.type(value).shape);
    }
    graph_.add_output(value);
  }
  if (!masks_.empty() && random_.chance(30)) graph_.add_output(masks_.back());
}

ValueId IntegerGraphGenerator::pick() {
  return values_[static_cast<size_t>(random_.between(0, static_cast<int64_t>(values_.size()) - 1))];
}

ValueId IntegerGraphGenerator::constant(ir::Tensor tensor) {
  return graph_.add_constant("c", std::make_shared<const ir::Tensor>(std::move(tensor)));
}

ValueId IntegerGraphGenerator::codes(const Shape& shape) {
  return constant(random_tensor(random_, ir::DType::kI8, shape));
}

std::pair<ValueId, ValueId> IntegerGraphGenerator::multipliers(int64_t count, double magnitude) {
  std::vector<int32_t> mult, shift;
  for (int64_t i = 0; i < count; ++i) {
    const auto m = numerics::quantize_multiplier(magnitude * random_.real(0.2, 1.5));
    mult.push_back(m.mult);
    shift.push_back(m.shift);
  }
  return {constant(ir::make_i32({count}, mult)), constant(ir::make_i32({count}, shift))};
}

void IntegerGraphGenerator::set_clamp(Attrs* attrs) {
  int64_t low = -128, high = 127;
  if (random_.chance(40)) low = random_.between(-128, 0);
  if (random_.chance(30)) high = random_.between(1, 127);
  attrs->set(ir::attr::min, low);
  attrs->set(ir::attr::max, high);
}

bool IntegerGraphGenerator::keep(OpKind kind, std::vector<ValueId> inputs, Attrs attrs,
                                 bool fresh_quant) {
  ir::Graph::ResultHint hint;
  if (fresh_quant) hint.quant = quant();
  Result<ValueId> result = graph_.add(kind, std::move(inputs), std::move(attrs), {}, hint);
  if (!result.ok()) return false;
  if (graph_.type(*result).elements() > 4000 || graph_.type(*result).elements() == 0) return false;
  values_.push_back(*result);
  ++made_;
  return true;
}

void IntegerGraphGenerator::add_op() {
  static constexpr OpKind kKinds[] = {OpKind::qconv2d,
                                      OpKind::qconv2d,
                                      OpKind::qconv2d,
                                      OpKind::qlinear,
                                      OpKind::qadd,
                                      OpKind::qsub,
                                      OpKind::qmul,
                                      OpKind::lut,
                                      OpKind::reshape,
                                      OpKind::permute,
                                      OpKind::slice,
                                      OpKind::concat,
                                      OpKind::pad,
                                      OpKind::expand,
                                      OpKind::copy,
                                      OpKind::qavg_pool2d,
                                      OpKind::max_pool2d,
                                      OpKind::qmean,
                                      OpKind::qsoftmax,
                                      OpKind::qlog_softmax,
                                      OpKind::qgru,
                                      OpKind::qlstm,
                                      OpKind::qrnn,
                                      OpKind::qmatmul,
                                      OpKind::gather,
                                      OpKind::gather_elements,
                                      OpKind::qmasked_softmax,
                                      OpKind::amax,
                                      OpKind::amin,
                                      OpKind::argmax,
                                      OpKind::qcumsum,
                                      OpKind::qvariance,
                                      OpKind::qlayer_norm,
                                      OpKind::qgroup_norm,
                                      OpKind::qrms_norm};
  static constexpr OpKind kChoices[] = {OpKind::compare, OpKind::logical_not, OpKind::maximum,
                                        OpKind::minimum, OpKind::qdiv,        OpKind::qprelu,
                                        OpKind::where};
  if (options_.stock_only && random_.chance(15)) return stock_choice(pick_recent());
  if (!options_.stock_only && random_.chance(15)) {
    return choice(kChoices[random_.between(0, static_cast<int64_t>(std::size(kChoices)) - 1)],
                  pick_recent());
  }
  const OpKind kind = kKinds[random_.between(0, static_cast<int64_t>(std::size(kKinds)) - 1)];
  const ValueId x = pick_recent();
  if (shape(x).empty() && kind != OpKind::lut) return;
  if (!options_.stock_only && random_.chance(25)) return image(x);
  make(kind, x);
}

void IntegerGraphGenerator::make(OpKind kind, ValueId x) {
  switch (kind) {
    case OpKind::qconv2d:
      conv(x);
      break;
    case OpKind::qlinear:
      linear(x);
      break;
    case OpKind::qadd:
    case OpKind::qsub:
    case OpKind::qmul:
      binary(kind, x);
      break;
    case OpKind::lut:
      keep(kind, {x, codes({256})}, {}, true);
      break;
    case OpKind::qavg_pool2d:
    case OpKind::max_pool2d:
      pool(kind, x);
      break;
    case OpKind::amax:
    case OpKind::amin:
    case OpKind::qmean:
    case OpKind::qvariance:
      reduction(kind, x);
      break;
    case OpKind::argmax:
    case OpKind::qcumsum:
      along_dim(kind, x);
      break;
    case OpKind::qlayer_norm:
    case OpKind::qgroup_norm:
    case OpKind::qrms_norm:
      norm(kind, x);
      break;
    case OpKind::qmasked_softmax:
    case OpKind::qsoftmax:
    case OpKind::qlog_softmax:
      softmax(kind, x);
      break;
    case OpKind::qgru:
    case OpKind::qlstm:
    case OpKind::qrnn:
      recurrent(kind, x);
      break;
    case OpKind::qmatmul:
      product(x);
      break;
    case OpKind::gather:
    case OpKind::gather_elements:
      gathered(kind, x);
      break;
    default:
      movement(kind, x);
  }
}

std::vector<int64_t> IntegerGraphGenerator::pair(int64_t low, int64_t high) {
  return {random_.between(low, high), random_.between(low, high)};
}

std::vector<int64_t> IntegerGraphGenerator::padding() {
  const std::vector<int64_t> p = pair(0, 2);
  if (random_.chance(60)) return {p[0], p[1], p[0], p[1]};
  return {p[0], p[1], random_.between(0, 2), random_.between(0, 2)};
}

ir::Tensor IntegerGraphGenerator::small_i32(int64_t count) {
  std::vector<int32_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<int32_t>(random_.between(-5000, 5000)));
  return ir::make_i32({count}, values);
}

void IntegerGraphGenerator::set_multiplier(Attrs* attrs, double real) {
  const auto m = numerics::quantize_multiplier(real);
  attrs->set(ir::attr::y_zp, code());
  attrs->set(ir::attr::mult, int64_t{m.mult});
  attrs->set(ir::attr::shift, int64_t{m.shift});
  set_clamp(attrs);
}

ir::Graph random_integer_graph(uint64_t seed, const IntegerGraphOptions& options) {
  return IntegerGraphGenerator(seed, options).run();
}

}  // namespace thimble::test
