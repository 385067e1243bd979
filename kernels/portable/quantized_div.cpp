// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_div in float32, as in ExecuTorch: q = (a - a_zp) / (b - b_zp), and 0 if the
// divisor is zero; y = clamp(round(q * scale) + y_zp, range of the type), halves away from zero.
//
// Operands: a, a_zp, b, b_zp, y_zp, scale, y; int8 or int16, with equal shape and dim_order. In
// place: y may be a or b.

#include "abi/ops/stock.h"
#include "kernels/args/operands.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

bool is_zero_point(int64_t value) {
  return value >= -32768 && value <= 32767;
}

Status check(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& b = tensor(call, 2);
  const Tensor& y = tensor(call, 6);
  THIMBLE_RETURN_IF_ERROR(check_tensor(a));
  if (a.dtype != DType::kI8 && a.dtype != DType::kI16) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_tensor(b, a.dtype));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, a.dtype));
  if (!same_sizes(a, b) || !same_sizes(a, y)) return Status::kBadShape;
  if (!same_layout(a, b) || !same_layout(a, y)) return Status::kBadDimOrder;
  const double scale = call.args[5].number;
  const bool fine = is_zero_point(call.args[1].integer) && is_zero_point(call.args[3].integer) &&
                    is_zero_point(call.args[4].integer) && scale >= 0x1p-126 && scale <= 0x1p126;
  return fine ? Status::kOk : Status::kBadParameter;
}

int32_t round_away(float value) {
  // Every value above this limit is clamped.
  constexpr float kLimit = 0x1p20F;
  const float size = value < 0 ? -value : value;
  if (!(size < kLimit)) return value < 0 ? -(1 << 20) : 1 << 20;
  auto whole = static_cast<int32_t>(size);
  if (size - static_cast<float>(whole) >= 0.5F) ++whole;
  return value < 0 ? -whole : whole;
}

template <class Code>
void divide(const Call& call, int32_t min, int32_t max) {
  const Code* a = static_cast<const Code*>(tensor(call, 0).data);
  const Code* b = static_cast<const Code*>(tensor(call, 2).data);
  Code* y = static_cast<Code*>(tensor(call, 6).data);
  const auto scale = static_cast<float>(call.args[5].number);
  for (int32_t i = 0, count = elements(tensor(call, 6)); i < count; ++i) {
    const int32_t above = a[i] - integer(call, 1);
    const int32_t below = b[i] - integer(call, 3);
    const float q = below == 0 ? 0 : static_cast<float>(above) / static_cast<float>(below);
    const int32_t code = round_away(q * scale) + integer(call, 4);
    y[i] = static_cast<Code>(numerics::clamp(code, min, max));
  }
}

void run(const Call& call) {
  if (tensor(call, 0).dtype == DType::kI8) return divide<int8_t>(call, -128, 127);
  divide<int16_t>(call, -32768, 32767);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_div, check, run);

}  // namespace thimble::kernels
