// SPDX-License-Identifier: Apache-2.0
#include "interchange/tosa.h"

#include <algorithm>

#include "formats/tosa/write.h"
#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

namespace {
constexpr size_t kRankMax = 6;
}

Result<Bytes> to_tosa(const ir::Graph& graph) {
  THIMBLE_TRY(const StatelessGraph core, extract_integer_graph(graph));
  return TosaLowering(core).run();
}

Result<Bytes> to_tosa_fp(const ir::Graph& graph) {
  THIMBLE_TRY(const StatelessGraph core, without_states(graph));
  return TosaLowering(core).run();
}

Result<Bytes> TosaLowering::run() {
  for (const ValueId input : graph_.inputs()) {
    const ir::Value& value = graph_.value(input);
    if (value.type.dtype == ir::DType::kU8) {
      return unsupported("input {}: uint8 cannot be represented in TOSA's integer operators",
                         value.name);
    }
    DimOrder order = Layouts::io_order(value.type);
    const int tensor = b_.input(value.name, tosa_type(value.type.dtype),
                                Layouts::in_order(value.type.shape, order));
    layouts_.put(input, std::move(order), tensor);
  }
  for (const ir::Op& op : graph_.ops()) {
    op_ = &op;
    const ir::Value& value = graph_.value(op.output);
    b_.begin(value.name, op.source.where());
    if (value.type.shape.size() > kRankMax) return refuse("more than 6 dimensions");
    THIMBLE_CHECK(lower());
    b_.name(layouts_.get(op.output, layouts_.existing(op.output)), value.name);
  }
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    b_.output(layouts_.get(graph_.outputs()[i], source_.output_order[i]));
  }
  return formats::tosa::write(b_.finish());
}

Status TosaLowering::lower_other() {
  if (is_float()) return lower_float();
  switch (op_->kind) {
    case OpKind::qmatmul16:
      return matmul();
    case OpKind::qgru:
    case OpKind::qlstm:
    case OpKind::qrnn:
      return recurrent();
    case OpKind::qmul16:
      return multiply();
    case OpKind::qdiv:
      return divide();
    case OpKind::qprelu16:
      return prelu();
    case OpKind::lut16:
      return table16();
    case OpKind::gather_elements:
      return gather_elements();
    case OpKind::qresize_bilinear:
      return resize();
    case OpKind::qadaptive_avg_pool2d:
    case OpKind::adaptive_max_pool2d:
      return adaptive_pool();
    case OpKind::qmean16:
      return mean();
    case OpKind::qcumsum:
      return running_sum();
    case OpKind::qmasked_softmax:
      return softmax();
    case OpKind::qlog_softmax:
      return refuse("its logarithm squares 32-bit numbers bit by bit");
    case OpKind::qlayer_norm:
    case OpKind::qgroup_norm:
    case OpKind::qrms_norm:
      return norm();
    case OpKind::qvariance:
      return variance();
    default:
      return refuse("it has no lowering to integer TOSA operators");
  }
}

// --- accessors for the current operator ---------------------------------------------------------

int TosaLowering::broadcastable(size_t i, const DimOrder& order) {
  const size_t rank = result_shape().size();
  if (shape(i).size() == rank) return operand_in(i, order);
  const Shape padded = with_rank(shape(i), rank);
  const int x = b_.reshape(logical(i), padded);
  if (order == Layouts::logical(rank)) return x;
  const Shape wanted = Layouts::in_order(padded, order);
  if (ir::same_memory(padded, {}, order)) return b_.reshape(x, wanted);
  return b_.transpose(x, {order.begin(), order.end()});
}

formats::tosa::Rounding TosaLowering::rounding() const {
  return single_rounding() ? formats::tosa::Rounding::kSingle : formats::tosa::Rounding::kDouble;
}

int TosaLowering::zero_constant(int64_t zero_point) {
  if (is_float()) return b_.floats({1}, {0});
  return b_.constants(wide() ? DType::kInt16 : DType::kInt8, {1},
                      {wide() ? 0 : static_cast<int32_t>(zero_point)});
}

int TosaLowering::multiplied(int x, Multiplier factor, formats::tosa::Rounding rounding) {
  return b_.rescale(x, {{factor}, 0, 0, DType::kInt32, rounding});
}

int TosaLowering::requantized(int sums, const std::vector<Multiplier>& multipliers, bool narrow) {
  if (is_float()) return sums;
  Rescaling r{multipliers,   0,          static_cast<int32_t>(zero_point(ir::attr::y_zp)),
              result_type(), rounding(), narrow};
  if (narrow) r.rounding = formats::tosa::Rounding::kSingle;
  const int y = b_.rescale(sums, r);
  return has_attr(ir::attr::min) ? b_.clamp(y, get(ir::attr::min), get(ir::attr::max)) : y;
}

}  // namespace thimble::interchange
