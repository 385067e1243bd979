// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/conv_transpose.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kMax = 32767;

int32_t common_divisor(int32_t a, int32_t b) {
  while (b != 0) {
    const int32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool in_range(int32_t value, int32_t low) {
  return value >= low && value <= kMax;
}

/// Checks that all positions fit 32 bits and that the output extent matches the formula.
Status check_side(const Tensor& x, const Tensor& w, const Tensor& y, const abi::TransposedWindow& a,
                  uint32_t side) {
  const int32_t in = x.sizes[2 + side];
  const int32_t kernel = w.sizes[2 + side];
  const int32_t out = y.sizes[2 + side];
  const bool fits = in_range(kernel, 1) && in_range(a.stride.items[side], 1) &&
                    in_range(a.dilation.items[side], 1) && in_range(a.padding.items[side], 0) &&
                    in_range(a.padding.items[side + 2], 0) &&
                    in_range(a.output_padding.items[side], 0);
  if (!fits) return Status::kBadParameter;
  const int64_t last =
      int64_t{in - 1} * a.stride.items[side] + (kernel - 1) * a.dilation.items[side];
  const int64_t cut =
      a.padding.items[side] + a.padding.items[side + 2] - a.output_padding.items[side];
  if (last > (1 << 30) || last + 1 - cut != out) return Status::kBadShape;
  return Status::kOk;
}

}  // namespace

Status check_transposed(const Tensor& x, const Tensor& w, const Tensor& y, DType dtype,
                        const abi::TransposedWindow& window, int32_t groups) {
  const Tensor* const all[] = {&x, &w, &y};
  for (const Tensor* t : all) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, t == &w ? DType::kI8 : dtype));
    if (t->rank != 4) return Status::kBadShape;
  }
  static constexpr uint8_t kWeightOrder[] = {1, 2, 3, 0};
  if (!is_nhwc(x) || !is_nhwc(y) || !has_order(w, kWeightOrder)) return Status::kBadDimOrder;
  const bool lists = window.stride.is_complete() && window.padding.is_complete() &&
                     window.output_padding.is_complete() && window.dilation.is_complete();
  if (!lists) return Status::kBadParameter;
  for (uint32_t side = 0; side < 2; ++side)
    THIMBLE_RETURN_IF_ERROR(check_side(x, w, y, window, side));
  const bool fits = x.sizes[0] == y.sizes[0] && w.sizes[0] == x.sizes[1] &&
                    w.sizes[0] % groups == 0 && int64_t{w.sizes[1]} * groups == y.sizes[1];
  return fits ? Status::kOk : Status::kBadShape;
}

void bind_transposed_axes(const Tensor& x, const Tensor& w, const Tensor& y,
                          const abi::TransposedWindow& window, TransposedAxis (&axes)[2]) {
  for (uint32_t i = 0; i < 2; ++i) {
    TransposedAxis& axis = axes[i];
    axis = {x.sizes[2 + i],
            y.sizes[2 + i],
            w.sizes[2 + i],
            window.stride.items[i],
            window.dilation.items[i],
            window.padding.items[i],
            1,
            1};
    const int32_t divisor = common_divisor(axis.stride, axis.dilation);
    axis.step = axis.stride / divisor;
    axis.back = axis.dilation / divisor;
  }
}

ContributingInputs TransposedAxis::contributing_inputs(int32_t position) const {
  int32_t at = position + pad;  // equals tap * dilation + input * stride
  ContributingInputs found = {0, 0, 0};
  for (; at % stride != 0; at -= dilation) {
    if (++found.tap >= step || at < dilation) return found;
  }
  found.input = at / stride;
  if (found.input >= in) {
    const int32_t beyond = found.input - in + 1;
    const int32_t steps = (beyond + back - 1) / back;
    found.tap += steps * step;
    found.input -= steps * back;
  }
  if (found.tap >= kernel || found.input < 0) return found;
  const int32_t taps = (kernel - 1 - found.tap) / step;
  const int32_t inputs = found.input / back;
  found.count = (taps < inputs ? taps : inputs) + 1;
  return found;
}

}  // namespace thimble::kernels
