// SPDX-License-Identifier: Apache-2.0
// thimble::log_softmax over the last dimension; formula: docs/numerics.md, "Log-softmax".
//
// Operands: x, LogSoftmaxParams constant followed by int32 exp_table[256], y. In place: y may be x.

#include <string.h>

#include "abi/ops/normalization.h"
#include "abi/params/softmax.h"
#include "kernels/args/rows.h"
#include "kernels/define_kernel.h"
#include "numerics/log2.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t kTableEntries = 256;
constexpr int32_t kOne = 1 << 20;  // exp(0) in the table

abi::LogSoftmaxParams params_of(const Call& call) {
  abi::LogSoftmaxParams params;
  memcpy(&params, tensor(call, 1).data, sizeof params);
  return params;
}

const int32_t* table_of(const Call& call) {
  return reinterpret_cast<const int32_t*>(codes(tensor(call, 1)) +
                                          sizeof(abi::ParamsOf<abi::op_info::thimble_log_softmax>));
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  THIMBLE_RETURN_IF_ERROR(check_rows(x, tensor(call, 2), static_cast<uint32_t>(x.rank - 1)));
  if (x.sizes[x.rank - 1] > abi::kMaxLogSoftmaxRow) return Status::kBadShape;
  constexpr uint32_t kBytes =
      sizeof(abi::ParamsOf<abi::op_info::thimble_log_softmax>) + kTableEntries * sizeof(int32_t);
  THIMBLE_RETURN_IF_ERROR(check_blob(tensor(call, 1), kBytes));
  const abi::LogSoftmaxParams params = params_of(call);
  const bool fine = is_scale(params.scale_mult, params.scale_shift) &&
                    is_scale(params.log_mult, params.log_shift) && is_code(params.y_offset);
  if (!fine) return Status::kBadParameter;
  // These bounds ensure that the sum of a row is in [2^20, 2^31).
  const int32_t* table = table_of(call);
  if (table[0] != kOne) return Status::kBadParameter;
  for (uint32_t k = 1; k < kTableEntries; ++k) {
    if (table[k] < 0 || table[k] > kOne) return Status::kBadParameter;
  }
  return Status::kOk;
}

void row(const int8_t* x, int32_t count, const abi::LogSoftmaxParams& params, const int32_t* table,
         int8_t* y) {
  int32_t maximum = x[0];
  for (int32_t i = 1; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  uint32_t sum = 0;
  for (int32_t i = 0; i < count; ++i) sum += static_cast<uint32_t>(table[maximum - x[i]]);
  const int32_t log = numerics::log2_fixed(sum) - (20 << 16);
  const int32_t base = numerics::requantize(log, params.log_mult, params.log_shift);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t scaled =
        numerics::requantize(x[i] - maximum, params.scale_mult, params.scale_shift);
    const int32_t code = numerics::wrap_add(numerics::wrap_sub(scaled, base), params.y_offset);
    y[i] = static_cast<int8_t>(numerics::clamp(code, -128, 127));
  }
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const abi::LogSoftmaxParams params = params_of(call);
  const int32_t length = x.sizes[x.rank - 1];
  const int32_t count = elements(x);
  for (int32_t i = 0; i < count; i += length) {
    row(codes(x) + i, length, params, table_of(call), mutable_codes(tensor(call, 2)) + i);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_log_softmax, check, run);

}  // namespace thimble::kernels
