// SPDX-License-Identifier: Apache-2.0
#include "abi/int4_group.h"
#include "kernels/args/int4.h"

namespace thimble::kernels {

Status check_conv2d_int4_group(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), geometry, tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(geometry);
  if (!abi::is_pointwise(g) || g.in_c % 4 != 0) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_packed(tensor(call, 2), abi::int4_group_bytes(g.out_c, g.in_c)));
  return check_scratch(tensor(call, 3), abi::int4_group_scratch_bytes(g.in_c));
}

Status check_linear_int4_group(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_linear_geometry(tensor(call, 0), geometry, tensor(call, 4)));
  const abi::LinearGeometry& g = linear_geometry(geometry.data);
  if (g.in_features % 4 != 0 || g.in_features == 0) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(
      check_packed(tensor(call, 2), abi::int4_group_bytes(g.out_features, g.in_features)));
  return check_scratch(tensor(call, 3), abi::int4_group_scratch_bytes(g.in_features));
}

}  // namespace thimble::kernels
