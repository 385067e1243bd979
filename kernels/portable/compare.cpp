// SPDX-License-Identifier: Apache-2.0
// compare: a relation of two integer tensors as bool. Any integer type; operands broadcast.
// Formula: docs/numerics.md, "Choice". Operands: a, b, parameters, y.
//
// In place: y may be a (or b), if that operand has one-byte elements and y's shape and dim_order.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::CompareParams;

constexpr int32_t kRelations = 6;

Status check(const Call& call) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1)};
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_broadcast(operands, 2, y));
  if (operands[0]->dtype != operands[1]->dtype || !is_integer_type(operands[0]->dtype)) {
    return Status::kBadDType;
  }
  if (y.dtype != DType::kBool) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_compare>(tensor(call, 2)));
  const int32_t relation = params<abi::op_info::thimble_compare>(tensor(call, 2)).relation;
  return relation >= 0 && relation < kRelations ? Status::kOk : Status::kBadParameter;
}

void run(const Call& call) {
  // Bit 0: true if a < b; bit 1: true if a = b; bit 2: true if a > b. For eq, ne, lt, le, gt, ge.
  static constexpr uint8_t kHolds[kRelations] = {0b010, 0b101, 0b001, 0b011, 0b100, 0b110};
  const uint32_t holds = kHolds[params<abi::op_info::thimble_compare>(tensor(call, 2)).relation];
  dispatch_integer_type(tensor(call, 0).dtype, [&](auto zero) {
    using T = decltype(zero);
    for_pairs<uint8_t, T>(tensor(call, 0), tensor(call, 1), tensor(call, 3), [=](T a, T b) {
      const uint32_t order = a < b ? 0 : a == b ? 1 : 2;
      return static_cast<uint8_t>(holds >> order & 1);
    });
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_compare, check, run);

}  // namespace thimble::kernels
