// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/batch_matmul.h"

#include "abi/ops/stock.h"

namespace thimble::kernels {
namespace {

/// Products are at most 255 * 255, because both factors are activations.
constexpr int32_t kMaxInner = INT32_MAX / (255 * 255);

constexpr Letters kLetters = letters(abi::op_info::cortex_m_quantized_batch_matmul);
constexpr Letters kLetters8 = letters(abi::op_info::cortex_m_quantized_batch_matmul_8);

}  // namespace

template <uint32_t kOut>
Status check_batch_matmul(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& b = tensor(call, 2);
  const Tensor& y = tensor(call, kOut);
  if (!integers_fit(call, kOut == 8 ? kLetters : kLetters8)) return Status::kBadParameter;
  if (kOut == 8 && tensor(call, 7).is_constant) return Status::kBadParameter;
  const Tensor* const all[] = {&a, &b, &y};
  for (const Tensor* t : all) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
    if (t->rank != 3) return Status::kBadShape;
    if (!is_contiguous(*t)) return Status::kBadDimOrder;
  }
  const bool agree = a.sizes[0] == b.sizes[0] && a.sizes[0] == y.sizes[0] &&
                     a.sizes[1] == y.sizes[1] && b.sizes[1] == y.sizes[2] &&
                     a.sizes[2] == b.sizes[2] && a.sizes[2] <= kMaxInner;
  if (!agree) return Status::kBadShape;
  const bool fine = is_offset(integer(call, 1)) && is_offset(integer(call, 3)) &&
                    is_code(integer(call, 4)) && is_scale(integer(call, 5), integer(call, 6));
  return fine ? Status::kOk : Status::kBadParameter;
}

template Status check_batch_matmul<7>(const Call&);
template Status check_batch_matmul<8>(const Call&);

BatchMatmul bind_batch_matmul(const Call& call, uint32_t out) {
  const Tensor& a = tensor(call, 0);
  BatchMatmul matmul = {};
  matmul.a = codes(a);
  matmul.b = codes(tensor(call, 2));
  matmul.y = mutable_codes(tensor(call, out));
  matmul.batches = a.sizes[0];
  matmul.rows = a.sizes[1];
  matmul.columns = tensor(call, 2).sizes[1];
  matmul.depth = a.sizes[2];
  matmul.params.transpose_b = 1;
  matmul.params.a_zp = -integer(call, 1);
  matmul.params.b_zp = -integer(call, 3);
  matmul.params.y_zp = integer(call, 4);
  matmul.params.mult = integer(call, 5);
  matmul.params.shift = integer(call, 6);
  matmul.params.min = -128;
  matmul.params.max = 127;
  return matmul;
}

}  // namespace thimble::kernels
