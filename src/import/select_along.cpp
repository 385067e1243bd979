// SPDX-License-Identifier: Apache-2.0
#include "import/select_along.h"

#include <algorithm>

namespace thimble::import_pt2 {

using ir::ValueId;

Result<ValueId> select_along(Call& call, ValueId x, size_t dim, const Ints& positions) {
  const int64_t count = static_cast<int64_t>(positions.size());
  if (count > ir::kMaxElements) return unsupported("the result has too many elements");
  bool follow = true;
  for (size_t i = 0; i < positions.size(); ++i) {
    follow = follow && positions[i] == positions[0] + static_cast<int64_t>(i);
  }
  const int64_t axis = static_cast<int64_t>(dim);
  if (follow) return call.apply({slice_step(axis, positions[0], positions[0] + count)}, x);
  ir::Tensor index = ir::zeros(ir::DType::kI32, {count});
  std::transform(positions.begin(), positions.end(), index.data<int32_t>().begin(),
                 [](int64_t position) { return static_cast<int32_t>(position); });
  const ValueId positions_id = call.constant_value("index", std::move(index));
  return call.add(ir::OpKind::gather, {x, positions_id}, {{ir::attr::dim, axis}});
}

}  // namespace thimble::import_pt2
