// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/add_table.h"

#include "abi/ops/arithmetic.h"
#include "kernels/args/binary_nest.h"

namespace thimble::kernels {

Status check_add_table(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(
      check_blob(tensor(call, 2), sizeof(abi::ParamsOf<abi::op_info::thimble_add_table>)));
  const auto& p = packed<abi::op_info::thimble_add_table>(tensor(call, 2));
  THIMBLE_RETURN_IF_ERROR(check_binary_nest(call, p.nest));
  const bool fine = are_bounds(p.add.min, p.add.max) && is_code(p.add.y_offset) &&
                    p.add.y_shift >= -31 && p.add.y_shift <= -1;
  return fine ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
