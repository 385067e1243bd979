#pragma once
// Runs a stream as the worst hardware that keeps the rules would. A stream without hazards gives
// the same bytes in every mode; one whose wait was left out gives others. This is what the hazard
// checker (hazard.h) is measured against, and it shares nothing with it but the rules: it executes
// and looks at bytes, and never compares footprints.
//
//   kLateWrites   What an operation writes lands when it retires. A kernel sees the kernel before
//                 it except for the BLOCKDEP jobs that may still be unwritten.
//   kLateKernels  Kernels read and write when they retire, DMAs at once.
//   kLateDmas     DMAs read and write when they retire, kernels at once.

#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {

enum class Adversary : uint8_t { kLateWrites, kLateKernels, kLateDmas };

/// As run(); `memory` holds writes on their way.
[[nodiscard]] Fault run_adversary(const Job& job, Adversary mode, uint8_t* memory, size_t bytes);

/// Bytes of `memory` that any mode needs.
[[nodiscard]] Fault adversary_bytes(const Job& job, size_t* bytes);

}  // namespace thimble::ethos_u::sim
