// Rows whose type rule is still to be written.
#include "ir/infer_rules.h"

namespace thimble::ir {
#define PENDING(name) Result<Type> infer_##name(const Candidate&) { return unsupported(#name " is not ready"); }
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
}  // namespace thimble::ir
