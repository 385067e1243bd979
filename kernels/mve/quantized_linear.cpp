// cortex_m::quantized_linear with the weights in the order of the file: three rows by four channels
// as in a convolution. The remaining rows, or a single row, are computed with four channels at a
// time. The portable body runs layers with a shift to the left.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include "kernels/args/linear.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/requant.h"
#include "kernels/mve/unpacked_layer.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

void multiply_three_rows(const Linear& linear, int32_t rows) {
  const auto depth = static_cast<uint32_t>(linear.in);
  mve::UnpackedLayer layer(linear.w, linear.out, depth, linear.x_offset, linear.requant);
  mve::UnpackedRow row[2] = {};
  row[0].bytes = depth;
  while (layer.next_tile()) {
    const int8_t* x = linear.x;
    int8_t* y = linear.y;
    for (int32_t i = 0; i < rows; i += 3) {
      int8_t* const at[3] = {y, y + linear.out, y + 2 * linear.out};
      for (int32_t k = 0; k < 3; ++k) row[0].x[k] = x + k * linear.in;
      layer.multiply(row, at);
      x += 3 * linear.in;
      y += 3 * linear.out;
    }
  }
}

void multiply_row(const Linear& linear, const int8_t* x, int8_t* y) {
  const Requant& requant = linear.requant;
  const auto depth = static_cast<uint32_t>(linear.in);
  const int32_t down = mve::negative_rounding_correction(requant.y_offset, requant.min);
  const int32x4_t low = vdupq_n_s32(requant.min);
  const int32x4_t high = vdupq_n_s32(requant.max);
  const int8_t* w = linear.w;
  for (int32_t o = 0; o < linear.out; o += 4) {
    const auto left = static_cast<uint32_t>(linear.out - o);
    const mve_pred16_t lanes = vctp32q(left);
    uint32_t sums[4];
    mve::sum_row(x, w, depth, left, sums);
    if (linear.x_offset != 0) {
      const int8_t* row = w;
      for (uint32_t k = 0; k < 4 && k < left; ++k, row += depth) {
        sums[k] += static_cast<uint32_t>(linear.x_offset) * mve::sum_of(row, depth);
      }
    }
    int32x4_t sum = vreinterpretq_s32_u32(vld1q_u32(sums));
    if (requant.bias != nullptr) sum = vaddq_s32(sum, vldrwq_z_s32(requant.bias + o, lanes));
    const int32x4_t mult = requant.mult_step == 0 ? vdupq_n_s32(*requant.mult)
                                                  : vldrwq_z_s32(requant.mult + o, lanes);
    const auto* const shifts = reinterpret_cast<const int32_t*>(requant.shift);
    const int32x4_t shift =
        requant.shift_step == 0 ? vdupq_n_s32(*shifts) : vldrwq_z_s32(shifts + o, lanes);
    const int32x4_t code = vaddq_n_s32(mve::requantize(sum, mult, shift, down), requant.y_offset);
    vstrbq_p_s32(y + o, vminq_s32(vmaxq_s32(code, low), high), lanes);
    w += 4 * depth;
  }
}

void run(const Call& call) {
  const Linear linear = bind_stock_linear(call);
  if (!mve::shifts_supported(linear.requant, linear.out)) {
    multiply_rows(linear);
    return;
  }
  int32_t row = linear.out < 4 ? 0 : linear.rows - linear.rows % 3;
  if (row != 0) multiply_three_rows(linear, row);
  for (; row < linear.rows; ++row) {
    multiply_row(linear, linear.x + row * linear.in, linear.y + row * linear.out);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_linear, check_stock_linear, run);

}  // namespace thimble::kernels
#endif
