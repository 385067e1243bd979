// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lowers the integer graph of one partition to operations of the NPU (npu_op.h).
//
// Values are views: a tensor in memory, an offset, and a stride per logical dimension.
// Permutations, slices and splits only change the view; so do reshapes if the strides allow it.
// Elementwise operators use the largest height, width and depth that all their views share, and are
// repeated over the remaining dimensions. An operator that needs consecutive channels copies its
// input if they are not. An operator whose result is only part of a concatenation writes directly
// into the result.
//
// 4-D values [N,C,H,W] are stored as NHWC. A matrix [M,K] has its rows as h x w and K as c. Inputs
// and outputs are stored according to the dim_order of their types.

#include "base/result.h"
#include "engines/ethos_u/compiler/npu_op.h"
#include "ir/graph.h"

namespace thimble::engine::ethos_u {

/// Returns an error for the first operator of the subgraph that is not legal (legal.h). `config`
/// must outlive the program.
[[nodiscard]] Result<NpuProgram> lower(const ir::Graph& subgraph,
                                       const thimble::ethos_u::Config& config);

}  // namespace thimble::engine::ethos_u
