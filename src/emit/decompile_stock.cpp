// SPDX-License-Identifier: Apache-2.0
// Decompiles stock operators. The comment of a function gives the positions of the arguments
// (abi/pte_ops.def has their kinds). Input offsets of conv, linear and batch_matmul are
// -zero_point; quantized_add and quantized_mul have zero points.

#include "abi/pte_ops.h"
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
    THIMBLE_TRY(images.x, call->graph().add(OpKind::permute, {images.x},
                                            {{ir::attr::dims, kToChannelsFirst}}));
    images.in = permuted(images.in, kToChannelsFirst);
    images.out = permuted(images.out, kToChannelsFirst);
    return images;
  }
  [[nodiscard]] Result<ValueId> result(DecompilerCall* call, Result<ValueId> y) const {
    if (!nhwc || !y.ok()) return y;
    return call->graph().add(OpKind::permute, {*y}, {{ir::attr::dims, kToChannelsLast}});
  }
};

/// The constant weights with permuted dimensions.
Result<ValueId> stock_weights(DecompilerCall* call, const std::vector<int64_t>& dims) {
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  const ir::Value& value = call->graph().value(w);
  if (!value.constant) return unsupported("weights are not constant");
  if (value.type.shape.size() != 4) return bad_input("takes four-dimensional weights");
  return call->add_constant("w", ir::permuted(*value.constant, dims));
}

// 0 input, 1 weight, 2 bias, 3 stride, 4 padding, 5 dilation, 6 input_offset, 7 output_offset,
// 8 multipliers, 9 shifts, 10 min, 11 max. Depthwise: 6 depth_multiplier, and the rest one later.
Result<ValueId> stock_conv(DecompilerCall* call, bool depthwise, bool nhwc) {
  THIMBLE_TRY(const Images images, Images::read(call, nhwc));
  THIMBLE_TRY(const ValueId w, stock_weights(call, depthwise ? std::vector<int64_t>{3, 0, 1, 2}
                                                             : std::vector<int64_t>{0, 3, 1, 2}));
  THIMBLE_TRY(const ValueId bias, call->tensor_or_none(2));
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
                                               {{ir::attr::stride, call->integers(3)},
                                                {ir::attr::padding, pad},
                                                {ir::attr::dilation, call->integers(5)},
                                                {ir::attr::groups, groups},
                                                {ir::attr::x_zp, -call->integer(at)},
                                                {ir::attr::y_zp, call->integer(at + 1)},
                                                {ir::attr::min, call->integer(at + 4)},
                                                {ir::attr::max, call->integer(at + 5)}}));
}

// 0 input, 1 weight, 2 bias, 3 stride, 4 padding, 5 output_padding, 6 dilation, 7 input_offset,
// 8 output_offset, 9 multipliers, 10 shifts, 11 min, 12 max
Result<ValueId> stock_transposed_conv(DecompilerCall* call, bool nhwc) {
  THIMBLE_TRY(const Images images, Images::read(call, nhwc));
  THIMBLE_TRY(const ValueId w, stock_weights(call, {3, 0, 1, 2}));
  THIMBLE_TRY(const ValueId bias, call->tensor_or_none(2));
  THIMBLE_TRY(const ValueId mult, call->tensor(9));
  THIMBLE_TRY(const ValueId shift, call->tensor(10));
  const std::vector<int64_t> pad = call->integers(4);
  if (pad.size() != 2) return bad_input("its padding must have two numbers");
  return images.result(
      call,
      call->graph().add(OpKind::qconv_transpose2d, {images.x, w, bias, mult, shift},
                        {{ir::attr::stride, call->integers(3)},
                         {ir::attr::padding, std::vector<int64_t>{pad[0], pad[1], pad[0], pad[1]}},
                         {ir::attr::output_padding, call->integers(5)},
                         {ir::attr::dilation, call->integers(6)},
                         {ir::attr::x_zp, -call->integer(7)},
                         {ir::attr::y_zp, call->integer(8)},
                         {ir::attr::min, call->integer(11)},
                         {ir::attr::max, call->integer(12)}}));
}

