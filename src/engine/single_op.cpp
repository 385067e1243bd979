// SPDX-License-Identifier: Apache-2.0
#include "engine/single_op.h"

#include <map>

namespace thimble::engine {

using ir::ValueId;

Result<ir::Graph> single_op_graph(const ir::Graph& graph, const ir::Op& op) {
  ir::Graph one;
  std::map<ValueId, ValueId> known = {{ir::kNoValue, ir::kNoValue}};
  std::vector<ValueId> inputs;
  for (const ValueId id : op.inputs) {
    if (!known.contains(id)) {
      const ir::Value& value = graph.value(id);
      known[id] = value.constant != nullptr
                      ? one.add_constant(value.name, value.constant, value.type.quant)
                      : one.add_input(value.name, value.type);
    }
    inputs.push_back(known[id]);
  }
  const ir::Value& value = graph.value(op.output);
  ir::Graph::ResultHint hint = {value.name, value.type.dim_order, value.type.quant};
  THIMBLE_TRY(const ValueId y, one.add(op.kind, std::move(inputs), op.attrs, op.source, hint));
  one.add_output(y);
  return one;
}

}  // namespace thimble::engine
