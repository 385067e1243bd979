// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/pool16.h"

namespace thimble::kernels {

Status check_images16(const Tensor& x, const Tensor& y, const abi::PoolWindow& window) {
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI16));
    if (t->rank != 4) return Status::kBadShape;
    if (!is_nhwc(*t)) return Status::kBadDimOrder;
  }
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  const bool lists =
      window.kernel.is_complete() && window.stride.is_complete() && window.padding.is_complete();
  return lists ? Status::kOk : Status::kBadParameter;
}

Status check_pool16(const Pool16& pool) {
  THIMBLE_RETURN_IF_ERROR(check_axes(pool.axis, pool.c));
  for (const WindowAxis& axis : pool.axis) {
    if (!windows_meet_image(axis) || !output_follows(axis)) return Status::kBadShape;
  }
  return Status::kOk;
}

Pool16 bind_pool16(const Tensor& x, const Tensor& y, const abi::PoolWindow& window) {
  Pool16 pool = {codes16(x), mutable_codes16(y), x.sizes[0], x.sizes[1], {}};
  for (uint32_t a = 0; a < 2; ++a) {
    pool.axis[a] = {window.kernel.items[a],  window.stride.items[a], 1,
                    window.padding.items[a], x.sizes[2 + a],         y.sizes[2 + a]};
  }
  return pool;
}

}  // namespace thimble::kernels
