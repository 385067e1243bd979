// Rows whose type rule is still to be written.
#include "ir/infer_rules.h"

namespace thimble::ir {
#define PENDING(name) Result<Type> infer_##name(const Candidate&) { return unsupported(#name " is not ready"); }
PENDING(abs)
PENDING(compare)
PENDING(cos)
PENDING(div)
PENDING(erf)
PENDING(exp)
PENDING(floor)
PENDING(log)
PENDING(logical_and)
PENDING(logical_not)
PENDING(logical_or)
PENDING(maximum)
PENDING(minimum)
PENDING(pow)
PENDING(qdiv)
PENDING(rsqrt)
PENDING(sin)
PENDING(sqrt)
PENDING(where)
}  // namespace thimble::ir
