// Decompiles stock operators. abi/pte_ops.def gives the argument positions.

#include "emit/decompile_call.h"

namespace thimble::emit {
namespace {

using abi::PteOp;
using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

ir::Shape permuted(const ir::Shape& shape, const std::vector<int64_t>& dims) {
  ir::Shape result;
  for (const int64_t dim : dims) result.push_back(shape[static_cast<size_t>(dim)]);
  return result;
}

const std::vector<int64_t> kToChannelsFirst = {0, 3, 1, 2};
const std::vector<int64_t> kToChannelsLast = {0, 2, 3, 1};

/// Operand 0 and the result of an operator on images. Operators with an explicit layout have N, H,
/// W, C as their logical order; the IR has N, C, H, W.
struct Images {
  ValueId x = ir::kNoValue;
  ir::Shape in, out;
  bool nhwc = false;

  static Result<Images> read(DecompilerCall* call, bool nhwc) {
    Images images;
    images.nhwc = nhwc;
    THIMBLE_TRY(images.x, call->tensor(0));
    THIMBLE_TRY(const ir::Type out, call->out_type());
    images.in = call->graph().type(images.x).shape;
    images.out = out.shape;
    if (images.in.size() != 4 || images.out.size() != 4)
      return bad_input("its operand must be an image");
    if (!nhwc) return images;
    THIMBLE_TRY(images.x,
                call->graph().add(OpKind::permute, {images.x}, {{"dims", kToChannelsFirst}}));
    images.in = permuted(images.in, kToChannelsFirst);
    images.out = permuted(images.out, kToChannelsFirst);
    return images;
  }
  [[nodiscard]] Result<ValueId> result(DecompilerCall* call, Result<ValueId> y) const {
    if (!nhwc || !y.ok()) return y;
    return call->graph().add(OpKind::permute, {*y}, {{"dims", kToChannelsLast}});
  }
};

/// The constant weights with permuted dimensions.
Result<ValueId> weights(DecompilerCall* call, const std::vector<int64_t>& dims) {
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  const ir::Value& value = call->graph().value(w);
  if (!value.constant) return unsupported("weights are not constant");
  if (value.type.shape.size() != 4) return bad_input("its weights must be four-dimensional");
  auto logical = std::make_shared<const ir::Tensor>(ir::permuted(*value.constant, dims));
  return call->graph().add_constant("w", std::move(logical));
}

Result<ValueId> conv(DecompilerCall* call, bool depthwise, bool nhwc) {
  THIMBLE_TRY(const Images images, Images::read(call, nhwc));
  THIMBLE_TRY(const ValueId w, weights(call, depthwise ? std::vector<int64_t>{3, 0, 1, 2}
                                                       : std::vector<int64_t>{0, 3, 1, 2}));
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
              window_padding(images.out, images.in, call->integers(4), kernel, call->integers(3),
                             call->integers(5)));
  const int64_t per_group = call->graph().type(w).shape[1];
  const int64_t groups = depthwise ? images.in[1] : per_group == 0 ? 0 : images.in[1] / per_group;
  return images.result(call, call->graph().add(OpKind::qconv2d, {images.x, w, bias, mult, shift},
                                               {{"stride", call->integers(3)},
                                                {"padding", pad},
                                                {"dilation", call->integers(5)},
                                                {"groups", groups},
                                                {"x_zp", -call->integer(at)},
                                                {"y_zp", call->integer(at + 1)},
                                                {"min", call->integer(at + 4)},
                                                {"max", call->integer(at + 5)}}));
}

Result<ValueId> transposed_conv(DecompilerCall* call, bool nhwc) {
  THIMBLE_TRY(const Images images, Images::read(call, nhwc));
  THIMBLE_TRY(const ValueId w, weights(call, {3, 0, 1, 2}));
  ValueId bias = ir::kNoValue;
  if (!call->is_none(2)) {
    THIMBLE_TRY(bias, call->tensor(2));
  }
  THIMBLE_TRY(const ValueId mult, call->tensor(9));
  THIMBLE_TRY(const ValueId shift, call->tensor(10));
  const std::vector<int64_t> pad = call->integers(4);
  if (pad.size() != 2) return bad_input("its padding must have two numbers");
  return images.result(
      call, call->graph().add(OpKind::qconv_transpose2d, {images.x, w, bias, mult, shift},
                              {{"stride", call->integers(3)},
                               {"padding", std::vector<int64_t>{pad[0], pad[1], pad[0], pad[1]}},
                               {"output_padding", call->integers(5)},
                               {"dilation", call->integers(6)},
                               {"x_zp", -call->integer(7)},
                               {"y_zp", call->integer(8)},
                               {"min", call->integer(11)},
                               {"max", call->integer(12)}}));
}

Result<ValueId> stock_linear(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  ir::Graph& graph = call->graph();
  const int64_t x_offset = call->integer(4);
  ValueId bias = ir::kNoValue;
  if (!call->is_none(2)) {
    THIMBLE_TRY(bias, call->tensor(2));
  } else if (!call->is_none(3)) {
    // kernel_sum = bias + x_offset * sum(w): subtract the sum.
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

Result<ValueId> add(DecompilerCall* call, bool has_limits) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(4));
  // A negative multiplier means subtraction: scaling the negated value gives the same product.
  const bool subtracts = call->integer(6) < 0;
  return call->graph().add(subtracts ? OpKind::qsub : OpKind::qadd, {a, b},
                           {{"a_zp", call->integer(1)},
                            {"a_mult", call->integer(2)},
                            {"a_shift", call->integer(3)},
                            {"b_zp", call->integer(5)},
                            {"b_mult", subtracts ? -call->integer(6) : call->integer(6)},
                            {"b_shift", call->integer(7)},
                            {"y_zp", call->integer(8)},
                            {"y_mult", call->integer(9)},
                            {"y_shift", call->integer(10)},
                            {"min", has_limits ? call->integer(11) : -128},
                            {"max", has_limits ? call->integer(12) : 127}});
}

Result<ValueId> batch_matmul(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(2));
  return call->graph().add(OpKind::qmatmul, {a, b},
                           {{"transpose_b", int64_t{1}},
                            {"a_zp", -call->integer(1)},
                            {"b_zp", -call->integer(3)},
                            {"y_zp", call->integer(4)},
                            {"mult", call->integer(5)},
                            {"shift", call->integer(6)}});
}

