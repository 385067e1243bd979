// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/stock_softmax.h"

#include "abi/ops/stock.h"
#include "kernels/args/rows.h"

namespace thimble::kernels {

Status check_stock_softmax(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::cortex_m_softmax;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_rows(tensor(call, 0), tensor(call, 7), softmax_dimension(call)));
  const int32_t shift = integer(call, 5);
  const bool fine = is_code(integer(call, 2)) && integer(call, 3) == -128 &&
                    integer(call, 4) >= 0 && shift >= 0 && shift <= 31 && integer(call, 6) <= 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
