// SPDX-License-Identifier: Apache-2.0
#include "import/linear_along.h"

#include <numeric>

namespace thimble::import_pt2 {

using ir::OpKind;
using ir::ValueId;

Result<ValueId> linear_along(Call& call, ValueId x, size_t dim, ir::Tensor matrix) {
  Ints dims(call.shape(x).size());
  std::iota(dims.begin(), dims.end(), 0);
  const bool moves = dim + 1 != dims.size();
  std::swap(dims[dim], dims.back());
  const ir::Attrs exchange = {{ir::attr::dims, dims}};
  if (moves) {
    THIMBLE_TRY(x, call.add(OpKind::permute, {x}, exchange));
  }
  const ValueId w = call.constant_value(fmt::format("matrix_{}", dim), std::move(matrix));
  THIMBLE_TRY(x, call.add(OpKind::linear, {x, w, ir::kNoValue}));
  return moves ? call.add(OpKind::permute, {x}, exchange) : x;
}

}  // namespace thimble::import_pt2
