// SPDX-License-Identifier: Apache-2.0
// Data movement operators.

#include <algorithm>

#include "interchange/tflite/tflite_lowering.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::Shape;

/// The bytes are equal in any order if only one dimension exceeds 1; else the order must be
/// logical.
Status TfliteLowering::reshape() {
  const Shape& to = result_shape();
  const DimOrder from = layouts_.existing(operand(0));
  if (to.size() == 4 && without_unit_dims(to).size() <= 1 &&
      without_unit_dims(shape(0)).size() <= 1 && !graph_.value(operand(0)).constant) {
    const Shape image = Layouts::in_order(to, Layouts::image());
    return put(reshaped(operand_in(0, from), image), Layouts::image());
  }
  return put(reshaped(logical(0), to));
}

Status TfliteLowering::slice() {
  const DimOrder order = layouts_.existing(operand(0));
  const auto axis = static_cast<size_t>(Layouts::position(order, get(ir::attr::dim)));
  const Shape out = result_shape_in(order);
  const int x = operand_in(0, order);
  const auto rank = static_cast<int64_t>(out.size());
  std::vector<int64_t> begin(out.size(), 0);
  begin[axis] = get(ir::attr::start);
  if (get(ir::attr::step) == 1) {
    return put(
        emit(Op::kSlice, {}, {x, constants({rank}, narrow(begin)), constants({rank}, narrow(out))},
             make_result(out)),
        order);
  }
  std::vector<int64_t> end = out, step(out.size(), 1);
  end[axis] = begin[axis] + (out[axis] - 1) * get(ir::attr::step) + 1;
  step[axis] = get(ir::attr::step);
  return put(emit(Op::kStridedSlice, {},
                  {x, constants({rank}, narrow(begin)), constants({rank}, narrow(end)),
                   constants({rank}, narrow(step))},
                  make_result(out)),
             order);
}

Status TfliteLowering::concat() {
  const DimOrder order = common_order();
  std::vector<int> parts;
  const auto& quant = graph_.type(op_->output).quant;
  for (size_t i = 0; i < op_->inputs.size(); ++i) {
    if (graph_.type(operand(i)).quant != quant && !graph_.value(operand(i)).constant) {
      return refuse("CONCATENATION requires equal scales for all operands");
    }
    parts.push_back(operand_in(i, order));
    at(parts.back()).scale =
        quant ? std::vector<float>{static_cast<float>(quant->scale[0])} : std::vector<float>{};
    if (quant) at(parts.back()).zero_point = {quant->zero_point[0]};
  }
  const int axis = Layouts::position(order, get(ir::attr::dim));
  return put(emit(Op::kConcatenation, formats::tflite::AxisOptions{axis}, parts,
                  make_result(result_shape_in(order))),
             order);
}

/// PAD fills with the zero point; PADV2 fills with any quantized value.
Status TfliteLowering::pad() {
  const DimOrder order = layouts_.existing(operand(0));
  const int x = operand_in(0, order);
  const Shape before = Layouts::in_order(get(ir::attr::before), order);
  const Shape after = Layouts::in_order(get(ir::attr::after), order);
  std::vector<int32_t> pairs;
  for (size_t i = 0; i < before.size(); ++i) {
    pairs.push_back(static_cast<int32_t>(before[i]));
    pairs.push_back(static_cast<int32_t>(after[i]));
  }
  if (order.size() > 4) return refuse("PAD supports at most 4 dimensions");
  const int list = constants({static_cast<int64_t>(order.size()), 2}, pairs);
  const auto value = static_cast<int64_t>(op_->get(ir::attr::value));
  const int made = make_result(result_shape_in(order));
  const bool zero = at(made).zero_point.empty() ? value == 0 : value == at(made).zero_point[0];
  if (zero) {
    emit(Op::kPad, {}, {x, list}, made);
  } else {
    emit(Op::kPadV2, {}, {x, list, scalar_like(made, value)}, made);
  }
  return put(made, order);
}

Status TfliteLowering::expand() {
  const DimOrder order = common_order();
  const Shape out = result_shape_in(order);
  const int sizes = constants({static_cast<int64_t>(out.size())}, narrow(out));
  return put(emit(Op::kBroadcastTo, {}, {broadcastable(0, order), sizes}, make_result(out)), order);
}

/// Consecutive repetition of each element is written as a concatenation of the tensor with itself.
/// Other gathers become GATHER. LiteRT does not support negative positions: constant positions are
/// converted here; for other positions LiteRT reports an error.
Status TfliteLowering::gather() {
  if (profile_.images && resize_or_mirror_pad()) return ok();
  const auto axis = static_cast<int32_t>(get(ir::attr::dim));
  if (const int64_t times = repetitions(graph_, *op_); times > 0) {
    const DimOrder order = layouts_.existing(operand(0));
    const Shape rows = shape_split_after_dim(order);
    const int once = reshaped(operand_in(0, order), rows);
    const std::vector<int> parts(static_cast<size_t>(times), once);
    const int all = emit(Op::kConcatenation, formats::tflite::AxisOptions{2}, parts,
                         make_like(once, {1, rows[1], times, rows[3]}));
    return put(reshaped(all, result_shape_in(order)), order);
  }
  const auto positions = constant_positions(1, shape(0)[static_cast<size_t>(axis)]);
  const int places = positions ? constants(shape(1), *positions) : logical(1);
  return put(emit(Op::kGather, formats::tflite::AxisOptions{axis}, {logical(0), places},
                  make_result(result_shape())));
}

}  // namespace thimble::interchange
