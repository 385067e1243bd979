// SPDX-License-Identifier: Apache-2.0
// logical_and, logical_or, logical_not on bool: any byte other than 0 is true. Operands of
// logical_and and logical_or: a, b, y, with broadcasting; of logical_not: x, y.
//
// In place: y may be an operand that has its shape and dim_order.

#include "abi/ops/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check_truths(const Call& call, uint32_t count) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, count - 1)};
  for (uint32_t i = 0; i <= count; ++i) {
    if (tensor(call, i).dtype != DType::kBool) return Status::kBadDType;
  }
  return check_broadcast(operands, count, tensor(call, count));
}

Status check_pair(const Call& call) {
  return check_truths(call, 2);
}
Status check_one(const Call& call) {
  return check_truths(call, 1);
}

void run_and(const Call& call) {
  for_pairs<uint8_t, uint8_t>(
      tensor(call, 0), tensor(call, 1), tensor(call, 2),
      [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a != 0 && b != 0); });
}
void run_or(const Call& call) {
  for_pairs<uint8_t, uint8_t>(
      tensor(call, 0), tensor(call, 1), tensor(call, 2),
      [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a != 0 || b != 0); });
}
void run_not(const Call& call) {
  const Tensor& x = tensor(call, 0);
  for_pairs<uint8_t, uint8_t>(x, x, tensor(call, 1),
                              [](uint8_t a, uint8_t) { return static_cast<uint8_t>(a == 0); });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_logical_and, check_pair, run_and);
THIMBLE_DEFINE_KERNEL(portable, thimble_logical_not, check_one, run_not);
THIMBLE_DEFINE_KERNEL(portable, thimble_logical_or, check_pair, run_or);

}  // namespace thimble::kernels