Result<ValueId> extremum(DecompilerCall* call, OpKind kind) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(1));
  return call->graph().add(kind, {a, b}, {});
}

Result<ValueId> stock_mul(DecompilerCall* call) {
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

Result<ValueId> pool(DecompilerCall* call, OpKind kind, bool nhwc) {
  THIMBLE_TRY(const Images images, Images::read(call, nhwc));
  const bool max_pool = kind == OpKind::max_pool2d;
  const std::vector<int64_t> dilation = max_pool ? call->integers(4) : std::vector<int64_t>{1, 1};
  THIMBLE_TRY(const std::vector<int64_t> pad,
              window_padding(images.out, images.in, call->integers(3), call->integers(1),
                             call->integers(2), dilation));
  Attrs attrs = {{"kernel", call->integers(1)}, {"stride", call->integers(2)}, {"padding", pad}};
  if (max_pool) attrs.set("dilation", dilation);
  return images.result(call, call->graph().add(kind, {images.x}, std::move(attrs)));
}

Result<ValueId> stock_pad(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  const ir::Type type = call->graph().type(x);
  const size_t rank = type.shape.size();
  const std::vector<int64_t> before = call->integers(1);
  const std::vector<int64_t> after = call->integers(2);
  if (rank < 1 || rank > 4 || before.size() != 4 || after.size() != 4)
    return bad_input("its operand must have one to four dimensions, and its padding four numbers");
  // Padding is in memory order, with ExecuTorch's test for channels-last.
  const bool channels_last =
      rank == 4 && (type.shape[1] == 1 || (type.shape[2] == 1 && type.shape[3] == 1) ||
                    type.dim_order == ir::channels_last_order());
  const auto logical = [&](const std::vector<int64_t>& v) {
    if (channels_last) return std::vector<int64_t>{v[0], v[3], v[1], v[2]};
    return std::vector<int64_t>(v.end() - static_cast<std::ptrdiff_t>(rank), v.end());
  };
  return call->graph().add(OpKind::pad, {x},
                           {{"before", logical(before)},
                            {"after", logical(after)},
                            {"value", static_cast<double>(call->integer(3))}});
}

Result<ValueId> stock_unary(DecompilerCall* call, OpKind kind, Attrs attrs) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  return call->graph().add(kind, {x}, std::move(attrs));
}

}  // namespace

