// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the weights of abi/matmul_mve.h in plain C++, for cores without Helium.

#include "kernels/args/matmul_mve.h"

namespace thimble::kernels {

class MatmulWeights {
 public:
  MatmulWeights(const void* packed, uint32_t channels, uint32_t depth)
      : quads_(matmul_quads_of(packed)),
        weights_(matmul_weights_of(packed, abi::matmul_quads(channels))),
        depth_(depth) {}

  /// Returns the result of one channel for `depth` values of x. Sums wrap.
  int8_t code(uint32_t channel, const int8_t* x, int32_t y_zero_point, int32_t min,
              int32_t max) const {
    const abi::MatmulQuad& quad = quads_[channel / 4];
    const uint32_t lane = channel % 4;
    const int8_t* w = weights_ + abi::matmul_weight_offset(channel, 0, depth_);
    auto sum = static_cast<uint32_t>(quad.bias[lane]);
    const uint32_t blocks_end = depth_ / abi::kMatmulLanes * abi::kMatmulLanes;
    for (uint32_t k = 0; k < blocks_end; k += abi::kMatmulLanes, w += 2 * abi::kMatmulLanes) {
      // The constant count lets compilers use the vector instructions of a host.
      for (uint32_t i = 0; i < abi::kMatmulLanes; ++i) {
        sum += static_cast<uint32_t>(x[k + i] * w[i]);
      }
    }
    for (uint32_t i = 0; blocks_end + i < depth_; ++i) {
      sum += static_cast<uint32_t>(x[blocks_end + i] * w[i]);
    }
    const int32_t high = numerics::high_mult(static_cast<int32_t>(sum), quad.mult[lane]);
    const int32_t scaled = numerics::rounding_divide_by_pow2(high, -quad.shift[lane] & 31);
    const int32_t code = numerics::wrap_add(scaled, y_zero_point);
    return static_cast<int8_t>(numerics::clamp(code, min, max));
  }

 private:
  const abi::MatmulQuad* quads_;
  const int8_t* weights_;
  uint32_t depth_;
};

}  // namespace thimble::kernels
