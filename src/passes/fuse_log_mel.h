// SPDX-License-Identifier: Apache-2.0
#pragma once
// fuse_log_mel(graph): replaces a power spectrum, a constant filter bank and a logarithm by
// log_mel, whose integer form keeps the whole range of the powers. The separate operators would
// round powers over many decades to 8 or 16 bits.
//
// Matched: log(max(mel(power), floor) + eps), with either or none of floor and eps, then factors
// and addends that are one number. `power` is a power_spectrum, or the square of its root, in any
// views. If the frames are views of a row of samples (as in core ATen, where stft is an unfold, a
// product with the window and a transform), log_mel reads the row.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {

[[nodiscard]] Result<ir::Graph> fuse_log_mel(const ir::Graph& graph);

}  // namespace thimble::passes
