// SPDX-License-Identifier: Apache-2.0
// thimble::softmax.packed for cores with a 32-bit product; a long product consists of four of
// them.
//
// A result has 8 bits, so that 16 bits of the reciprocal and of an exponential nearly always
// suffice. If the smallest and the largest result that they allow are equal, it is the result
// (softmax_loops.cpp). Long products are used only for other elements and for int16 results.

#include "abi/ops/normalization.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_V6M

#include "kernels/args/softmax_rows.h"
#include "kernels/define_kernel.h"
#include "kernels/v6m/softmax_loops.h"

namespace thimble::kernels {
namespace {

/// A 64-bit product: the high 32 bits, and the low 32 bits in units of 2^16.
struct Halves {
  int32_t above;
  uint32_t below;
};
Halves product(int32_t a, int32_t b) {
  const uint32_t a_low = static_cast<uint32_t>(a) & 0xFFFF;
  const uint32_t b_low = static_cast<uint32_t>(b) & 0xFFFF;
  const int32_t a_high = a >> 16;
  const int32_t b_high = b >> 16;
  const uint32_t low = a_low * b_low;
  // Neither sum overflows 32 bits.
  const int32_t middle = a_high * static_cast<int32_t>(b_low) + static_cast<int32_t>(low >> 16);
  const int32_t rest = static_cast<int32_t>(a_low) * b_high + (middle & 0xFFFF);
  return {a_high * b_high + (middle >> 16) + (rest >> 16), static_cast<uint32_t>(rest) & 0xFFFF};
}

struct ShortProducts {
  static int32_t high(int32_t a, int32_t b) {
    const Halves ab = product(a, b);
    return ab.above + static_cast<int32_t>(ab.below >> 15);
  }

  static uint32_t divided(int32_t a, uint32_t b, uint32_t right) {
    const Halves ab = product(a, static_cast<int32_t>(b));
    // Rounds bit 30 into bit 31.
    const uint32_t scaled = static_cast<uint32_t>(ab.above) * 2 + ((ab.below >> 14) + 1) / 2;
    return (scaled + (uint32_t{1} << (right - 1))) >> right;
  }
};

/// Returns true if the loops support the constant: the sum is then at least 1 and fits 32 bits.
bool suits_loops(const abi::SoftmaxRows& p) {
  return p.rows != 0 && p.length - 3 <= 4095 - 3 && p.wide == 0 && p.exp[0] >> 11 == 0xFFFFF;
}

[[gnu::noinline]] void run_any(void* const* operands) {
  softmax_rows<ShortProducts>(operands);
}

void run(void* const* operands) {
  if (suits_loops(packed<abi::op_info::thimble_softmax_rows>(operands[1]))) {
    thimble_v6m_softmax(operands);
  } else {
    run_any(operands);
  }
}

}  // namespace

extern "C" uint32_t thimble_v6m_softmax_exact(uint32_t exp, uint32_t sum) {
  const int32_t headroom = numerics::count_leading_zeros(sum);
  const int32_t scale = reciprocal<ShortProducts>((sum << headroom) ^ (1U << 31));
  const auto right = static_cast<uint32_t>(35 - headroom);
  const uint32_t code = ShortProducts::divided(scale, exp, right);
  return code < 255 ? code : 255;
}

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_softmax_rows, check_softmax_rows, run);

}  // namespace thimble::kernels

#endif
