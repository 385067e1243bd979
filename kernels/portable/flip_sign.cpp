// SPDX-License-Identifier: Apache-2.0
// thimble::flip_sign: uint8 to int8 or int8 to uint8, y = x xor 0x80. It inverts the highest bit of
// four bytes at a time: a caller's buffer may start at any address, so words are copied.
//
// Operands: x, y. In place: y may be x.

#include "abi/ops/conversion.h"
#include "kernels/args/operands.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  const bool signs = (x.dtype == DType::kU8 && y.dtype == DType::kI8) ||
                     (x.dtype == DType::kI8 && y.dtype == DType::kU8);
  if (!signs) return Status::kBadDType;
  if (!same_sizes(x, y)) return Status::kBadShape;
  Tensor like_x = y;
  like_x.dtype = x.dtype;
  return same_layout(x, like_x) ? Status::kOk : Status::kBadDimOrder;
}

void run(const Call& call) {
  const int32_t count = elements(tensor(call, 0));
  const uint8_t* x = static_cast<const uint8_t*>(tensor(call, 0).data);
  uint8_t* y = static_cast<uint8_t*>(tensor(call, 1).data);
  int32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    uint32_t word;
    memcpy(&word, x + i, sizeof word);
    word ^= 0x80808080U;
    memcpy(y + i, &word, sizeof word);
  }
  for (; i < count; ++i) y[i] = static_cast<uint8_t>(x[i] ^ 0x80U);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_flip_sign, check, run);

}  // namespace thimble::kernels
