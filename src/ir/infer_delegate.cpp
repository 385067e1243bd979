#include "ir/infer_rules.h"

namespace thimble::ir {

/// What a region computes is not known here: the operator says what it makes.
Result<Type> infer_delegate(const Candidate& c) {
  THIMBLE_CHECK(c.expect_range("region", 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range("output", 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range("type", 0, static_cast<int64_t>(DType::kBool)));
  return Type{static_cast<DType>(c.integer("type")), c.op().integers("shape"), {}, {}};
}

}  // namespace thimble::ir
