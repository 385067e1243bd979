// SPDX-License-Identifier: Apache-2.0
#include "abi/matmul_scalar.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "kernels/args/int4.h"

namespace thimble::kernels {

namespace {

Status check_conv2d(const Call& call, int64_t (*scratch_rows)(const abi::WindowGeometry& g)) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), geometry, tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(geometry);
  const int64_t depth = window_bytes(g);
  THIMBLE_RETURN_IF_ERROR(check_scratch(tensor(call, 3), scratch_rows(g) * abi::scalar_row(depth)));
  return check_packed(tensor(call, 2), abi::scalar_int4_bytes(g.out_c, depth));
}

}  // namespace

Status check_conv2d_scalar_int4(const Call& call) {
  return check_conv2d(call,
                      [](const abi::WindowGeometry&) -> int64_t { return abi::kScalarPixels; });
}
Status check_conv2d_scalar_int4_rows(const Call& call) {
  return check_conv2d(call,
                      [](const abi::WindowGeometry& g) { return abi::scalar_int4_rows(g, false); });
}
Status check_conv2d_scalar_int4_pairs(const Call& call) {
  return check_conv2d(call,
                      [](const abi::WindowGeometry& g) { return abi::scalar_int4_rows(g, true); });
}

Status check_linear_scalar_int4(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_linear_geometry(tensor(call, 0), geometry, tensor(call, 3)));
  const abi::LinearGeometry& g = linear_geometry(geometry.data);
  return check_packed(tensor(call, 2), abi::scalar_int4_bytes(g.out_features, g.in_features));
}

}  // namespace thimble::kernels
