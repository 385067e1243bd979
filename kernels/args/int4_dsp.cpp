// SPDX-License-Identifier: Apache-2.0
#include "abi/matmul_dsp.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "kernels/args/int4.h"

namespace thimble::kernels {

Status check_conv2d_dsp_int4(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), tensor(call, 1), tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(tensor(call, 1));
  THIMBLE_RETURN_IF_ERROR(check_packed(tensor(call, 2), abi::dsp_conv_int4_weights_bytes(g)));
  return check_scratch(tensor(call, 3), abi::dsp_conv_scratch_bytes(g));
}

Status check_linear_dsp_int4(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_linear_geometry(tensor(call, 0), tensor(call, 1), tensor(call, 3)));
  const abi::LinearGeometry& g = linear_geometry(tensor(call, 1).data);
  if (g.in_features % 4 != 0 || g.in_features == 0) return Status::kBadShape;
  return check_packed(tensor(call, 2), abi::dsp_linear_int4_weights_bytes(g));
}

}  // namespace thimble::kernels
