// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/lstm.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call, const RecurrentSignature& form) {
  THIMBLE_RETURN_IF_ERROR(check_recurrent(call, form));
  const abi::LstmParams& p =
      params<abi::op_info::thimble_lstm>(tensor(call, kLstmSignature.params()));
  const bool fine = p.cell >= 0 && p.cell <= 2 && p.c_bits >= 0 && p.c_bits <= 15 &&
                    is_code(p.c0_zp) && is_scale(p.c0_mult, p.c0_shift) && is_code(p.y_zp) &&
                    is_scale(p.y_mult, p.y_shift);
  const DType of_x = tensor(call, 0).dtype;
  if (!fine || (of_x == DType::kI16 && p.y_zp != 0)) return Status::kBadParameter;
  const DType of_c0 = tensor(call, 2).dtype;
  const DType of_y = tensor(call, kLstmSignature.y()).dtype;
  const bool types =
      (of_c0 == DType::kI8 || of_c0 == DType::kI16) && of_y == (p.cell == 2 ? DType::kI16 : of_x);
  return types ? Status::kOk : Status::kBadDType;
}

}  // namespace

Status check_lstm(const Call& call) {
  return check(call, kLstmSignature);
}
Status check_lstm_int4(const Call& call) {
  return check(call, kLstmInt4Signature);
}

void begin_lstm(const Call& call, const Recurrent& layer, const abi::LstmParams& p, int16_t* c,
                int32_t b) {
  const int32_t first = b * layer.hidden;
  const Tensor& c0 = tensor(call, 2);
  for (int32_t j = 0; j < layer.hidden; ++j) {
    if (c0.dtype == DType::kI16) {
      c[j] = static_cast<const int16_t*>(c0.data)[first + j];
    } else {
      const int32_t code = codes(c0)[first + j] - p.c0_zp;
      c[j] = static_cast<int16_t>(
          numerics::saturate16(numerics::requantize(code, p.c0_mult, p.c0_shift)));
    }
  }
}

}  // namespace thimble::kernels
