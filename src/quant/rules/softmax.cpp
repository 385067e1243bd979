// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "numerics/multiplier.h"
#include "quant/fast/stable_math.h"
#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {
constexpr double kLn2 = 0.6931471805599453;

/// Converts int8 probabilities in units of 1/256 to int16 in units of 1/32768. The conversion is
/// exact.
Result<ValueId> widened(RuleCall& call, ValueId probabilities) {
  return call.add(OpKind::rescale, {probabilities},
                  {{ir::attr::x_zp, int64_t{-128}},
                   {ir::attr::mult, int64_t{1} << 30},
                   {ir::attr::shift, int64_t{8}},
                   {ir::attr::wide, int64_t{1}}});
}

/// The kernel supports the last dimension only; another dimension is swapped with it.
Result<ValueId> masked_softmax(RuleCall& call, ValueId x, Attrs attrs) {
  const bool wide = call.plan().wide;
  const ir::Quant narrow = ir::per_tensor(1.0 / 256, -128);
  const int64_t last = static_cast<int64_t>(call.result_type().shape.size()) - 1;
  const int64_t dim = call.op().get(ir::attr::dim);
  if (dim == last) {
    if (!wide) return call.add(OpKind::qmasked_softmax, {x}, attrs);
    THIMBLE_TRY(x, call.add_inner(OpKind::qmasked_softmax, {x}, attrs, "softmax", narrow));
    return widened(call, x);
  }
  std::vector<int64_t> dims(call.result_type().shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[static_cast<size_t>(dim)], dims[static_cast<size_t>(last)]);
  THIMBLE_TRY(x, call.add_inner(OpKind::permute, {x}, {{ir::attr::dims, dims}}, "rows",
                                call.params(0).quant()));
  attrs.set(ir::attr::dim, last);
  THIMBLE_TRY(x, call.add_inner(OpKind::qmasked_softmax, {x}, attrs, "softmax", narrow));
  if (!wide) return call.add(OpKind::permute, {x}, {{ir::attr::dims, dims}});
  THIMBLE_TRY(x, call.add_inner(OpKind::permute, {x}, {{ir::attr::dims, dims}}, "columns", narrow));
  return widened(call, x);
}
}  // namespace

Result<ValueId> softmax_rule(RuleCall& call) {
  const double real = std::min(call.params(0).scale * 0x1p26, 2147483647.0);
  Attrs attrs = call.op().attrs;
  const numerics::Multiplier multiplier = numerics::quantize_multiplier(real);
  attrs.set(ir::attr::mult, int64_t{multiplier.mult});
  attrs.set(ir::attr::shift, int64_t{multiplier.shift});
  const double diff_min = -std::floor(std::ldexp(31.0 * 0x1p26, -multiplier.shift));
  attrs.set(ir::attr::diff_min, static_cast<int64_t>(diff_min));
  THIMBLE_TRY(const ValueId x, call.codes(0));
  if (call.params(0).masked) return masked_softmax(call, x, attrs);
  return call.add(call.plan().wide ? OpKind::qsoftmax16 : OpKind::qsoftmax, {x}, attrs);
}

Result<ValueId> log_softmax_rule(RuleCall& call) {
  const Params& x = call.params(0);
  const Params& y = call.result();
  ir::Tensor table = ir::zeros(ir::DType::kI32, {256});
  for (int k = 0; k < 256; ++k) {
    table.data<int32_t>()[static_cast<size_t>(k)] =
        static_cast<int32_t>(std::nearbyint(stable_exp(-k * x.scale) * 0x1p20));
  }
  Attrs attrs = call.op().attrs;
  attrs.set(ir::attr::y_zp, int64_t{y.zero_point});
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::scale_multiplier, x.scale / y.scale));
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::log_multiplier, kLn2 / (0x1p16 * y.scale)));
  THIMBLE_TRY(const ValueId id, call.codes(0));
  const ValueId table_id = call.constant("exp_table", std::move(table));
  return call.add(OpKind::qlog_softmax, {id, table_id}, attrs);
}

}  // namespace thimble::quant
