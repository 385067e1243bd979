#pragma once
// What an Ethos-U can run exactly, operator by operator, and why not.
//
// The numbers are rows (limits.def): an operator, the generations, a quantity of the operator and
// the range it may have. What rows cannot say is found by lowering the operator alone, so that
// `legal` and `lower` never disagree. Exact means: the simulator gives what the evaluator gives, in
// every byte; nothing is approximated.

#include <string>

#include "ir/graph.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::engine::ethos_u {

struct Verdict {
  bool legal = false;
  std::string reason;  // empty if legal; the offending value and the limit otherwise
};

[[nodiscard]] Verdict legal(const ir::Graph& graph, const ir::Op& op,
                            const thimble::ethos_u::Config& config);

}  // namespace thimble::engine::ethos_u
