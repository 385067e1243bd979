// SPDX-License-Identifier: Apache-2.0
// thimble::dequantize.nest for cores with floating-point hardware.

#include "abi/ops/conversion.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/args/quantize_nest.h"
#include "kernels/define_kernel.h"
#include "numerics/float_quantize.h"

namespace thimble::kernels {
namespace {

#if defined(__ARM_FP) && (__ARM_FP & 4)
struct Scaled {
  float factor;
  explicit Scaled(float f) : factor(f) {}
  void operator()(int32_t value, uint32_t* y) const {
    const float real = static_cast<float>(value) * factor;
    memcpy(y, &real, sizeof real);
  }
};
#else
struct Scaled {
  numerics::FloatFactor factor;
  explicit Scaled(float f) : factor(f) {}
  void operator()(int32_t value, uint32_t* y) const {
    *y = numerics::scaled_bits_wide(value, factor);
  }
};
#endif

void run(void* const* operands) {
  const abi::QuantizeNest& p = packed<abi::op_info::thimble_dequantize_nest>(operands[1]);
  auto* const y = static_cast<uint32_t*>(operands[2]);
  const Scaled scaled(p.factor);
  if (p.quantized_bytes == 2) {
    dequantize_rows(p, static_cast<const int16_t*>(operands[0]), y, scaled);
  } else {
    dequantize_rows(p, static_cast<const int8_t*>(operands[0]), y, scaled);
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_dequantize_nest, check_dequantize_nest, run);

}  // namespace thimble::kernels

#endif
