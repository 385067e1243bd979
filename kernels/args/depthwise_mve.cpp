// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/depthwise_mve.h"

#include "abi/params/window.h"
#include "kernels/args/packed.h"

namespace thimble::kernels {

Status check_depthwise_mve(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(check_depthwise_window(x, tensor(call, 1), tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(tensor(call, 1));
  if (g.in_c != g.out_c || g.in_c % 4 != 0) return Status::kBadShape;
  const int64_t blocks = (g.in_c + abi::kDepthwiseLanes - 1) / abi::kDepthwiseLanes;
  THIMBLE_RETURN_IF_ERROR(check_packed(tensor(call, 2), blocks * DepthwiseBlock(g).bytes()));
  return check_scratch(tensor(call, 3), abi::depthwise_scratch_bytes(g));
}

}  // namespace thimble::kernels
