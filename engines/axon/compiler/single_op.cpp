// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/single_op.h"

#include <map>

namespace thimble::engine::axon {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

class SingleOpBuilder {
 public:
  explicit SingleOpBuilder(const ir::Graph& from) : from_(from) {}

  Status add(const Op& op) {
    std::vector<ValueId> inputs;
    for (const ValueId id : op.inputs) inputs.push_back(id == ir::kNoValue ? id : map(id));
    const ir::Value& value = from_.value(op.output);
    THIMBLE_TRY(known_[op.output], to_.add(op.kind, std::move(inputs), op.attrs, op.source,
                                           {value.name, value.type.dim_order, value.type.quant}));
    return ok();
  }
  void add_output(ValueId id) { to_.add_output(known_[id]); }
  ir::Graph finish() { return std::move(to_); }

 private:
  ValueId map(ValueId id) {
    const auto found = known_.find(id);
    if (found != known_.end()) return found->second;
    const ir::Value& value = from_.value(id);
    return known_[id] = value.constant
                            ? to_.add_constant(value.name, value.constant, value.type.quant)
                            : to_.add_input(value.name, value.type);
  }

  const ir::Graph& from_;
  ir::Graph to_;
  std::map<ValueId, ValueId> known_;
};

}  // namespace

Result<ir::Graph> single_op_graph(const ir::Graph& graph, const Op& op) {
  SingleOpBuilder cutting(graph);
  THIMBLE_CHECK(cutting.add(op));
  bool convolutions = op.kind == OpKind::pad;
  std::vector<const Op*> readers;
  for (const Op& other : graph.ops()) {
    for (const ValueId input : other.inputs) {
      if (input != op.output) continue;
      convolutions = convolutions && other.kind == OpKind::qconv2d;
      readers.push_back(&other);
    }
  }
  for (const ValueId result : graph.results()) convolutions = convolutions && result != op.output;
  if (!convolutions || readers.empty()) {
    cutting.add_output(op.output);
    return cutting.finish();
  }
  for (const Op* reader : readers) {
    THIMBLE_CHECK(cutting.add(*reader));
    cutting.add_output(reader->output);
  }
  return cutting.finish();
}

}  // namespace thimble::engine::axon
