// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dedicated_Sram: adds copies of the network's inputs, which are in external memory.

#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

/// Adds a copy (NpuOp::stages_input) before the first reader of an input that is read window by
/// window. Blocks overlap and rows are narrow, so the external memory would be read several times.
/// The scheduler decides whether the copy is made.
[[nodiscard]] NpuProgram stage_inputs(NpuProgram program);

}  // namespace thimble::engine::ethos_u
