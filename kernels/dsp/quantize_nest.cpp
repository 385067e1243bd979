// SPDX-License-Identifier: Apache-2.0
// thimble::quantize.nest for cores with floating-point hardware. VCVTR rounds to nearest, ties
// to even (the rounding mode after reset). It converts NaN to 0 and saturates to 32 bits. Only the
// zero point and the int8 bounds remain to be applied.

#include "abi/ops/conversion.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/args/quantize_nest.h"
#include "kernels/define_kernel.h"
#include "numerics/float_quantize.h"

namespace thimble::kernels {
namespace {

#if defined(__ARM_FP) && (__ARM_FP & 4)
struct CodeOf {
  float factor;
  int32_t zero_point;
  explicit CodeOf(const abi::QuantizeNest& p) : factor(p.factor), zero_point(p.zero_point) {}
  int32_t operator()(const uint32_t* x) const {
    float value;
    memcpy(&value, x, sizeof value);
    value *= factor;
    int32_t code;
    asm("vcvtr.s32.f32 %[v], %[v]\n"
        "vmov %[code], %[v]\n"
        "ssat %[code], #16, %[code]\n"
        "add %[code], %[code], %[zero_point]\n"
        "ssat %[code], #8, %[code]"
        : [code] "=&r"(code), [v] "+t"(value)
        : [zero_point] "r"(zero_point));
    return code;
  }
};
#else
struct CodeOf {
  numerics::FloatFactor factor;
  int32_t zero_point;
  explicit CodeOf(const abi::QuantizeNest& p) : factor(p.factor), zero_point(p.zero_point) {}
  int32_t operator()(const uint32_t* x) const {
    return numerics::clamp(numerics::round_product(*x, factor) + zero_point, -128, 127);
  }
};
#endif

void run(void* const* operands) {
  quantize_rows(operands, CodeOf(packed<abi::op_info::thimble_quantize_nest>(operands[1])));
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_quantize_nest, check_quantize_nest, run);

}  // namespace thimble::kernels

#endif
