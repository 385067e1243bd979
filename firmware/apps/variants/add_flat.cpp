// SPDX-License-Identifier: Apache-2.0
// Sums and differences of flat operands: with and without a shift of the narrower operand, with and
// without a clamp, for all lengths up to several vectors.

#include "firmware/apps/variants/case.h"

#include "abi/packed_ops.h"

namespace thimble::firmware {

void make_add_flat(uint32_t index, Case& c) {
  const int32_t count = index % 8 == 0 ? 256 * 16 : c.uniform(1, 60);
  auto* a = c.input<int8_t>(count);
  auto* b = c.input<int8_t>(count);
  if (index % 8 == 0) {
    // Pairs each quantized value of a with 16 values of b.
    for (int32_t i = 0; i < count; ++i) a[i] = static_cast<int8_t>(i / 16);
  }
  if (c.uniform(0, 7) == 0) {
    for (int32_t i = 0; i < count; ++i) a[i] = b[i] = c.uniform(0, 1) == 0 ? -128 : 127;
  }
  auto* p = c.input<abi::AddFlat>(1);
  *p = {};
  p->count = static_cast<uint32_t>(count);
  p->b_mult = c.uniform(0, 3) == 0 ? 1 << 30 : c.uniform(1 << 30, INT32_MAX);
  p->y_mult = c.uniform(0, 3) == 0 ? 1 << 30 : c.uniform(1 << 30, INT32_MAX);
  p->a_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  p->b_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  p->y_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  const bool clamps = c.uniform(0, 2) == 0;
  p->min = static_cast<int16_t>(clamps ? c.uniform(-128, 0) : -128);
  p->max = static_cast<int16_t>(clamps ? c.uniform(0, 127) : 127);
  p->b_shift = static_cast<int8_t>(c.one_of({0, 0, -1, -2, -5, -31}));
  p->y_shift = static_cast<int8_t>(c.one_of({-1, -16, -18, -18, -19, -19, -20, -31}));
  p->a_negate = static_cast<uint8_t>(c.uniform(0, 1));
  p->b_negate = static_cast<uint8_t>(c.uniform(0, 1));
  c.output(count);
  c.text() << count << " values, shifts " << p->b_shift << " " << p->y_shift << ", clamp " << p->min
           << " " << p->max;
}

}  // namespace thimble::firmware
