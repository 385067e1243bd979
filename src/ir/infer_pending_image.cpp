// Rows whose type rule is still to be written.
#include "ir/infer_rules.h"

namespace thimble::ir {
#define PENDING(name) Result<Type> infer_##name(const Candidate&) { return unsupported(#name " is not ready"); }
PENDING(adaptive_avg_pool2d)
PENDING(adaptive_max_pool2d)
PENDING(conv_transpose2d)
PENDING(qadaptive_avg_pool2d)
PENDING(qconv_transpose2d)
PENDING(qresize_bilinear)
PENDING(resize_bilinear)
}  // namespace thimble::ir
