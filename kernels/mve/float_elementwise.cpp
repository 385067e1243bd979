// SPDX-License-Identifier: Apache-2.0
// aten::add, sub, mul and clamp of float32 on Helium, four elements at a time.

#include "abi/ops/aten.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/float_elementwise.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/float_tile.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kLanes = 4;

/// Sets y[i] = f(a[i], b[i]). Rows whose elements are neighbours, of b also one repeated element,
/// have a loop of their own; the rest of a row and all other rows are gathered.
template <class Function>
void combine_row(const StrideIterator::Axis& row, const float* a, const float* b, float* y,
                 Function f) {
  int32_t left = row.extent;
  if (row.step[0] == 1 && row.step[1] == 1) {
    if (row.step[2] == 1) {
      for (; left >= kLanes; left -= kLanes) {
        vstrwq_f32(y, f(vldrwq_f32(a), vldrwq_f32(b)));
        a += kLanes;
        b += kLanes;
        y += kLanes;
      }
    } else if (row.step[2] == 0) {
      const float32x4_t same = vdupq_n_f32(*b);
      for (; left >= kLanes; left -= kLanes) {
        vstrwq_f32(y, f(vldrwq_f32(a), same));
        a += kLanes;
        y += kLanes;
      }
    }
  }
  const mve::StrideLoad load_a(row.step[1]), load_b(row.step[2]), out(row.step[0]);
  for (; left > 0; left -= kLanes) {
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(left));
    out.store(y, f(load_a.masked(a, lanes), load_b.masked(b, lanes)), lanes);
    a += kLanes * row.step[1];
    b += kLanes * row.step[2];
    y += kLanes * row.step[0];
  }
}

template <class Function>
void combine(const Tensor& a, const Tensor& b, const Tensor& y, Function f) {
  StrideIterator iterator = broadcast_pair(y, a, b);
  do {
    const StrideIterator::Axis& row = iterator.row();
    combine_row(row, floats(a) + iterator.offset[1], floats(b) + iterator.offset[2],
                mutable_floats(y) + iterator.offset[0], f);
  } while (iterator.next());
}

/// The term of b. A product with 1 is exact.
float32x4_t scaled(float32x4_t b, float alpha) {
  return alpha == 1 ? b : vmulq_n_f32(b, alpha);
}
void run_add(const Call& call) {
  combine(tensor(call, 0), tensor(call, 1), tensor(call, 3),
          [alpha = static_cast<float>(call.args[2].number)](float32x4_t a, float32x4_t b) {
            return vaddq_f32(a, scaled(b, alpha));
          });
}
void run_sub(const Call& call) {
  combine(tensor(call, 0), tensor(call, 1), tensor(call, 3),
          [alpha = static_cast<float>(call.args[2].number)](float32x4_t a, float32x4_t b) {
            return vsubq_f32(a, scaled(b, alpha));
          });
}
void run_mul(const Call& call) {
  combine(tensor(call, 0), tensor(call, 1), tensor(call, 2),
          [](float32x4_t a, float32x4_t b) { return vmulq_f32(a, b); });
}

/// As in the portable kernel, a NaN bound has no effect and a NaN element stays. A comparison
/// with a NaN is false.
void run_clamp(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 3);
  const Limits limits = clamp_limits(call);
  if (x.dtype == DType::kI8) {
    limit_codes(x, y, limits);
    return;
  }
  const float32x4_t min = vdupq_n_f32(static_cast<float>(limits.min));
  const float32x4_t max = vdupq_n_f32(static_cast<float>(limits.max));
  combine(x, x, y, [=](float32x4_t value, float32x4_t /*same*/) {
    value = vpselq_f32(min, value, vcmpgtq_f32(min, value));
    return vpselq_f32(max, value, vcmpgtq_f32(value, max));
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, aten_add, check_float_binary_with_alpha, run_add);
THIMBLE_DEFINE_KERNEL(mve, aten_clamp, check_clamp, run_clamp);
THIMBLE_DEFINE_KERNEL(mve, aten_mul, check_float_binary, run_mul);
THIMBLE_DEFINE_KERNEL(mve, aten_sub, check_float_binary_with_alpha, run_sub);

}  // namespace thimble::kernels

#endif
