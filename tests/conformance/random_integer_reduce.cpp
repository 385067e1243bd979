// SPDX-License-Identifier: Apache-2.0
#include "random_integer_generator.h"

#include <cmath>

#include "numerics/multiplier.h"

namespace thimble::test {

using ir::Attrs;
using ir::OpKind;
using ir::Shape;
using ir::ValueId;

void IntegerGraphGenerator::reduction(OpKind kind, ValueId x) {
  const auto rank = static_cast<int64_t>(shape(x).size());
  std::vector<int64_t> dims;
  const int64_t first = random_.between(0, rank - 1);
  for (int64_t d = first; d <= random_.between(first, rank - 1); ++d) dims.push_back(d);
  if (rank > 2 && random_.chance(20)) dims = {0, rank - 1};
  Attrs attrs = {{ir::attr::dims, dims}, {ir::attr::keepdim, random_.between(0, 1)}};
  if (kind == OpKind::qmean) {
    attrs.set(ir::attr::x_zp, code());
    set_multiplier(&attrs, random_.real(0.02, 0.8));
  } else if (options_.stock_only) {
    return;
  } else if (kind == OpKind::qvariance) {
    set_multiplier(&attrs, random_.real(0.0001, 0.01));
  }
  const bool moves = kind == OpKind::amax || kind == OpKind::amin;
  keep(kind, {x}, std::move(attrs), !moves);
}

void IntegerGraphGenerator::along_dim(OpKind kind, ValueId x) {
  if (options_.stock_only) return;
  Attrs attrs = {{ir::attr::dim, random_.between(0, static_cast<int64_t>(shape(x).size()) - 1)}};
  if (kind == OpKind::argmax) {
    attrs.set(ir::attr::keepdim, random_.between(0, 1));
    attrs.set(ir::attr::smallest, random_.between(0, 1));
  } else {
    attrs.set(ir::attr::x_zp, code());
    set_multiplier(&attrs, random_.real(0.05, 0.8));
  }
  if (!keep(kind, {x}, std::move(attrs), kind == OpKind::qcumsum)) return;
  if (kind != OpKind::argmax) return;
  graph_.add_output(values_.back());  // positions (i64): no operator here reads them
  values_.pop_back();
}

void IntegerGraphGenerator::norm(OpKind kind, ValueId x) {
  if (options_.stock_only || shape(x).size() < 2) return;
  const int64_t rank = static_cast<int64_t>(shape(x).size());
  Attrs attrs = {{ir::attr::int_eps, random_.between(0, 1000)},
                 {ir::attr::eps_shift, random_.between(0, 3)}};
  Shape entries = {shape(x)[1]};
  if (kind == OpKind::qgroup_norm) {
    attrs.set(ir::attr::groups, random_.chance(50) ? entries[0] : 1);
  } else {
    const int64_t dims = random_.between(1, rank);
    attrs.set(ir::attr::last_dims, dims);
    entries.assign(shape(x).end() - dims, shape(x).end());
  }
  std::vector<ValueId> operands = {x, ir::kNoValue};
  if (random_.chance(70)) {
    operands[1] = constant(random_tensor(random_, ir::DType::kI16, entries));
  }
  if (kind == OpKind::qrms_norm) {
    attrs.set(ir::attr::x_zp, code());
  } else {
    ir::Tensor bias = small_i32(ir::element_count(entries));
    bias.shape = entries;
    operands.push_back(random_.chance(70) ? constant(std::move(bias)) : ir::kNoValue);
  }
  set_multiplier(&attrs, random_.real(0.0002, 0.002));
  keep(kind, std::move(operands), std::move(attrs), true);
}

void IntegerGraphGenerator::softmax(OpKind kind, ValueId x) {
  int64_t dim = random_.between(0, static_cast<int64_t>(shape(x).size()) - 1);
  if (kind == OpKind::qmasked_softmax) {
    if (options_.stock_only) return;
    dim = static_cast<int64_t>(shape(x).size()) - 1;  // the operator requires the last one
  }
  if (kind != OpKind::qlog_softmax) {
    const auto m = numerics::quantize_multiplier(random_.real(0.005, 0.5) * (1 << 26));
    const auto diff_min = static_cast<int64_t>(-std::floor(31.0 * (1 << 26) / std::exp2(m.shift)));
    keep(kind, {x},
         {{ir::attr::dim, dim},
          {ir::attr::mult, int64_t{m.mult}},
          {ir::attr::shift, int64_t{m.shift}},
          {ir::attr::diff_min, diff_min}},
         true);
    return;
  }
  if (options_.stock_only) return;
  const double scale = random_.real(0.01, 0.5);
  std::vector<int32_t> table;
  for (int k = 0; k < 256; ++k)
    table.push_back(static_cast<int32_t>(std::lround(std::exp(-k * scale) * (1 << 20))));
  const auto s = numerics::quantize_multiplier(scale * 16);
  const auto l = numerics::quantize_multiplier(std::log(2.0) / 65536.0 * 16);
  keep(kind, {x, constant(ir::make_i32({256}, table))},
       {{ir::attr::dim, dim},
        {ir::attr::scale_mult, int64_t{s.mult}},
        {ir::attr::scale_shift, int64_t{s.shift}},
        {ir::attr::log_mult, int64_t{l.mult}},
        {ir::attr::log_shift, int64_t{l.shift}},
        {ir::attr::y_zp, int64_t{127}}},
       true);
}

}  // namespace thimble::test
