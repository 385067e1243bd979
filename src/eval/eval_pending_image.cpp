// Rows whose meaning is still to be written.
#include "eval/call.h"

namespace thimble::eval {
#define PENDING(name) void eval_##name(const Call&) { assert(false && #name); }
PENDING(adaptive_avg_pool2d)
PENDING(adaptive_max_pool2d)
PENDING(conv_transpose2d)
PENDING(qadaptive_avg_pool2d)
PENDING(qconv_transpose2d)
PENDING(qresize_bilinear)
PENDING(resize_bilinear)
}  // namespace thimble::eval
