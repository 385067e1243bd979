// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes one kernel as register commands, followed by the operation. The order of the register
// writes is arbitrary.

#include "base/result.h"
#include "engines/ethos_u/compiler/kernel.h"
#include "engines/ethos_u/compiler/stream.h"

namespace thimble::engine::ethos_u {

/// Writes the registers whose value changes. Writes neither the operation nor BLOCKDEP.
[[nodiscard]] Status write_registers(const Kernel& kernel, CommandStream* stream);
void write_operation(const Kernel& kernel, CommandStream* stream);

}  // namespace thimble::engine::ethos_u
