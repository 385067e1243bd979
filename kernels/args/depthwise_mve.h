#pragma once
// Operands of depthwise_mve: x, geometry, blocks of weights, scratch, y. The bytes of a block are
// described in abi/depthwise_mve.h; its sizes stand here, for every variant.

#include <cstdint>

#include "abi/depthwise_mve.h"
#include "kernels/kernels.h"

namespace thimble::kernels {

/// What a block has in front of and behind its weights.
struct DepthwiseBlock {
  static constexpr int32_t kLanes = abi::kDepthwiseLanes;
  static constexpr int32_t kWeights = 4 * kLanes;  // behind the biases

  explicit DepthwiseBlock(const abi::WindowGeometry& g)
      : taps(g.kernel_h * g.kernel_w), shifts(kWeights + abi::depthwise_taps(taps) * kLanes) {}
  int32_t mults() const { return shifts + kLanes; }
  int32_t bytes() const { return mults() + 4 * kLanes; }

  int32_t taps;
  int32_t shifts;  // where they begin
};

Status check_depthwise_mve(const Call& call);

}  // namespace thimble::kernels
