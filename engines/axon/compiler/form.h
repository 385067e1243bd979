#pragma once
// form(): a region of the integer graph in the NPU's own arithmetic, still as a graph, so that the
// evaluator judges what the NPU shall compute.
//
// Before: operators that requantize with double or single rounding. After: the same inputs, outputs
// and state with the same types; every sum is requantized once, halves to even with the zero point
// inside (docs/numerics.md, "Halves to even"), in the layer that makes it. A leaky relu is part of
// its layer. In front of a sigmoid or tanh stand 16 bits, in front of a softmax 32, both with 12
// fractional bits, instead of int8: scales of values between layers are the NPU's, those at the
// borders the graph's own. Padding is part of its convolution.
//
// Not supported: the first operator that the NPU cannot run, with the reason.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::axon {

[[nodiscard]] Result<ir::Graph> form(const ir::Graph& region);

}  // namespace thimble::engine::axon
