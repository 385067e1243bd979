// SPDX-License-Identifier: Apache-2.0
// Decompiles native operators: reads their packed parameters (abi/params).

#include <cstring>

#include "abi/params/arithmetic.h"
#include "abi/params/conv.h"
#include "abi/params/linear.h"
#include "abi/params/pool.h"
#include "abi/params/reduction.h"
#include "abi/params/softmax.h"
#include "abi/pte_ops.h"
#include "emit/decompile_packed.h"
#include "engine/direct.h"

namespace thimble::emit {
namespace {

using abi::PteOp;
using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

Result<ChannelOperands> read_native_channels(DecompilerCall* call, PackedReader* packed,
                                             int64_t count, int64_t scales) {
  THIMBLE_TRY(const std::vector<int32_t> bias, packed->array<int32_t>(count));
  THIMBLE_TRY(const std::vector<int32_t> mult, packed->array<int32_t>(scales));
  THIMBLE_TRY(const std::vector<int8_t> shift, packed->array<int8_t>(scales));
  const std::vector<int32_t> wide(shift.begin(), shift.end());
  return ChannelOperands{call->add_constant("bias", ir::make_i32({count}, bias)),
                         call->add_constant("mult", ir::make_i32({scales}, mult)),
                         call->add_constant("shift", ir::make_i32({scales}, wide))};
}

template <bool kDepthwise>
Result<ValueId> native_conv(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const Bytes* bytes, call->constant(1));
  PackedReader packed(*bytes);
  THIMBLE_TRY(const abi::ConvParams p, packed.header<abi::ConvParams>());
  const ir::Shape image = call->graph().type(x).shape;
  if (image.size() != 4 || p.groups <= 0) return bad_input("is not a convolution of an image");
  const int64_t out = p.out_channels;
  const int64_t per_group = kDepthwise ? 1 : image[1] / p.groups;
  THIMBLE_TRY(const ChannelOperands channels, read_native_channels(call, &packed, out, out));
  ir::Tensor weights;
  weights.dtype = ir::DType::kI8;
  weights.shape = kDepthwise ? ir::Shape{p.kernel_h, p.kernel_w, out}
                             : ir::Shape{out, p.kernel_h, p.kernel_w, per_group};
  for (const int64_t size : weights.shape) {
    if (size < 1 || size > static_cast<int64_t>(bytes->size()))
      return bad_input("its weights have an invalid shape");
  }
  THIMBLE_TRY(const std::vector<int8_t> values,
              packed.array<int8_t>(ir::element_count(weights.shape)));
  weights.bytes.resize(values.size());
  std::memcpy(weights.bytes.data(), values.data(), values.size());
  if (kDepthwise) {
    weights.shape.push_back(1);
    weights = ir::permuted(weights, std::vector<int64_t>{2, 3, 0, 1});
  } else {
    weights = ir::permuted(weights, std::vector<int64_t>{0, 3, 1, 2});
  }
  return add_qconv2d(call, x, call->add_constant("w", std::move(weights)), channels, p, p.groups,
                     -p.x_offset, p.y_offset);
}

Result<ValueId> native_linear(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const Bytes* bytes, call->constant(1));
  PackedReader packed(*bytes);
  THIMBLE_TRY(const abi::LinearParams p, packed.header<abi::LinearParams>());
  THIMBLE_TRY(const ChannelOperands channels,
              read_native_channels(call, &packed, p.out_features, p.scales));
  if (p.in_features < 1 || p.in_features > static_cast<int64_t>(bytes->size())) {
    return bad_input("its weights have an invalid shape");
  }
  const ir::Shape shape = {p.out_features, p.in_features};
  THIMBLE_TRY(const std::vector<int8_t> values, packed.array<int8_t>(ir::element_count(shape)));
  return add_qlinear(call, x, call->add_constant("w", ir::make_i8(shape, values)), channels, p,
                     -p.x_offset, p.y_offset);
}

Result<ValueId> native_add(DecompilerCall* call) {
  THIMBLE_TRY(const abi::AddParams p, header_of<abi::AddParams>(call, 2));
  return build_qadd(call, p);
}

Result<ValueId> native_mul(DecompilerCall* call) {
  THIMBLE_TRY(const abi::MulParams p, header_of<abi::MulParams>(call, 2));
  return build_qmul(call, p);
}

template <OpKind kKind>
Result<ValueId> native_pool(DecompilerCall* call) {
  THIMBLE_TRY(const abi::PoolParams p, header_of<abi::PoolParams>(call, 1));
  if (kKind == OpKind::max_pool2d && (p.min != -128 || p.max != 127)) {
    return unsupported("is a max pool with a clamp");
  }
  return build_pool(call, kKind, p);
}

Result<ValueId> native_mean(DecompilerCall* call) {
  THIMBLE_TRY(const abi::MeanParams p, header_of<abi::MeanParams>(call, 1));
  return build_qmean(call, p);
}

