// SPDX-License-Identifier: Apache-2.0
#include "ir/infer_rules.h"

namespace thimble::ir {

/// The graph does not contain the operators of a subgraph: the attributes state the result type.
Result<Type> infer_delegate(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::subgraph, 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range(attr::output, 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range(attr::type, 0, static_cast<int64_t>(DType::kBool)));
  return Type{static_cast<DType>(c.get(attr::type)), c.op().get(attr::shape), {}, {}};
}

}  // namespace thimble::ir
