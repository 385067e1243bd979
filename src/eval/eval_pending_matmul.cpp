// Rows whose meaning is still to be written.
#include "eval/call.h"

namespace thimble::eval {
#define PENDING(name) void eval_##name(const Call&) { assert(false && #name); }
PENDING(gather)
PENDING(gather_elements)
PENDING(matmul)
PENDING(qmatmul)
}  // namespace thimble::eval
