// SPDX-License-Identifier: Apache-2.0
// Packed sums of operands with the same memory layout: abi::AddFlat.

#include "abi/ops/arithmetic.h"
#include "abi/packed_ops.h"
#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/fast.h"
#include "engines/cortex_m/compiler/packed.h"

namespace thimble::engine::cortex_m {
namespace {

struct Operand {
  size_t index;
  int64_t mult, shift;
  int16_t zero_point;
  bool negate;

  [[nodiscard]] bool is_half() const { return mult == 1 << 30 && shift == 0; }
};

Operand flat_operand(const ir::Op& op, size_t index) {
  const ir::MultiplierKeys& keys = index == 0 ? ir::attr::a_multiplier : ir::attr::b_multiplier;
  const int64_t zero_point = op.get(index == 0 ? ir::attr::a_zp : ir::attr::b_zp);
  return {index, op.get(keys.mult), op.get(keys.shift), static_cast<int16_t>(zero_point),
          index == 1 && op.kind == ir::OpKind::qsub};
}

}  // namespace

std::optional<KernelCall> mve_add_flat(const ir::Graph& graph, const ir::Op& op) {
  const ir::Type& y = graph.type(op.output);
  for (const ir::ValueId input : op.inputs) {
    const ir::Type& type = graph.type(input);
    const bool alike = type.shape == y.shape && type.dim_order == y.dim_order;
    if (!alike || graph.value(input).constant) return {};
  }
  Operand a = flat_operand(op, 0);
  Operand b = flat_operand(op, 1);
  if (!a.is_half()) std::swap(a, b);
  const int64_t y_shift = op.get(ir::attr::y_shift);
  if (!a.is_half() || b.shift > 0 || b.shift < -31 || y_shift >= 0 || y_shift < -31) return {};
  abi::AddFlat params = {};
  params.count = static_cast<uint32_t>(ir::element_count(y.shape));
  params.b_mult = static_cast<int32_t>(b.mult);
  params.y_mult = static_cast<int32_t>(op.get(ir::attr::y_mult));
  params.a_zero_point = a.zero_point;
  params.b_zero_point = b.zero_point;
  params.y_zero_point = static_cast<int16_t>(op.get(ir::attr::y_zp));
  params.min = static_cast<int16_t>(op.get(ir::attr::min));
  params.max = static_cast<int16_t>(op.get(ir::attr::max));
  params.b_shift = static_cast<int8_t>(b.shift);
  params.y_shift = static_cast<int8_t>(y_shift);
  params.a_negate = a.negate ? 1 : 0;
  params.b_negate = b.negate ? 1 : 0;
  KernelCall call;
  call.op = abi::PteOp::thimble_add_flat;
  call.arguments = {ValueRef{op.inputs[a.index]}, ValueRef{op.inputs[b.index]},
                    packed_constant<abi::op_info::thimble_add_flat>(params)};
  call.in_place = 0;
  return call;
}

}  // namespace thimble::engine::cortex_m
