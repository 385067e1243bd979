#pragma once
// The Abacus, executed. Written from docs/numerics.md alone: it shares no arithmetic with Thimble's
// kernels, so that agreement with the evaluator is evidence.

#include "engines/abacus/container/program.h"

namespace thimble::abacus {

/// The program is sound (is_sound).
void run(const Job& job);

}  // namespace thimble::abacus
