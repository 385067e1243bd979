// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/window_pool.h"

#include "abi/params/window.h"

namespace thimble::kernels {

Status check_window_pool(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), tensor(call, 1), tensor(call, 2)));
  const abi::WindowGeometry& g = window_geometry(tensor(call, 1));
  // With dilation a window may not overlap the image.
  const bool fine = g.in_c == g.out_c && g.dilation_h == 1 && g.dilation_w == 1;
  return fine ? Status::kOk : Status::kBadShape;
}

}  // namespace thimble::kernels