/// Returns the bias of a linear: kernel_sum is bias + x_offset * sum(w), and the sum is subtracted.
Result<ValueId> bias_of_kernel_sum(DecompilerCall* call, ValueId w, int64_t x_offset) {
  ir::Graph& graph = call->graph();
  THIMBLE_TRY(const ValueId sum, call->tensor(3));
  const ir::Value& weights = graph.value(w);
  if (!weights.constant || !graph.value(sum).constant || weights.type.shape.size() != 2) {
    return unsupported("weights are not constant");
  }
  const int64_t in = weights.type.shape[1];
  ir::Tensor bias = *graph.value(sum).constant;
  if (bias.dtype != ir::DType::kI32 || ir::element_count(bias.shape) != weights.type.shape[0]) {
    return bad_input("kernel_sum does not have one int32 per row");
  }
  bias.shape = {weights.type.shape[0]};
  const std::span<const int8_t> values = weights.constant->data<int8_t>();
  for (int64_t o = 0; o < bias.shape[0]; ++o) {
    int64_t total = 0;
    for (const int8_t value : values.subspan(static_cast<size_t>(o * in), static_cast<size_t>(in)))
      total += value;
    int32_t& entry = bias.data<int32_t>()[static_cast<size_t>(o)];
    entry = static_cast<int32_t>(entry - x_offset * total);
  }
  return call->add_constant("bias", std::move(bias));
}

// 0 input, 1 weights, 2 bias, 3 kernel_sum, 4 input_offset, 5 filter_offset, 6 output_offset,
// 7 multipliers, 8 shifts, 9 activation_max, 10 activation_min
Result<ValueId> stock_linear(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const ValueId w, call->tensor(1));
  const int64_t x_offset = call->integer(4);
  if (call->integer(5) != 0) return unsupported("weights have a zero point");
  THIMBLE_TRY(ValueId bias, call->tensor_or_none(2));
  if (bias == ir::kNoValue && !call->is_none(3)) {
    THIMBLE_TRY(bias, bias_of_kernel_sum(call, w, x_offset));
  }
  const auto numbers = [&](size_t i, std::string name) {
    std::vector<int32_t> values;
    for (const int64_t value : call->integers(i)) values.push_back(static_cast<int32_t>(value));
    return call->add_constant(std::move(name),
                              ir::make_i32({static_cast<int64_t>(values.size())}, values));
  };
  const ValueId mult = numbers(7, "mult"), shift = numbers(8, "shift");
  return call->graph().add(OpKind::qlinear, {x, w, bias, mult, shift},
                           {{ir::attr::x_zp, -x_offset},
                            {ir::attr::y_zp, call->integer(6)},
                            // quantized_linear has activation_max before activation_min.
                            {ir::attr::min, call->integer(10)},
                            {ir::attr::max, call->integer(9)}});
}

// 0 a, 1 zero_point, 2 multiplier, 3 shift; 4 b, 5 zero_point, 6 multiplier, 7 shift;
// 8 output zero_point, 9 multiplier, 10 shift; 11 min, 12 max (not in earlier releases)
Result<ValueId> stock_add(DecompilerCall* call, bool has_limits) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(4));
  // A negative multiplier means subtraction: scaling the negated value gives the same product.
  const bool subtracts = call->integer(6) < 0;
  return call->graph().add(subtracts ? OpKind::qsub : OpKind::qadd, {a, b},
                           {{ir::attr::a_zp, call->integer(1)},
                            {ir::attr::a_mult, call->integer(2)},
                            {ir::attr::a_shift, call->integer(3)},
                            {ir::attr::b_zp, call->integer(5)},
                            {ir::attr::b_mult, subtracts ? -call->integer(6) : call->integer(6)},
                            {ir::attr::b_shift, call->integer(7)},
                            {ir::attr::y_zp, call->integer(8)},
                            {ir::attr::y_mult, call->integer(9)},
                            {ir::attr::y_shift, call->integer(10)},
                            {ir::attr::min, has_limits ? call->integer(11) : -128},
                            {ir::attr::max, has_limits ? call->integer(12) : 127}});
}

// 0 a, 1 a_offset, 2 b (transposed), 3 b_offset, 4 output_offset, 5 multiplier, 6 shift
Result<ValueId> stock_batch_matmul(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(2));
  return call->graph().add(OpKind::qmatmul, {a, b},
                           {{ir::attr::transpose_b, int64_t{1}},
                            {ir::attr::a_zp, -call->integer(1)},
                            {ir::attr::b_zp, -call->integer(3)},
                            {ir::attr::y_zp, call->integer(4)},
                            {ir::attr::mult, call->integer(5)},
                            {ir::attr::shift, call->integer(6)}});
}

// 0 a, 1 zero_point, 2 b, 3 zero_point, 4 output zero_point, 5 multiplier, 6 shift
Result<ValueId> stock_mul(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId a, call->tensor(0));
  THIMBLE_TRY(const ValueId b, call->tensor(2));
  return call->graph().add(OpKind::qmul, {a, b},
                           {{ir::attr::a_zp, call->integer(1)},
                            {ir::attr::b_zp, call->integer(3)},
                            {ir::attr::y_zp, call->integer(4)},
                            {ir::attr::mult, call->integer(5)},
                            {ir::attr::shift, call->integer(6)},
                            {ir::attr::min, int64_t{-128}},
                            {ir::attr::max, int64_t{127}}});
}

