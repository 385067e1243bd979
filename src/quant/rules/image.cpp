// SPDX-License-Identifier: Apache-2.0
// Rules for resizing and adaptive pooling of images.

#include <algorithm>
#include <cmath>

#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

/// The tables of one dimension (docs/numerics.md, "Bilinear resizing").
struct Positions {
  ir::Tensor low, weight;
};

Positions positions(const RuleCall& call, size_t dim, double factor) {
  constexpr double kOne = 2048;
  const int64_t count = call.result_type().shape[dim];
  const double in = static_cast<double>(call.type(0).shape[dim]);
  const double out = static_cast<double>(count);
  const bool align_corners = call.op().get(ir::attr::align_corners) != 0;
  const double corners = out > 1 ? (in - 1) / (out - 1) : 0;
  const double step = align_corners ? corners : factor > 0 ? 1 / factor : in / out;
  Positions result{ir::zeros(ir::DType::kI32, {count}), ir::zeros(ir::DType::kI32, {count})};
  for (int64_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(i);
    const double source = std::max(align_corners ? at * step : (at + 0.5) * step - 0.5, 0.0);
    const double low = std::min(std::floor(source), in - 1);
    const double weight = std::floor(std::min(source - low, 1.0) * kOne + 0.5);
    result.low.data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(low);
    result.weight.data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(weight);
  }
  return result;
}

}  // namespace

Result<ValueId> adaptive_avg_pool2d_rule(RuleCall& call) {
  Attrs attrs = call.op().attrs;
  call.set_clamp(attrs);
  THIMBLE_TRY(const ValueId x, call.codes(0, call.result()));
  return call.add(OpKind::qadaptive_avg_pool2d, {x}, attrs);
}

Result<ValueId> resize_bilinear_rule(RuleCall& call) {
  Positions rows = positions(call, 2, call.op().get(ir::attr::scale_h));
  Positions columns = positions(call, 3, call.op().get(ir::attr::scale_w));
  THIMBLE_TRY(const ValueId x, call.codes(0, call.result()));
  const ValueId h_low = call.constant("h_low", std::move(rows.low));
  const ValueId h_weight = call.constant("h_weight", std::move(rows.weight));
  const ValueId w_low = call.constant("w_low", std::move(columns.low));
  const ValueId w_weight = call.constant("w_weight", std::move(columns.weight));
  return call.add(OpKind::qresize_bilinear, {x, h_low, h_weight, w_low, w_weight}, {});
}

}  // namespace thimble::quant