Result<ValueId> native_log_softmax(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  THIMBLE_TRY(const Bytes* bytes, call->constant(1));
  PackedReader packed(*bytes);
  THIMBLE_TRY(const abi::LogSoftmaxParams p, packed.header<abi::LogSoftmaxParams>());
  THIMBLE_TRY(const std::vector<int32_t> table, packed.array<int32_t>(256));
  const auto rank = static_cast<int64_t>(call->graph().type(x).shape.size());
  return call->graph().add(OpKind::qlog_softmax,
                           {x, call->add_constant("exp_table", ir::make_i32({256}, table))},
                           {{ir::attr::dim, rank - 1},
                            {ir::attr::scale_mult, int64_t{p.scale_mult}},
                            {ir::attr::scale_shift, int64_t{p.scale_shift}},
                            {ir::attr::log_mult, int64_t{p.log_mult}},
                            {ir::attr::log_shift, int64_t{p.log_shift}},
                            {ir::attr::y_zp, int64_t{p.y_offset}}});
}

template <OpKind kKind>
Result<ValueId> quantize_or_dequantize(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  return call->graph().add(
      kKind, {x}, {{ir::attr::scale, call->number(1)}, {ir::attr::zero_point, call->integer(2)}});
}

Result<ValueId> native_quantize16(DecompilerCall* call) {
  THIMBLE_TRY(const ValueId x, call->tensor(0));
  return call->graph().add(OpKind::quantize, {x},
                           {{ir::attr::scale, call->number(1)},
                            {ir::attr::zero_point, call->integer(2)},
                            {ir::attr::type, int64_t{2}},  // int16 (ir/ops.def, quantize)
                            {ir::attr::min, int64_t{INT16_MIN}},
                            {ir::attr::max, int64_t{INT16_MAX}}});
}

Result<ValueId> native_direct(PteOp op, DecompilerCall* call) {
  const engine::DirectOp* const direct = engine::direct_op(op);
  if (direct == nullptr) return unsupported("is not a native operator");
  const size_t count = ir::op_info(direct->kind).operands.size();
  std::vector<ValueId> operands;
  for (size_t i = 0; i < count; ++i) {
    THIMBLE_TRY(const ValueId operand, call->tensor_or_none(i));
    operands.push_back(operand);
  }
  Attrs attrs;
  if (direct->params_bytes != 0) {
    THIMBLE_TRY(const Bytes* bytes, call->constant(count));
    THIMBLE_TRY(attrs, engine::attrs_from_params(*direct, *bytes));
  }
  return call->graph().add(direct->kind, std::move(operands), std::move(attrs));
}

}  // namespace

Result<ValueId> decompile_native(PteOp op, DecompilerCall* call) {
  switch (op) {
    case PteOp::thimble_add:
      return native_add(call);
    case PteOp::thimble_add_flat:
      return decompile_add_flat(call);
    case PteOp::thimble_avg_pool2d:
      return native_pool<OpKind::qavg_pool2d>(call);
    case PteOp::thimble_conv2d:
      return native_conv<false>(call);
    case PteOp::thimble_conv2d_dsp:
      return decompile_conv2d_dsp(call);
    case PteOp::thimble_conv2d_mve:
      return decompile_conv2d_mve(call);
    case PteOp::thimble_conv2d_scalar:
      return decompile_conv2d_scalar(call);
    case PteOp::thimble_depthwise_conv2d:
      return native_conv<true>(call);
    case PteOp::thimble_depthwise_dsp:
      return decompile_depthwise_dsp(call);
    case PteOp::thimble_depthwise_mve:
      return decompile_depthwise_mve(call);
    case PteOp::thimble_depthwise_scalar:
      return decompile_depthwise_scalar(call);
    case PteOp::thimble_dequantize:
      return quantize_or_dequantize<OpKind::dequantize>(call);
    case PteOp::thimble_dequantize16:
      return quantize_or_dequantize<OpKind::dequantize>(call);
    case PteOp::thimble_linear:
      return native_linear(call);
    case PteOp::thimble_linear_dsp:
      return decompile_linear_dsp(call);
    case PteOp::thimble_linear_mve:
      return decompile_linear_mve(call);
    case PteOp::thimble_linear_scalar:
      return decompile_linear_scalar(call);
    case PteOp::thimble_log_softmax:
      return native_log_softmax(call);
    case PteOp::thimble_max_pool2d:
      return native_pool<OpKind::max_pool2d>(call);
    case PteOp::thimble_mean:
      return native_mean(call);
    case PteOp::thimble_mul:
      return native_mul(call);
    case PteOp::thimble_quantize:
      return quantize_or_dequantize<OpKind::quantize>(call);
    case PteOp::thimble_quantize16:
      return native_quantize16(call);
    default:
      break;
  }
  if (static_cast<abi::OpType>(abi::info(op).key.types & 15) == abi::OpType::kF32) {
    return decompile_float(op, call);
  }
  if (DecompileFn* const packed = find_packed_op(op)) return packed(call);
  if (DecompileFn* const int4 = find_int4_op(op)) return int4(call);
  return native_direct(op, call);
}

}  // namespace thimble::emit
