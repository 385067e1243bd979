#pragma once
// Dedicated_Sram: adds copies of the network's inputs, which are in external memory.

#include "target/ethos_u/npu_op.h"

namespace thimble::target::ethos_u {

/// Adds a copy (NpuOp::stages_input) before the first reader of an input that is read window by
/// window. Blocks overlap and rows are narrow, so the external memory would be read several times.
/// The scheduler decides whether the copy is made.
[[nodiscard]] NpuProgram stage_inputs(NpuProgram program);

}  // namespace thimble::target::ethos_u
