// SPDX-License-Identifier: Apache-2.0
// Decompiles Thimble's operators on float32 (abi/ops/float.def), whose arguments are those of the
// IR operators.

#include "abi/pte_ops.h"
#include "emit/decompile_call.h"

namespace thimble::emit {
namespace {

using abi::PteOp;
using ir::OpKind;
using ir::ValueId;

/// Adds an operator with the first `operands` arguments, which may be None after the first one.
Result<ValueId> with_optional(DecompilerCall* call, OpKind kind, size_t operands, ir::Attrs attrs) {
  std::vector<ValueId> values;
  for (size_t i = 0; i < operands; ++i) {
    THIMBLE_TRY(const ValueId value, call->tensor_or_none(i));
    values.push_back(value);
  }
  return call->graph().add(kind, std::move(values), std::move(attrs));
}

}  // namespace

Result<ValueId> decompile_float(PteOp op, DecompilerCall* call) {
  switch (op) {
    case PteOp::thimble_conv2d_f32:
      return with_optional(call, OpKind::conv2d, 3,
                           {{ir::attr::stride, call->integers(3)},
                            {ir::attr::padding, call->integers(4)},
                            {ir::attr::dilation, call->integers(5)},
                            {ir::attr::groups, call->integer(6)}});
    case PteOp::thimble_linear_f32:
      return with_optional(call, OpKind::linear, 3, {});
    case PteOp::thimble_group_norm_f32:
      return with_optional(
          call, OpKind::group_norm, 3,
          {{ir::attr::groups, call->integer(3)}, {ir::attr::eps, call->number(4)}});
    case PteOp::thimble_layer_norm_f32:
      return with_optional(
          call, OpKind::layer_norm, 3,
          {{ir::attr::last_dims, call->integer(3)}, {ir::attr::eps, call->number(4)}});
    case PteOp::thimble_rms_norm_f32:
      return with_optional(
          call, OpKind::rms_norm, 2,
          {{ir::attr::last_dims, call->integer(2)}, {ir::attr::eps, call->number(3)}});
    case PteOp::thimble_power_spectrum_f32:
      return with_optional(call, OpKind::power_spectrum, 2, {{ir::attr::hop, call->integer(2)}});
    case PteOp::thimble_max_pool2d_f32:
      return with_optional(call, OpKind::max_pool2d, 1,
                           {{ir::attr::kernel, call->integers(1)},
                            {ir::attr::stride, call->integers(2)},
                            {ir::attr::padding, call->integers(3)},
                            {ir::attr::dilation, call->integers(4)}});
    case PteOp::thimble_lstm_f32:
      return with_optional(
          call, OpKind::lstm, 7,
          {{ir::attr::cell, call->integer(7)}, {ir::attr::reverse, call->integer(8)}});
    case PteOp::thimble_gru_f32:
      return with_optional(call, OpKind::gru, 6, {{ir::attr::reverse, call->integer(6)}});
    case PteOp::thimble_rnn_f32:
      return with_optional(
          call, OpKind::rnn, 6,
          {{ir::attr::relu, call->integer(6)}, {ir::attr::reverse, call->integer(7)}});
    default:
      return unsupported("is not an operator on float32");
  }
}

}  // namespace thimble::emit
