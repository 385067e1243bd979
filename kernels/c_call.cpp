// SPDX-License-Identifier: Apache-2.0
// Verifies, member by member, that the C declarations of c_call.h match those of kernels.h.

#include "kernels/c_call.h"

#include <cstddef>

#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

#define THIMBLE_SAME_MEMBER(Type, c_type, member)                    \
  static_assert(offsetof(Type, member) == offsetof(c_type, member)); \
  static_assert(sizeof(Type::member) == sizeof(c_type::member))

static_assert(sizeof(Tensor) == sizeof(thimble_tensor));
static_assert(alignof(Tensor) == alignof(thimble_tensor));
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, data);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, sizes);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, dim_order);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, bytes);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, rank);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, dtype);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, is_constant);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, is_null);
THIMBLE_SAME_MEMBER(Tensor, thimble_tensor, is_verified);
static_assert(sizeof(IntList) == sizeof(thimble_int_list));
THIMBLE_SAME_MEMBER(IntList, thimble_int_list, count);
THIMBLE_SAME_MEMBER(IntList, thimble_int_list, items);
static_assert(sizeof(Arg) == sizeof(thimble_arg));
static_assert(alignof(Arg) == alignof(thimble_arg));

}  // namespace

Tensor list_item_of_c(const Call& call, uint32_t arg, uint32_t index) {
  return static_cast<const Tensor* const*>(call.context)[arg][index];
}

}  // namespace thimble::kernels
