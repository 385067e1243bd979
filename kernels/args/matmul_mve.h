// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of conv2d_mve and linear_mve. abi/matmul_mve.h has the layout of their weights.
//
// conv2d_mve: x, WindowGeometry, weights, scratch, y. linear_mve: x, LinearGeometry, weights, y.

#include "abi/matmul_mve.h"
#include "abi/params/window.h"
#include "kernels/args/packed.h"

namespace thimble::kernels {

Status check_conv2d_mve(const Call& call);
Status check_linear_mve(const Call& call);

inline uint32_t window_depth(const abi::WindowGeometry& g) {
  return static_cast<uint32_t>(g.kernel_h * g.kernel_w) * g.in_c;
}

inline const abi::MatmulQuad* matmul_quads_of(const void* packed) {
  return static_cast<const abi::MatmulQuad*>(packed);
}
inline const int8_t* matmul_weights_of(const void* packed, uint32_t quads) {
  return static_cast<const int8_t*>(packed) + abi::matmul_header_bytes(quads);
}

}  // namespace thimble::kernels
