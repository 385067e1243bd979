// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/stock_window.h"

namespace thimble::kernels {

bool set_window(const WindowAxis (&axis)[2], int32_t in_c, int32_t out_c, abi::WindowGeometry* g) {
  const WindowAxis& down = axis[0];
  const WindowAxis& across = axis[1];
  bool fits = set_field(&g->in_h, down.in);
  fits &= set_field(&g->in_w, across.in);
  fits &= set_field(&g->in_c, in_c);
  fits &= set_field(&g->out_h, down.out);
  fits &= set_field(&g->out_w, across.out);
  fits &= set_field(&g->out_c, out_c);
  fits &= set_field(&g->kernel_h, down.kernel);
  fits &= set_field(&g->kernel_w, across.kernel);
  fits &= set_field(&g->stride_h, down.stride);
  fits &= set_field(&g->stride_w, across.stride);
  fits &= set_field(&g->dilation_h, down.dilation);
  fits &= set_field(&g->dilation_w, across.dilation);
  fits &= set_field(&g->pad_top, down.pad);
  fits &= set_field(&g->pad_left, across.pad);
  return fits;
}

}  // namespace thimble::kernels
