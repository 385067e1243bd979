// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/gru.h"

namespace thimble::kernels {

namespace {

Status check(const Call& call, const RecurrentSignature& form) {
  THIMBLE_RETURN_IF_ERROR(check_recurrent(call, form));
  const abi::GruParams& p = params<abi::op_info::thimble_gru>(tensor(call, kGruSignature.params()));
  const bool fine = p.h_bits >= 0 && p.h_bits <= 15 && is_scale(p.h0_mult, p.h0_shift);
  if (!fine) return Status::kBadParameter;
  const bool same = tensor(call, kGruSignature.y()).dtype == tensor(call, 0).dtype;
  return same ? Status::kOk : Status::kBadDType;
}

}  // namespace

Status check_gru(const Call& call) {
  return check(call, kGruSignature);
}
Status check_gru_int4(const Call& call) {
  return check(call, kGruInt4Signature);
}

}  // namespace thimble::kernels
