#pragma once
// From the integer graph of one partition to operations of the NPU (npu_op.h).
//
// Values are views: a tensor of memory, an offset, and a step per logical dimension. Permutations,
// slices and splits only change the view; reshapes do where the steps allow. What works element by
// element takes the widest height, width and depth that all its views share, and is repeated over
// the dimensions that are left. What needs the channels side by side copies its input if they are
// not. An operator whose result is only part of a concatenation writes its place in it.
//
// Images [N,C,H,W] lie as h, w, c; a matrix [M,K] has its rows as h x w and K as c. Inputs and
// outputs lie as the dim_order of their types says.

#include "base/result.h"
#include "ir/graph.h"
#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

/// The region's operators must be legal (legal.h): else the error of the first that is not.
/// `config` must outlive the program.
[[nodiscard]] Result<NpuProgram> lower(const ir::Graph& region,
                                       const thimble::ethos_u::Config& config);

}  // namespace thimble::engine::ethos_u
