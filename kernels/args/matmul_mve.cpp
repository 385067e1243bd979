// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/matmul_mve.h"

#include "abi/params/linear.h"
#include "abi/params/window.h"

namespace thimble::kernels {
namespace {

Status check_weights(const Tensor& packed, uint32_t channels, int64_t depth) {
  if (depth > kMaxTensorBytes) return Status::kBadShape;
  return check_packed(packed, abi::matmul_bytes(channels, static_cast<uint32_t>(depth)));
}

}  // namespace

Status check_conv2d_mve(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), geometry, tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(geometry);
  const int64_t depth = window_bytes(g);
  THIMBLE_RETURN_IF_ERROR(check_weights(tensor(call, 2), g.out_c, depth));
  const uint32_t row = uint32_t{g.kernel_w} * g.in_c;
  return check_scratch(tensor(call, 3),
                       abi::conv2d_mve_scratch_bytes(static_cast<uint32_t>(depth), row));
}

Status check_linear_mve(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_linear_geometry(tensor(call, 0), geometry, tensor(call, 3)));
  const abi::LinearGeometry& g = linear_geometry(geometry.data);
  return check_weights(tensor(call, 2), g.out_features, g.in_features);
}

}  // namespace thimble::kernels
