#include "ir/infer_rules.h"

namespace thimble::ir {

/// The graph does not contain the operators of a subgraph: the attributes state the result type.
Result<Type> infer_delegate(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range("region", 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range("output", 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range("type", 0, static_cast<int64_t>(DType::kBool)));
  return Type{static_cast<DType>(c.integer("type")), c.op().integers("shape"), {}, {}};
}

}  // namespace thimble::ir
