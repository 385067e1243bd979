// Rows whose type rule is still to be written.
#include "ir/infer_rules.h"

namespace thimble::ir {
#define PENDING(name) Result<Type> infer_##name(const Candidate&) { return unsupported(#name " is not ready"); }
PENDING(gather)
PENDING(gather_elements)
PENDING(matmul)
PENDING(qmatmul)
}  // namespace thimble::ir
