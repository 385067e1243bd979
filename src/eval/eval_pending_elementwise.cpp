// Rows whose meaning is still to be written.
#include "eval/call.h"

namespace thimble::eval {
#define PENDING(name) void eval_##name(const Call&) { assert(false && #name); }
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
}  // namespace thimble::eval
