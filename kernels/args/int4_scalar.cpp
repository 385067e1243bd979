#include "abi/matmul_scalar.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "kernels/args/int4.h"

namespace thimble::kernels {

Status check_conv2d_scalar_int4(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_window(tensor(call, 0), geometry, tensor(call, 4)));
  const abi::WindowGeometry& g = window_geometry(geometry);
  const int64_t depth = window_bytes(g);
  THIMBLE_RETURN_IF_ERROR(
      check_scratch(tensor(call, 3), abi::kScalarPixels * abi::scalar_row(depth)));
  return check_packed(tensor(call, 2), abi::scalar_int4_bytes(g.out_c, depth));
}

Status check_linear_scalar_int4(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_linear_geometry(tensor(call, 0), geometry, tensor(call, 3)));
  const abi::LinearGeometry& g = linear_geometry(geometry.data);
  return check_packed(tensor(call, 2), abi::scalar_int4_bytes(g.out_features, g.in_features));
}

}  // namespace thimble::kernels
