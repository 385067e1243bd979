// Rows whose type rule is still to be written.
#include "ir/infer_rules.h"

namespace thimble::ir {
#define PENDING(name) Result<Type> infer_##name(const Candidate&) { return unsupported(#name " is not ready"); }
PENDING(gru)
PENDING(lstm)
PENDING(qgru)
PENDING(qlstm)
PENDING(qrnn)
PENDING(rnn)
}  // namespace thimble::ir
