// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a stream on the least favourable hardware that the ordering rules allow. A stream without
// hazards gives the same bytes in every mode; a stream that lacks a wait gives different bytes. The
// hazard checker (hazard.h) is compared with this. The two share only the rules: this code executes
// the stream and compares bytes, and never compares footprints.
//
//   kLateWrites   Writes of an operation reach memory when it retires. A kernel reads the results
//                 of the previous kernel, except those of the BLOCKDEP jobs that may be unwritten.
//   kLateKernels  Kernels read and write when they retire, DMAs when they are issued.
//   kLateDmas     DMAs read and write when they retire, kernels when they are issued.

#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::sim {

enum class Adversary : uint8_t { kLateWrites, kLateKernels, kLateDmas };

/// Same as run(). `memory` is a buffer for delayed writes.
[[nodiscard]] Fault run_adversary(const Job& job, Adversary mode, uint8_t* memory, size_t bytes);

/// Computes the size of `memory` that is sufficient for every mode.
[[nodiscard]] Fault adversary_bytes(const Job& job, size_t* bytes);

}  // namespace thimble::ethos_u::sim
