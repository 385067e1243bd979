// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/conv_dsp.h"

#include "abi/params/window.h"

namespace thimble::kernels {

Status check_conv2d_dsp(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), tensor(call, 1), tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(tensor(call, 1));
  THIMBLE_RETURN_IF_ERROR(check_packed(tensor(call, 2), abi::dsp_conv_weights_bytes(g)));
  return check_scratch(tensor(call, 3), abi::dsp_conv_scratch_bytes(g));
}

Status check_depthwise_dsp(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), tensor(call, 1), tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(tensor(call, 1));
  if (g.in_c != g.out_c || g.in_c % 4 != 0) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_packed(tensor(call, 2), abi::dsp_depthwise_weights_bytes(g)));
  return check_scratch(tensor(call, 3), abi::dsp_depthwise_scratch_bytes(g));
}

}  // namespace thimble::kernels
