// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of depthwise_mve: x, geometry, blocks of weights, scratch, y. abi/depthwise_mve.h
// describes the bytes of a block; this header has its offsets for all variants.

#include <cstdint>

#include "abi/depthwise_mve.h"
#include "abi/params/window.h"
#include "kernels/kernels.h"

namespace thimble::kernels {

/// Offsets of the arrays of a block.
struct DepthwiseBlock {
  static constexpr int32_t kLanes = abi::kDepthwiseLanes;
  static constexpr int32_t kWeights = 4 * kLanes;  // after the biases

  explicit DepthwiseBlock(const abi::WindowGeometry& g)
      : taps(g.kernel_h * g.kernel_w), shifts(kWeights + abi::depthwise_taps(taps) * kLanes) {}
  int32_t mults() const { return shifts + kLanes; }
  int32_t bytes() const { return mults() + 4 * kLanes; }

  int32_t taps;
  int32_t shifts;  // offset of the shifts
};

Status check_depthwise_mve(const Call& call);

}  // namespace thimble::kernels
