// SPDX-License-Identifier: Apache-2.0
#pragma once
// Determines for each operator whether an Ethos-U can run it exactly, and otherwise the reason.
//
// Numeric limits are rows of ops.def: an operator, the generations, a quantity of the operator and
// its range. All other limits are found by lowering the operator alone, so that `legal` and `lower`
// never disagree. Exact means that the simulator's output equals that of the reference evaluator in
// every byte. Nothing is approximated.

#include <string>

#include "engines/ethos_u/isa/config.h"
#include "ir/graph.h"

namespace thimble::engine::ethos_u {

struct Legality {
  bool legal = false;
  std::string reason;  // empty if legal; otherwise the offending value and the limit
};

[[nodiscard]] Legality legal(const ir::Graph& graph, const ir::Op& op,
                             const thimble::ethos_u::Config& config);

}  // namespace thimble::engine::ethos_u
