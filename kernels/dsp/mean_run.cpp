// SPDX-License-Identifier: Apache-2.0
// thimble::mean.packed with the DSP extension. A word has four int8 values; one instruction
// adds the even ones to two 16-bit sums, and another one adds the odd ones.

#include "kernels/args/mean_run.h"
#include "abi/ops/reduction.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/clamp.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

namespace thimble::kernels {
namespace {

int32_t low_half(uint32_t word) {
  return static_cast<int16_t>(word);
}

[[gnu::noinline]] void add_columns(const int8_t* x, uint32_t count, uint32_t step,
                                   int32_t (&sums)[4]) {
  while (count != 0) {
    // The sum of 256 values fits 16 bits.
    const uint32_t some = count < 256 ? count : 256;
    uint32_t even = 0;
    uint32_t odd = 0;
#pragma GCC unroll 2
    for (uint32_t i = some; i != 0; --i) {
      const uint32_t word = load_word(x);
      asm("sxtab16 %0, %0, %1" : "+r"(even) : "r"(word));
      asm("sxtab16 %0, %0, %1, ror #8" : "+r"(odd) : "r"(word));
      x += step;
    }
    sums[0] += low_half(even);
    sums[1] += low_half(odd);
    sums[2] += static_cast<int32_t>(even) >> 16;
    sums[3] += static_cast<int32_t>(odd) >> 16;
    count -= some;
  }
}

[[gnu::noinline]] int32_t any_code(const abi::MeanRun& p, int32_t sum) {
  const int32_t offset = static_cast<int32_t>(p.count) * p.mean.x_offset;
  const int32_t scaled = numerics::requantize(sum + offset, p.mean.mult, p.mean.shift);
  return numerics::wrap_add(scaled, p.mean.y_offset);
}

/// Requantization with zero point: a rounding doubling multiplication, then a shift to nearest with
/// halves away from zero. Used if no step overflows 32 bits; the result saturates to int8.
class Scale {
 public:
  explicit Scale(const abi::MeanRun& p)
      : p_(p),
        quick_(p.mean.shift < 0 && p.mean.shift >= -22 && p.count < (1U << 29) / 255),
        start_(quick_ ? 2 * static_cast<int32_t>(p.count) * p.mean.x_offset : 0),
        mult_(p.mean.mult),
        right_(quick_ ? -p.mean.shift : 0),
        nudge_(quick_ ? (p.mean.y_offset * 2 + 1) << (right_ - 1) : 0) {}

  int8_t operator()(int32_t sum) const {
    int32_t code;
    if (quick_) {
      asm("smmulr %0, %1, %2" : "=r"(code) : "r"(start_ + 2 * sum), "r"(mult_));
      code += code >> 31;
      code += nudge_;
    } else {
      code = any_code(p_, sum);
    }
    asm("ssat %0, #8, %1" : "=r"(code) : "r"(code >> right_));
    return static_cast<int8_t>(code);
  }

 private:
  const abi::MeanRun& p_;
  bool quick_;
  int32_t start_, mult_, right_, nudge_;
};

void run(void* const* operands) {
  const abi::MeanRun& p = packed<abi::op_info::thimble_mean_run>(operands[1]);
  mean_runs(operands, add_columns, Scale(p));
  auto* y = static_cast<int8_t*>(operands[2]);
  dsp::clamp_codes(y, p.outer * p.inner, p.mean.min, p.mean.max);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_mean_run, check_mean_run, run);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
