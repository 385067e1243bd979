// SPDX-License-Identifier: Apache-2.0
// depthwise_mve on any core: reads the packed form of the Helium kernel lane by lane.

#include "kernels/args/depthwise_mve.h"
#include "abi/ops/conv.h"
#include "abi/params/window.h"
#include "kernels/args/packed.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

int32_t word_at(const uint8_t* bytes) {
  int32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/// One output channel: its index in x, and the block and lane with its weights.
struct Channel {
  int32_t index;
  const uint8_t* block;
  uint32_t lane;
};

int8_t output_at(const abi::WindowGeometry& g, const int8_t* x, const Channel& c, int32_t oy,
                 int32_t ox) {
  const DepthwiseBlock at(g);
  const uint32_t place = abi::depthwise_lane_position(c.lane);
  int32_t sum = word_at(c.block + 4 * place);
  const uint8_t* weight = c.block + DepthwiseBlock::kWeights + c.lane;
  for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
    for (int32_t kx = 0; kx < g.kernel_w; ++kx, weight += DepthwiseBlock::kLanes) {
      const int32_t iy = oy * g.stride_h - g.pad_top + ky * g.dilation_h;
      const int32_t ix = ox * g.stride_w - g.pad_left + kx * g.dilation_w;
      const bool inside = iy >= 0 && iy < g.in_h && ix >= 0 && ix < g.in_w;
      const int32_t code = inside ? x[(iy * g.in_w + ix) * g.in_c + c.index] : g.x_zero_point;
      sum = numerics::wrap_add(sum, code * static_cast<int8_t>(*weight));
    }
  }
  const int32_t high = numerics::high_mult(sum, word_at(c.block + at.mults() + 4 * place));
  const int32_t right = -static_cast<int8_t>(c.block[at.shifts + static_cast<int32_t>(place)]) & 31;
  const int32_t code =
      numerics::wrap_add(numerics::rounding_divide_by_pow2(high, right), g.y_zero_point);
  return static_cast<int8_t>(numerics::clamp(code, g.min, g.max));
}

void run(void* const* operands) {
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  const auto* blocks = static_cast<const uint8_t*>(operands[2]);
  auto* y = static_cast<int8_t*>(operands[4]);
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      for (int32_t c = 0; c < g.out_c; ++c) {
        const uint8_t* block = blocks + c / DepthwiseBlock::kLanes * DepthwiseBlock(g).bytes();
        *y++ =
            output_at(g, x, {c, block, static_cast<uint32_t>(c % DepthwiseBlock::kLanes)}, oy, ox);
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_depthwise_mve, check_depthwise_mve, run);

}  // namespace thimble::kernels
