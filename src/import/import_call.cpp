// SPDX-License-Identifier: Apache-2.0
#include "import/import_call.h"

#include <optional>

#include "import/constants.h"
#include "import/integers.h"

namespace thimble::import_pt2 {

using ir::ValueId;

Status import_call(Call& call, Handler handler, std::string_view target) {
  const auto* meta = call.result_meta();
  const auto dtype = meta == nullptr ? std::nullopt : ir_dtype(meta->dtype);
  const auto tabulated = [&]() -> Result<ValueId> {
    if (!dtype || *dtype == ir::DType::kF32) return ir::kNoValue;
    return tabulate_integers(call, target);
  };
  if (dtype != ir::DType::kBool) {
    THIMBLE_TRY(const ValueId row, tabulated());
    if (row != ir::kNoValue) return call.result(row);
    THIMBLE_TRY(const ValueId computed, compute_integers(call, target));
    return computed == ir::kNoValue ? handler(call) : call.result(computed);
  }
  Status status = handler(call);
  if (status.ok() || status.error().kind != ErrorKind::kUnsupported) return status;
  THIMBLE_TRY(const ValueId row, tabulated());
  if (row != ir::kNoValue) return call.result(row);
  return status;
}

}  // namespace thimble::import_pt2
