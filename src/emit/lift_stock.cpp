// Stock operators -> IR. Arguments stand where abi/pte_ops.def puts them.

#include "emit/lift_call.h"

namespace thimble::emit {
namespace {

using abi::PteOp;
using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

Result<ValueId> conv(LiftCall* call, bool depthwise) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(ValueId w, call->tensor(1));
  const ir::Shape image = call->graph().type(x).shape;
  const ir::Shape stored = call->graph().type(w).shape;
  if (image.size() != 4 || stored.size() != 4)
    return bad_input("takes images and four-dimensional weights");
  const std::vector<int64_t> dims =
      depthwise ? std::vector<int64_t>{3, 0, 1, 2} : std::vector<int64_t>{0, 3, 1, 2};
  const ir::Value& weights = call->graph().value(w);
  if (!weights.constant) return unsupported("weights are not constant");
  auto logical = std::make_shared<const ir::Tensor>(ir::permuted(*weights.constant, dims));
  w = call->graph().add_constant("w", std::move(logical));
  ValueId bias = ir::kNoValue;
  if (!call->is_none(2)) {
    THIMBLE_TRY(bias, call->tensor(2));
  }
  const size_t at = depthwise ? 7 : 6;  // first argument after the window
  THIMBLE_TRY(const ValueId mult, call->tensor(at + 2));
  THIMBLE_TRY(const ValueId shift, call->tensor(at + 3));
  const std::vector<int64_t> kernel = {call->graph().type(w).shape[2],
                                       call->graph().type(w).shape[3]};
  THIMBLE_TRY(const std::vector<int64_t> pad,
              window_padding(*call, image, call->integers(4), kernel, call->integers(3),
                             call->integers(5)));
  const int64_t per_group = stored[3];
  const int64_t groups = depthwise ? image[1] : per_group == 0 ? 0 : image[1] / per_group;
  return call->graph().add(OpKind::qconv2d, {x, w, bias, mult, shift},
                           {{"stride", call->integers(3)},
                            {"padding", pad},
                            {"dilation", call->integers(5)},
                            {"groups", groups},
                            {"x_zp", -call->integer(at)},
                            {"y_zp", call->integer(at + 1)},
                            {"min", call->integer(at + 4)},
                            {"max", call->integer(at + 5)}});
}

Result<ValueId> linear(LiftCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  ir::Graph& graph = call->graph();
  const int64_t x_offset = call->integer(4);
  ValueId bias = ir::kNoValue;
  if (!call->is_none(2)) {
    THIMBLE_TRY(bias, call->tensor(2));
  } else if (!call->is_none(3)) {
    // kernel_sum = bias + x_offset * sum(w): take the sum out again.
    THIMBLE_TRY(const ValueId sum, call->tensor(3));
    const ir::Value& weights = graph.value(w);
    if (!weights.constant || !graph.value(sum).constant || weights.type.shape.size() != 2) {
      return unsupported("weights are not constant");
    }
    const int64_t in = weights.type.shape[1];
    ir::Tensor values = *graph.value(sum).constant;
    if (values.dtype != ir::DType::kI32 ||
        ir::element_count(values.shape) != weights.type.shape[0]) {
      return bad_input("kernel_sum does not have one int32 per row");
    }
    values.shape = {weights.type.shape[0]};
    const std::span<const int8_t> codes = weights.constant->data<int8_t>();
    for (int64_t o = 0; o < values.shape[0]; ++o) {
      int64_t total = 0;
      for (const int8_t code : codes.subspan(static_cast<size_t>(o * in), static_cast<size_t>(in)))
        total += code;
      int32_t& entry = values.data<int32_t>()[static_cast<size_t>(o)];
      entry = static_cast<int32_t>(entry - x_offset * total);
    }
    bias = graph.add_constant("bias", std::make_shared<const ir::Tensor>(std::move(values)));
  }
  const auto numbers = [&](size_t i) {
    std::vector<int32_t> values;
    for (const int64_t value : call->integers(i)) values.push_back(static_cast<int32_t>(value));
    auto tensor = ir::make_i32({static_cast<int64_t>(values.size())}, values);
    return graph.add_constant(i == 7 ? "mult" : "shift",
                              std::make_shared<const ir::Tensor>(std::move(tensor)));
  };
  if (call->integer(5) != 0) return unsupported("weights have a zero point");
  return graph.add(OpKind::qlinear, {x, w, bias, numbers(7), numbers(8)},
                   {{"x_zp", -x_offset},
                    {"y_zp", call->integer(6)},
                    {"min", call->integer(10)},
                    {"max", call->integer(9)}});
}

Result<ValueId> add(LiftCall* call) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(4));
  return call->graph().add(OpKind::qadd, {a, b},
                           {{"a_zp", call->integer(1)},
                            {"a_mult", call->integer(2)},
                            {"a_shift", call->integer(3)},
                            {"b_zp", call->integer(5)},
                            {"b_mult", call->integer(6)},
                            {"b_shift", call->integer(7)},
                            {"y_zp", call->integer(8)},
                            {"y_mult", call->integer(9)},
                            {"y_shift", call->integer(10)},
                            {"min", call->integer(11)},
                            {"max", call->integer(12)}});
}

