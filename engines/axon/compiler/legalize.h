// SPDX-License-Identifier: Apache-2.0
#pragma once
// legalize(): converts a subgraph of the integer graph to the NPU's arithmetic. The result is still
// a graph, so the reference evaluator computes what the NPU must compute.
//
// Before: operators that requantize with double or single rounding. After: the same inputs, outputs
// and states with the same types. Every sum is requantized once, in the layer that computes it. It
// rounds half to even after adding the zero point (docs/numerics.md, "Halves to even"). A leaky
// relu is fused into its layer, a padding into its convolution. The operand of a sigmoid or tanh
// has 16 bits instead of int8, the operand of a softmax 32 bits, both with 12 fractional bits.
// So scales inside the subgraph are the NPU's; scales at its borders are unchanged.
//
// Returns an unsupported error with the reason for the first operator that the NPU cannot run.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::axon {

[[nodiscard]] Result<ir::Graph> legalize(const ir::Graph& subgraph);

}  // namespace thimble::engine::axon
