#pragma once
// Packed calls: operators whose constants the compiler has laid out for one instruction set.
//
// A packing is an operator of its own in abi/pte_ops.def ("thimble::conv2d_mve.out"), so that a
// runtime without a kernel for it refuses the file; its bytes are described in
// abi/native_params.h, and a portable kernel reads the same bytes on every other machine. fast.def
// has a row per packing: which instruction set, or any, which operator of the IR, which function
// makes the call. Of the rows that have a call for the operator's shape the one with the fewest
// instructions by costs.def is taken, which are counted under QEMU; where a row has not been
// measured, the first. Where none has a call, select.cpp's general form is taken. That is for
// speed; forms.h chooses for flash and size.

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// The call, without result and index, or nothing where the packing does not take this shape.
using FastForm = std::optional<KernelCall>(const ir::Graph& graph, const ir::Op& op);

#define THIMBLE_FAST(isa, kind, function) FastForm function;
#define THIMBLE_FAST_ANY(kind, function) FastForm function;
#include "engines/cortex_m/compiler/fast.def"
#undef THIMBLE_FAST
#undef THIMBLE_FAST_ANY

/// All that take the operator's shape, the one for speed first.
[[nodiscard]] std::vector<KernelCall> fast_calls(const ir::Graph& graph, const ir::Op& op,
                                                 const Core& target);

}  // namespace thimble::engine::cortex_m
