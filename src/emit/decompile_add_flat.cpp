// SPDX-License-Identifier: Apache-2.0
// Decompiles thimble::add.packed to qadd or qsub (abi/packed_ops.h).

#include "abi/packed_ops.h"
#include "emit/decompile_packed.h"

namespace thimble::emit {

Result<ir::ValueId> decompile_add_flat(DecompilerCall* call) {
  THIMBLE_TRY(ir::ValueId a, call->tensor(0));
  THIMBLE_TRY(ir::ValueId b, call->tensor(1));
  THIMBLE_TRY(const Bytes* bytes, call->constant(2));
  THIMBLE_TRY(const abi::AddFlat p, PackedReader(*bytes).header<abi::AddFlat>());
  if (p.a_negate != 0 && p.b_negate != 0) return unsupported("a negated sum");
  struct Scale {
    int64_t zero_point, mult, shift;
  };
  Scale first = {p.a_zero_point, int64_t{1} << 30, 0};
  Scale second = {p.b_zero_point, p.b_mult, p.b_shift};
  if (p.a_negate != 0) {
    // In a difference, the subtracted value is the second operand.
    std::swap(a, b);
    std::swap(first, second);
  }
  const bool negates = p.a_negate != 0 || p.b_negate != 0;
  return call->graph().add(negates ? ir::OpKind::qsub : ir::OpKind::qadd, {a, b},
                           {{ir::attr::a_zp, first.zero_point},
                            {ir::attr::a_mult, first.mult},
                            {ir::attr::a_shift, first.shift},
                            {ir::attr::b_zp, second.zero_point},
                            {ir::attr::b_mult, second.mult},
                            {ir::attr::b_shift, second.shift},
                            {ir::attr::y_zp, int64_t{p.y_zero_point}},
                            {ir::attr::y_mult, int64_t{p.y_mult}},
                            {ir::attr::y_shift, int64_t{p.y_shift}},
                            {ir::attr::min, int64_t{p.min}},
                            {ir::attr::max, int64_t{p.max}}});
}

}  // namespace thimble::emit
