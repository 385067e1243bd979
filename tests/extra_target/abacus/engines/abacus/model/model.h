// SPDX-License-Identifier: Apache-2.0
#pragma once
// Executes a program of the Abacus. Written from docs/numerics.md only: it shares no arithmetic
// with Thimble's kernels, so agreement with the reference evaluator is evidence.

#include "engines/abacus/container/program.h"

namespace thimble::abacus {

/// Executes the program, which must be valid (is_valid()).
void run(const Job& job);

}  // namespace thimble::abacus
