// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decompiles a `.pte` to IR. `run --on eval` evaluates the result, and the tests prove with it that
// every parameter of every kernel is understood.
//
// The tensors of the file are addresses, not SSA values, so the decompiler tracks what each range
// of memory holds. A call writes its result at an address, and a later read of that address returns
// the result. If the reader declares another shape or memory order, a permute and a reshape are
// added. Supported are both dialects and files of other writers, as far as pte_ops.def has their
// operators; others are an `unsupported` error.

#include <optional>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "formats/pte/program.h"
#include "ir/graph.h"

namespace thimble::emit {

/// The program must come from formats::pte::read(), which has checked every index. Decompiles the
/// plan "forward", or the first plan if there is no "forward".
[[nodiscard]] Result<ir::Graph> decompile(const formats::pte::Program& program);

struct Decompiled {
  ir::Graph graph;
  /// One per kernel call with one result. Calls with several results (split, unbind) have none.
  std::vector<ir::ValueId> results;
};
[[nodiscard]] Result<Decompiled> decompile_with_results(const formats::pte::Program& program);

/// The kernel calls of a program as calls of a lowered graph, for estimates of their cost.
struct DecompiledCalls {
  engine::Lowered lowered;  // without arguments of calls, and without delegates
  /// By instruction of the first chain: index into lowered.calls; nullopt for an instruction that
  /// has no result, that several operators could compute, or that is no kernel call.
  std::vector<std::optional<size_t>> call_of;
};
/// Also for programs with delegates, whose results count as inputs of the graph.
[[nodiscard]] DecompiledCalls decompile_calls(const formats::pte::Program& program);

/// Returns the quantization that the program gives each float input; nullopt for an input that it
/// does not quantize, or not with one kernel call. Also for a program with delegates.
[[nodiscard]] std::vector<std::optional<ir::Type>> quantized_inputs(
    const formats::pte::Program& program);

}  // namespace thimble::emit
