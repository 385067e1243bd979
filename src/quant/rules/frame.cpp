// SPDX-License-Identifier: Apache-2.0
// Rules for samples and frames of sensors. Scale and zero point of the results are those of the
// elements, so that no arithmetic is needed (assign.h, fixed_params).

#include <algorithm>
#include <cmath>

#include "quant/assign.h"
#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

/// PyTorch's quantizer may have chosen other parameters.
Status check_own_params(const RuleCall& call, const Params& own) {
  if (call.result().fits(own)) return ok();
  return call.located(unsupported(
      "PyTorch quantized the input with scale {} and zero point {}, the bytes have {} and {}: "
      "export the float model, or leave out --preprocess",
      call.result().scale, call.result().zero_point, own.scale, own.zero_point));
}

/// The tables of one dimension, with the first row or column of the crop.
struct Source {
  ir::Tensor low, weight;
};
Source source_of(int64_t first, int64_t in, int64_t out) {
  constexpr double kOne = 2048;
  Source result{ir::zeros(ir::DType::kI32, {out}), ir::zeros(ir::DType::kI32, {out})};
  const double step = static_cast<double>(in) / static_cast<double>(out);
  for (int64_t i = 0; i < out; ++i) {
    const double at = std::max((static_cast<double>(i) + 0.5) * step - 0.5, 0.0);
    const auto low = std::min(static_cast<int64_t>(std::floor(at)), in - 1);
    const double weight = std::floor((at - static_cast<double>(low)) * kOne + 0.5);
    result.low.data<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(first + low);
    // After the last row or column, the image continues with the same pixels.
    result.weight.data<int32_t>()[static_cast<size_t>(i)] =
        low == in - 1 ? 0 : static_cast<int32_t>(std::min(weight, kOne));
  }
  return result;
}

}  // namespace

Result<ValueId> unpack_rule(RuleCall& call) {
  const bool wide = call.type(0).dtype == ir::DType::kI16;
  THIMBLE_CHECK(check_own_params(call, *fixed_params(call.op(), wide)));
  THIMBLE_TRY(const ValueId x, call.codes(0));
  ir::Quant quant = call.result().quant();
  if (!wide) quant.zero_point[0] += 128;
  call.set_input_quant(x, std::move(quant));
  return call.add(wide ? OpKind::copy : OpKind::flip_sign, {x}, {});
}

Result<ValueId> camera_image_rule(RuleCall& call) {
  THIMBLE_CHECK(check_own_params(call, *fixed_params(call.op(), false)));
  const auto& crop = call.op().get(ir::attr::crop);
  const auto& size = call.op().get(ir::attr::size);
  Source rows = source_of(crop[0], crop[2], size[0]);
  Source columns = source_of(crop[1], crop[3], size[1]);
  THIMBLE_TRY(const ValueId x, call.codes(0));
  const ValueId h_low = call.constant("h_low", std::move(rows.low));
  const ValueId h_weight = call.constant("h_weight", std::move(rows.weight));
  const ValueId w_low = call.constant("w_low", std::move(columns.low));
  const ValueId w_weight = call.constant("w_weight", std::move(columns.weight));
  return call.add(OpKind::qcamera_image, {x, h_low, h_weight, w_low, w_weight},
                  {{ir::attr::format, call.op().get(ir::attr::format)},
                   {ir::attr::swap, call.op().get(ir::attr::swap)}});
}

}  // namespace thimble::quant
