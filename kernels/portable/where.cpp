// SPDX-License-Identifier: Apache-2.0
// where: a if the condition (bool) is not 0, else b. Elements of any type; operands broadcast.
// Operands: condition, a, b, y.
//
// In place: y may be a, b or, if elements have one byte, the condition, if that operand has y's
// shape and dim_order.

#include "abi/ops/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1), &tensor(call, 2)};
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_broadcast(operands, 3, y));
  const bool fits = operands[0]->dtype == DType::kBool && operands[1]->dtype == y.dtype &&
                    operands[2]->dtype == y.dtype;
  return fits ? Status::kOk : Status::kBadDType;
}

/// T is any type with the size of the elements.
template <class T>
void choose(const Call& call) {
  const Tensor& y = tensor(call, 3);
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1), &tensor(call, 2)};
  StrideIterator iterator = broadcast_iterator(operands, 3, y);
  T* out = static_cast<T*>(y.data);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const uint8_t* condition = static_cast<const uint8_t*>(operands[0]->data) + iterator.offset[0];
    const T* a = static_cast<const T*>(operands[1]->data) + iterator.offset[1];
    const T* b = static_cast<const T*>(operands[2]->data) + iterator.offset[2];
    for (int32_t i = 0; i < row.extent; ++i) {
      *out++ = *condition != 0 ? *a : *b;
      condition += row.step[0];
      a += row.step[1];
      b += row.step[2];
    }
  } while (iterator.next());
}

void run(const Call& call) {
  switch (element_bytes(tensor(call, 3).dtype)) {
    case 1:
      return choose<uint8_t>(call);
    case 2:
      return choose<uint16_t>(call);
    case 4:
      return choose<uint32_t>(call);
    default:
      return choose<uint64_t>(call);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_where, check, run);

}  // namespace thimble::kernels
