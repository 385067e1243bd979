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
  THIMBLE_TRY(const IntegerGraph core, extract_integer_graph(graph));
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

Status TosaLowering::lower() {
  switch (op_->kind) {
    case OpKind::qconv2d:
    case OpKind::qconv2d16:
      return convolution();
    case OpKind::qconv_transpose2d:
    case OpKind::qconv_transpose2d16:
      return transposed_convolution();
    case OpKind::qlinear:
    case OpKind::qlinear16:
      return linear();
    case OpKind::qmatmul:
    case OpKind::qmatmul16:
      return matmul();
    case OpKind::qgru:
    case OpKind::qlstm:
    case OpKind::qrnn:
      return recurrent();
    case OpKind::qadd:
    case OpKind::qadd16:
    case OpKind::qsub:
    case OpKind::qsub16:
      return add_or_subtract();
    case OpKind::qmul:
    case OpKind::qmul16:
      return multiply();
    case OpKind::qdiv:
      return divide();
    case OpKind::qprelu:
    case OpKind::qprelu16:
      return prelu();
    case OpKind::lut:
      return table();
    case OpKind::lut16:
      return table16();
    case OpKind::maximum:
    case OpKind::minimum:
      return extreme_of_two();
    case OpKind::compare:
      return compare();
    case OpKind::logical_and:
    case OpKind::logical_or:
    case OpKind::logical_not:
      return logical();
    case OpKind::where:
      return where();
    case OpKind::rescale:
      return rescale_codes();
    case OpKind::copy:
      layouts_.alias(operand(0), op_->output);
      return ok();
    case OpKind::reshape:
      return reshape();
    case OpKind::permute:
      return permute();
    case OpKind::slice:
      return slice();
    case OpKind::concat:
      return concat();
    case OpKind::pad:
      return pad();
    case OpKind::expand:
      return expand();
    case OpKind::gather:
      return gather();
    case OpKind::gather_elements:
      return gather_elements();
    case OpKind::qresize_bilinear:
      return resize();
    case OpKind::qavg_pool2d:
    case OpKind::qavg_pool2d16:
    case OpKind::max_pool2d:
    case OpKind::max_pool2d16:
      return pool();
    case OpKind::qadaptive_avg_pool2d:
    case OpKind::adaptive_max_pool2d:
      return adaptive_pool();
    case OpKind::qmean:
    case OpKind::qmean16:
      return mean();
    case OpKind::amax:
    case OpKind::amin:
      return extreme();
    case OpKind::argmax:
      return position_of_extreme();
    case OpKind::qcumsum:
      return running_sum();
    case OpKind::qsoftmax:
    case OpKind::qsoftmax16:
    case OpKind::qmasked_softmax:
      return softmax();
    case OpKind::qlog_softmax:
      return log_softmax();
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

Result<const ir::Tensor*> TosaLowering::constant_content(size_t i) const {
  const ir::Value& value = graph_.value(operand(i));
  if (value.constant) return value.constant.get();
  return refuse(fmt::format("operand {} is not a constant", value.name));
}

int TosaLowering::broadcastable(size_t i, const DimOrder& order) {
  const size_t rank = result_shape().size();
  if (shape(i).size() == rank) return layouts_.get(operand(i), order);
  Shape padded(rank - shape(i).size(), 1);
  padded.insert(padded.end(), shape(i).begin(), shape(i).end());
  const int x = b_.reshape(logical(i), padded);
  if (order == Layouts::logical(rank)) return x;
  const Shape wanted = Layouts::in_order(padded, order);
  if (ir::same_memory(padded, {}, order)) return b_.reshape(x, wanted);
  return b_.transpose(x, {order.begin(), order.end()});
}

Scale TosaLowering::scale(const std::string& name) const {
  return {static_cast<int32_t>(integer(name + "mult")),
          static_cast<int32_t>(integer(name + "shift"))};
}

formats::tosa::Rounding TosaLowering::rounding() const {
  const bool has_choice = ir::op_info(op_->kind).attr("rounding") != nullptr;
  const bool single = has_choice && integer("rounding") == 1;
  return single ? formats::tosa::Rounding::kSingle : formats::tosa::Rounding::kDouble;
}

int64_t TosaLowering::zero_point(std::string_view name) const {
  return ir::op_info(op_->kind).attr(name) ? integer(name) : 0;
}

int TosaLowering::scaled(int x, Scale scale, formats::tosa::Rounding rounding) {
  return b_.rescale(x, {{scale}, 0, 0, DType::kInt32, rounding});
}

int TosaLowering::requantized(int sums, const std::vector<Scale>& scales, bool narrow) {
  Rescaling r{scales,        0,          static_cast<int32_t>(zero_point("y_zp")),
              result_type(), rounding(), narrow};
  if (narrow) r.rounding = formats::tosa::Rounding::kSingle;
  const int y = b_.rescale(sums, r);
  return ir::op_info(op_->kind).attr("min") ? b_.clamp(y, integer("min"), integer("max")) : y;
}

}  // namespace thimble::interchange