Result<ValueId> mul(LiftCall* call) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(2));
  return call->graph().add(OpKind::qmul, {a, b},
                           {{"a_zp", call->integer(1)},
                            {"b_zp", call->integer(3)},
                            {"y_zp", call->integer(4)},
                            {"mult", call->integer(5)},
                            {"shift", call->integer(6)},
                            {"min", int64_t{-128}},
                            {"max", int64_t{127}}});
}

Result<ValueId> pool(LiftCall* call, OpKind kind) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const bool max_pool = kind == OpKind::max_pool2d;
  const std::vector<int64_t> dilation = max_pool ? call->integers(4) : std::vector<int64_t>{1, 1};
  const ir::Shape image = call->graph().type(x).shape;
  THIMBLE_TRY(const std::vector<int64_t> pad,
              window_padding(*call, image, call->integers(3), call->integers(1), call->integers(2),
                             dilation));
  Attrs attrs = {{"kernel", call->integers(1)}, {"stride", call->integers(2)}, {"padding", pad}};
  if (max_pool) attrs.set("dilation", dilation);
  return call->graph().add(kind, {x}, std::move(attrs));
}

Result<ValueId> pad(LiftCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const ir::Type type = call->graph().type(x);
  const std::vector<int64_t> before = call->integers(1);
  const std::vector<int64_t> after = call->integers(2);
  if (type.shape.size() != 4 || before.size() != 4 || after.size() != 4)
    return bad_input("pads four dimensions");
  // Amounts are in memory order, by ExecuTorch's idea of what is channels-last.
  const bool channels_last = type.shape[1] == 1 || (type.shape[2] == 1 && type.shape[3] == 1) ||
                             type.dim_order == ir::channels_last_order();
  const auto logical = [&](const std::vector<int64_t>& v) {
    return channels_last ? std::vector<int64_t>{v[0], v[3], v[1], v[2]} : v;
  };
  return call->graph().add(OpKind::pad, {x},
                           {{"before", logical(before)},
                            {"after", logical(after)},
                            {"value", static_cast<double>(call->integer(3))}});
}

Result<ValueId> cat(LiftCall* call) {
  std::vector<ValueId> values;
  for (const int32_t index : call->tensor_list(0)) {
    THIMBLE_TRY(const ValueId value, call->memory().read(index));
    values.push_back(value);
  }
  return call->graph().add(OpKind::concat, std::move(values), {{"dim", call->integer(1)}});
}

Result<ValueId> unary(LiftCall* call, OpKind kind, Attrs attrs) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  return call->graph().add(kind, {x}, std::move(attrs));
}

}  // namespace

Result<ValueId> lift_stock(PteOp op, LiftCall* call) {
  switch (op) {
    case PteOp::aten_cat:
      return cat(call);
    case PteOp::aten_expand_copy:
      return unary(call, OpKind::expand, {{"shape", call->integers(1)}});
    case PteOp::aten_slice_copy:
      return unary(call, OpKind::slice,
                   {{"dim", call->integer(1)},
                    {"start", call->integer(2)},
                    {"end", call->integer(3)},
                    {"step", call->integer(4)}});
    case PteOp::cortex_m_quantize_per_tensor:
    case PteOp::cortex_m_dequantize_per_tensor:
      return unary(
          call, op == PteOp::cortex_m_quantize_per_tensor ? OpKind::quantize : OpKind::dequantize,
          {{"scale", call->number(1)}, {"zero_point", call->integer(2)}});
    case PteOp::cortex_m_pad:
      return pad(call);
    case PteOp::cortex_m_quantized_activation: {
      THIMBLE_TRY(const ValueId x, call->tensor(0));
      THIMBLE_TRY(const ValueId table, call->tensor(1));
      return call->graph().add(OpKind::lut, {x, table}, {});
    }
    case PteOp::cortex_m_quantized_add:
      return add(call);
    case PteOp::cortex_m_quantized_avg_pool2d:
      return pool(call, OpKind::qavg_pool2d);
    case PteOp::cortex_m_quantized_conv2d:
      return conv(call, false);
    case PteOp::cortex_m_quantized_depthwise_conv2d:
      return conv(call, true);
    case PteOp::cortex_m_quantized_linear:
      return linear(call);
    case PteOp::cortex_m_quantized_max_pool2d:
      return pool(call, OpKind::max_pool2d);
    case PteOp::cortex_m_quantized_mul:
      return mul(call);
    case PteOp::cortex_m_softmax:
      return unary(call, OpKind::qsoftmax,
                   {{"dim", call->integer(1)},
                    {"mult", call->integer(4)},
                    {"shift", call->integer(5)},
                    {"diff_min", call->integer(6)}});
    case PteOp::cortex_m_transpose:
      return unary(call, OpKind::permute, {{"dims", call->integers(1)}});
    case PteOp::dim_order_clone:
      return unary(call, OpKind::copy, {});
    default:
      return unsupported("is not a stock operator");
  }
}

}  // namespace thimble::emit