Result<ValueId> decompile_stock(PteOp op, DecompilerCall* call) {
  switch (op) {
    case PteOp::cortex_m_maximum:
      return extremum(call, OpKind::maximum);
    case PteOp::cortex_m_minimum:
      return extremum(call, OpKind::minimum);
    case PteOp::cortex_m_quantize_per_tensor:
    case PteOp::cortex_m_dequantize_per_tensor:
      return stock_unary(
          call, op == PteOp::cortex_m_quantize_per_tensor ? OpKind::quantize : OpKind::dequantize,
          {{"scale", call->number(1)}, {"zero_point", call->integer(2)}});
    case PteOp::cortex_m_pad:
      return stock_pad(call);
    case PteOp::cortex_m_quantized_activation: {
      THIMBLE_TRY(const ValueId x, call->tensor(0));
      THIMBLE_TRY(const ValueId table, call->tensor(1));
      return call->graph().add(OpKind::lut, {x, table}, {});
    }
    case PteOp::cortex_m_quantized_add:
      return add(call, true);
    case PteOp::cortex_m_quantized_add_12:
      return add(call, false);
    case PteOp::cortex_m_quantized_avg_pool2d:
    case PteOp::cortex_m_quantized_avg_pool2d_8:
    case PteOp::cortex_m_quantized_avg_pool2d_9:
      return pool(call, OpKind::qavg_pool2d, false);
    case PteOp::cortex_m_quantized_avg_pool2d_nhwc:
      return pool(call, OpKind::qavg_pool2d, true);
    case PteOp::cortex_m_quantized_batch_matmul:
    case PteOp::cortex_m_quantized_batch_matmul_8:
      return batch_matmul(call);
    case PteOp::cortex_m_quantized_conv2d:
    case PteOp::cortex_m_quantized_conv2d_13:
      return conv(call, false, false);
    case PteOp::cortex_m_quantized_conv2d_nhwc:
      return conv(call, false, true);
    case PteOp::cortex_m_quantized_depthwise_conv2d:
    case PteOp::cortex_m_quantized_depthwise_conv2d_14:
      return conv(call, true, false);
    case PteOp::cortex_m_quantized_depthwise_conv2d_nhwc:
      return conv(call, true, true);
    case PteOp::cortex_m_quantized_div:
      return unsupported("divides in float32, for which the IR has no operator");
    case PteOp::cortex_m_quantized_linear:
      return stock_linear(call);
    case PteOp::cortex_m_quantized_max_pool2d:
      return pool(call, OpKind::max_pool2d, false);
    case PteOp::cortex_m_quantized_max_pool2d_nhwc:
      return pool(call, OpKind::max_pool2d, true);
    case PteOp::cortex_m_quantized_mul:
      return stock_mul(call);
    case PteOp::cortex_m_quantized_transpose_conv2d:
    case PteOp::cortex_m_quantized_transpose_conv2d_14:
      return transposed_conv(call, false);
    case PteOp::cortex_m_quantized_transpose_conv2d_nhwc:
      return transposed_conv(call, true);
    case PteOp::cortex_m_softmax:
      return stock_unary(call, OpKind::qsoftmax,
                         {{"dim", call->dim(1, 0)},
                          {"mult", call->integer(4)},
                          {"shift", call->integer(5)},
                          {"diff_min", call->integer(6)}});
    case PteOp::cortex_m_transpose:
      return stock_unary(call, OpKind::permute, {{"dims", call->integers(1)}});
    default:
      return decompile_aten(op, call);
  }
}

}  // namespace thimble::emit
