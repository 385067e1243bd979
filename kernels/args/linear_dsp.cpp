// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/linear_dsp.h"

#include "abi/params/linear.h"

namespace thimble::kernels {

Status check_linear_dsp(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_linear_geometry(tensor(call, 0), tensor(call, 1), tensor(call, 3)));
  const abi::LinearGeometry& g = linear_geometry(tensor(call, 1).data);
  if (g.in_features % 4 != 0 || g.in_features == 0) return Status::kBadShape;
  return check_packed(tensor(call, 2), abi::dsp_linear_weights_bytes(g));
}

}  // namespace thimble::kernels