// 0 input, 1 kernel_size, 2 stride, 3 padding; 4 dilation of a max pool
Result<ValueId> stock_pool(DecompilerCall* call, OpKind kind, bool nhwc) {
  THIMBLE_TRY(const Images images, Images::read(call, nhwc));
  const bool max_pool = kind == OpKind::max_pool2d;
  const std::vector<int64_t> dilation = max_pool ? call->integers(4) : std::vector<int64_t>{1, 1};
  THIMBLE_TRY(const std::vector<int64_t> pad,
              window_padding(images.out, images.in, call->integers(3), call->integers(1),
                             call->integers(2), dilation));
  Attrs attrs = {{ir::attr::kernel, call->integers(1)},
                 {ir::attr::stride, call->integers(2)},
                 {ir::attr::padding, pad}};
  if (max_pool) attrs.set(ir::attr::dilation, dilation);
  return images.result(call, call->graph().add(kind, {images.x}, std::move(attrs)));
}

// 0 input, 1 numbers before, 2 numbers after, 3 value
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
                           {{ir::attr::before, logical(before)},
                            {ir::attr::after, logical(after)},
                            {ir::attr::value, static_cast<double>(call->integer(3))}});
}

}  // namespace

Result<ValueId> decompile_stock(PteOp op, DecompilerCall* call) {
  switch (op) {
    case PteOp::cortex_m_maximum:
      return add_op(call, OpKind::maximum, 2);
    case PteOp::cortex_m_minimum:
      return add_op(call, OpKind::minimum, 2);
    case PteOp::cortex_m_quantize_per_tensor:
    case PteOp::cortex_m_dequantize_per_tensor:
      return add_op(
          call, op == PteOp::cortex_m_quantize_per_tensor ? OpKind::quantize : OpKind::dequantize,
          1, {{ir::attr::scale, call->number(1)}, {ir::attr::zero_point, call->integer(2)}});
    case PteOp::cortex_m_pad:
      return stock_pad(call);
    case PteOp::cortex_m_quantized_activation:
      return add_op(call, OpKind::lut, 2);
    case PteOp::cortex_m_quantized_add:
      return stock_add(call, true);
    case PteOp::cortex_m_quantized_add_12:
      return stock_add(call, false);
    case PteOp::cortex_m_quantized_avg_pool2d:
    case PteOp::cortex_m_quantized_avg_pool2d_8:
    case PteOp::cortex_m_quantized_avg_pool2d_9:
      return stock_pool(call, OpKind::qavg_pool2d, false);
    case PteOp::cortex_m_quantized_avg_pool2d_nhwc:
      return stock_pool(call, OpKind::qavg_pool2d, true);
    case PteOp::cortex_m_quantized_batch_matmul:
    case PteOp::cortex_m_quantized_batch_matmul_8:
      return stock_batch_matmul(call);
    case PteOp::cortex_m_quantized_conv2d:
    case PteOp::cortex_m_quantized_conv2d_13:
      return stock_conv(call, false, false);
    case PteOp::cortex_m_quantized_conv2d_nhwc:
      return stock_conv(call, false, true);
    case PteOp::cortex_m_quantized_depthwise_conv2d:
    case PteOp::cortex_m_quantized_depthwise_conv2d_14:
      return stock_conv(call, true, false);
    case PteOp::cortex_m_quantized_depthwise_conv2d_nhwc:
      return stock_conv(call, true, true);
    case PteOp::cortex_m_quantized_div:
      return unsupported("divides in float32, for which the IR has no operator");
    case PteOp::cortex_m_quantized_linear:
      return stock_linear(call);
    case PteOp::cortex_m_quantized_max_pool2d:
      return stock_pool(call, OpKind::max_pool2d, false);
    case PteOp::cortex_m_quantized_max_pool2d_nhwc:
      return stock_pool(call, OpKind::max_pool2d, true);
    case PteOp::cortex_m_quantized_mul:
      return stock_mul(call);
    case PteOp::cortex_m_quantized_transpose_conv2d:
    case PteOp::cortex_m_quantized_transpose_conv2d_14:
      return stock_transposed_conv(call, false);
    case PteOp::cortex_m_quantized_transpose_conv2d_nhwc:
      return stock_transposed_conv(call, true);
    case PteOp::cortex_m_softmax:
      return add_op(call, OpKind::qsoftmax, 1,
                    {{ir::attr::dim, call->dim(1, 0)},
                     {ir::attr::mult, call->integer(4)},
                     {ir::attr::shift, call->integer(5)},
                     {ir::attr::diff_min, call->integer(6)}});
    case PteOp::cortex_m_transpose:
      return add_op(call, OpKind::permute, 1, {{ir::attr::dims, call->integers(1)}});
    default:
      return decompile_aten(op, call);
  }
}

}  // namespace thimble::emit
