// Rows whose meaning is still to be written.
#include "eval/call.h"

namespace thimble::eval {
#define PENDING(name) void eval_##name(const Call&) { assert(false && #name); }
PENDING(gru)
PENDING(lstm)
PENDING(qgru)
PENDING(qlstm)
PENDING(qrnn)
PENDING(rnn)
}  // namespace thimble::eval
