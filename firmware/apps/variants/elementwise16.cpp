// SPDX-License-Identifier: Apache-2.0
// Cases of elementwise kernels with 16-bit activations.

#include "firmware/apps/variants/case.h"

#include <cstring>

#include "abi/params/arithmetic.h"
#include "kernels/args/requant16.h"

namespace thimble::firmware {
namespace {

using kernels::DType;

/// An operand of two dimensions that broadcasts to `sizes`, in a form that `index` selects.
void broadcast_operand(Case& c, const int32_t (&sizes)[2], uint32_t form) {
  const int32_t own[2] = {form % 4 == 1 ? 1 : sizes[0], form % 4 == 2 ? 1 : sizes[1]};
  c.input<int16_t>(own[0] * own[1]);
  c.shape(DType::kI16, own, 2);
}

}  // namespace

void make_add16(uint32_t index, Case& c) {
  const int32_t sizes[2] = {c.uniform(1, 9), c.uniform(1, 40)};
  broadcast_operand(c, sizes, index);
  broadcast_operand(c, sizes, index / 4 % 4 == index % 4 ? 0 : index / 4);  // y has `sizes`
  abi::Add16Params p = {};
  int32_t* const mults[] = {&p.a_mult, &p.b_mult, &p.y_mult};
  int32_t* const shifts[] = {&p.a_shift, &p.b_shift, &p.y_shift};
  for (int32_t i = 0; i < 3; ++i) {
    *mults[i] = c.uniform(1 << 30, INT32_MAX);
    *shifts[i] = c.uniform(-20, index % 3 == 0 ? 2 : 0);
  }
  p.min = c.uniform(-32768, 0);
  p.max = c.uniform(p.min, 32767);
  std::memcpy(c.input<uint8_t>(sizeof p), &p, sizeof p);
  const auto bytes = static_cast<int32_t>(sizeof p);
  c.shape(DType::kU8, &bytes, 1);
  c.constant();
  c.output(sizes[0] * sizes[1] * 2);
  c.shape(DType::kI16, sizes, 2);
  c.text() << sizes[0] << "x" << sizes[1];
}

void make_lut16(uint32_t, Case& c) {
  const int32_t count = c.uniform(1, 300);
  c.input<int16_t>(count);
  c.shape(DType::kI16, &count, 1);
  c.input<int16_t>(numerics::kLut16Size);
  c.shape(DType::kI16, &numerics::kLut16Size, 1);
  c.constant();
  c.output(count * 2);
  c.shape(DType::kI16, &count, 1);
  c.text() << count << " elements";
}

}  // namespace thimble::firmware
