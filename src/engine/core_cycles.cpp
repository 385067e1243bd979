// SPDX-License-Identifier: Apache-2.0
#include "engine/core_cycles.h"

#include "ir/op_cost.h"
#include "ir/op_traits.h"

namespace thimble::engine {

double core_cycles(const ir::Graph& subgraph) {
  constexpr double kCall = 900, kElement = 60, kMac = 3, kMoved = 2;
  double cycles = 0;
  for (const ir::Op& op : subgraph.ops()) {
    const auto elements = static_cast<double>(subgraph.type(op.output).elements());
    cycles += kCall + (ir::only_moves(op.kind) ? kMoved : kElement) * elements +
              kMac * static_cast<double>(ir::macs_of(subgraph, op));
  }
  return cycles;
}

}  // namespace thimble::engine
