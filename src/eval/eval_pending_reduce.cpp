// Rows whose meaning is still to be written.
#include "eval/call.h"

namespace thimble::eval {
#define PENDING(name) void eval_##name(const Call&) { assert(false && #name); }
PENDING(amax)
PENDING(amin)
PENDING(argmax)
PENDING(cumsum)
PENDING(group_norm)
PENDING(layer_norm)
PENDING(qcumsum)
PENDING(qgroup_norm)
PENDING(qlayer_norm)
PENDING(qrms_norm)
PENDING(qvariance)
PENDING(rms_norm)
PENDING(sum)
PENDING(variance)
}  // namespace thimble::eval
