// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runtime's work outside of kernels, from the calls of a program. `compile`, `fit` and `diff`
// use it.

#include "engine/runtime_work.h"
#include "formats/pte/program.h"

namespace thimble::driver {

/// Returns the work of one run of the first plan. An operator without a row in abi/pte_ops.def
/// counts as a call without arguments.
[[nodiscard]] engine::RuntimeWork runtime_work(const formats::pte::Program& program);

}  // namespace thimble::driver
