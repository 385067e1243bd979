// SPDX-License-Identifier: Apache-2.0
// The loops of kernels/portable/dot16.h on Helium: eight products at a time, four rows share the
// loads of x. The channels of a depthwise convolution are the lanes of a vector, and their weights
// are gathered.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include <arm_mve.h>

#include "kernels/portable/dot16_rows.h"

namespace thimble::kernels {
namespace {

inline void add_four(const int16_t* x, const int8_t* w, int32_t filter, int32_t n,
                     int32_t (&sums)[4]) {
  const int8_t* w1 = w + filter;
  const int8_t* w2 = w1 + filter;
  const int8_t* w3 = w2 + filter;
  asm volatile(
      "dlstp.16 lr, %[n]\n"
      "1:\n"
      "vldrh.u16 q0, [%[x]], #16\n"
      "vldrb.s16 q1, [%[w]], #8\n"
      "vmladava.s16 %[sum0], q0, q1\n"
      "vldrb.s16 q2, [%[w1]], #8\n"
      "vmladava.s16 %[sum1], q0, q2\n"
      "vldrb.s16 q1, [%[w2]], #8\n"
      "vmladava.s16 %[sum2], q0, q1\n"
      "vldrb.s16 q2, [%[w3]], #8\n"
      "vmladava.s16 %[sum3], q0, q2\n"
      "letp lr, 1b\n"
      : [x] "+r"(x), [w] "+l"(w), [w1] "+l"(w1), [w2] "+l"(w2), [w3] "+l"(w3),
        [sum0] "+Te"(sums[0]), [sum1] "+Te"(sums[1]), [sum2] "+Te"(sums[2]), [sum3] "+Te"(sums[3])
      : [n] "r"(n)
      : "q0", "q1", "q2", "lr", "memory");
}

int32_t sum_of(const int16_t* x, const int8_t* w, int32_t n) {
  int32_t sum = 0;
  asm volatile(
      "dlstp.16 lr, %[n]\n"
      "1:\n"
      "vldrh.u16 q0, [%[x]], #16\n"
      "vldrb.s16 q1, [%[w]], #8\n"
      "vmladava.s16 %[sum], q0, q1\n"
      "letp lr, 1b\n"
      : [x] "+r"(x), [w] "+l"(w), [sum] "+Te"(sum)
      : [n] "r"(n)
      : "q0", "q1", "lr", "memory");
  return sum;
}

inline void finish_four(const Requant16& requant, const int32_t* sum, int32_t channel, int16_t* y) {
  const auto four = [&](const int32_t* values, int32_t step) {
    return step == 0 ? vdupq_n_s32(*values) : vldrwq_s32(values + channel);
  };
  int32x4_t value = vldrwq_s32(sum);
  if (requant.bias != nullptr) {
    // The low halves of four int64.
    value = vaddq_s32(value,
                      vld2q_s32(reinterpret_cast<const int32_t*>(requant.bias + channel)).val[0]);
  }
  const int32x4_t shift = four(requant.shift, requant.shift_step);
  // numerics::requantize64_narrow() of four values, for all shifts.
  const int32x4_t right = vmaxq_s32(vmvnq_s32(shift), vdupq_n_s32(1));
  const int32x4_t left = vaddq_n_s32(vaddq_s32(right, shift), 1);
  const int32x4_t shifted = vshlq_s32(value, left);
  if (vcmpneq_s32(vshlq_s32(shifted, vnegq_s32(left)), value) != 0) {
    for (int32_t k = 0; k < 4; ++k) {
      y[k] = requant.finish(requant.start(channel + k) + sum[k], channel + k);
    }
    return;
  }
  const int32x4_t reduced = vshlq_n_s32(
      vshrq_n_s32(vqaddq_n_s32(four(requant.mult, requant.mult_step), 1 << 15), 16), 16);
  const int32x4_t result = vrshlq_s32(vmulhq_s32(shifted, reduced), vnegq_s32(right));
  vstrhq_s32(y, vminq_s32(vmaxq_s32(result, vdupq_n_s32(requant.min)), vdupq_n_s32(requant.max)));
}

}  // namespace

void accumulate16(const Rows16& rows, int64_t (&total)[4]) {
  accumulate_four16(rows, total, add_four);
}

void accumulate16(const Rows16& rows, int64_t (&total)[1]) {
  for_each_piece16(
      rows, [&](const int16_t* x, const int8_t* w, int32_t n) { total[0] += sum_of(x, w, n); });
}

void multiply16_narrow(Rows16 rows, const Requant16& requant, int32_t channel, int32_t blocks,
                       int16_t* y) {
  multiply_blocks16(rows, channel, blocks, y, add_four,
                    [&](const int32_t(&sums)[4], int32_t o, int16_t* out) {
                      finish_four(requant, sums, o, out);
                    });
}

void finish16_narrow(const Requant16& requant, const int32_t* sum, int32_t channel, int16_t* y) {
  finish_four(requant, sum, channel, y);
}

void multiply_depthwise16(const DepthwiseRows16& rows, int32_t channels,
                          int32_t (&sum)[kDepthwise16Channels]) {
  const mve_pred16_t lanes = vctp16q(static_cast<uint32_t>(channels));
  const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<uint16_t>(rows.filter));
  int32x4x2_t sums = {{vdupq_n_s32(0), vdupq_n_s32(0)}};  // of even and of odd channels
  const int16_t* x_row = rows.x;
  const int8_t* w_row = rows.w;
  for (int32_t row = rows.rows; row > 0; --row) {
    const int16_t* x = x_row;
    const int8_t* const end = w_row + rows.taps;
    for (const int8_t* w = w_row; w != end; ++w) {
      const int16x8_t value = vldrhq_z_s16(x, lanes);
      const int16x8_t weight = vldrbq_gather_offset_z_s16(w, offsets, lanes);
      sums.val[0] = vaddq_s32(sums.val[0], vmullbq_int_s16(value, weight));
      sums.val[1] = vaddq_s32(sums.val[1], vmulltq_int_s16(value, weight));
      x += rows.x_tap;
    }
    x_row += rows.x_row;
    w_row += rows.w_row;
  }
  vst2q_s32(sum, sums);
}

}  // namespace thimble::kernels

#endif
