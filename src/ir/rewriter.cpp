// SPDX-License-Identifier: Apache-2.0
#include <cassert>

#include "ir/dce.h"
#include "ir/graph.h"

namespace thimble::ir {

Rewriter::Rewriter(const Graph& from)
    : Rewriter(from, std::vector<bool>(from.value_count(), true)) {}

Rewriter::Rewriter(const Graph& from, const std::vector<bool>& keep)
    : from_(from), mapped_(from.value_count(), kNoValue) {
  to_.name = from.name;
  for (const ValueId id : from.inputs()) {
    set(id, to_.add_input(from.value(id).name, from.type(id)));
  }
  for (const State& state : from.states()) {
    if (!keep[static_cast<size_t>(state.value)]) continue;
    const Value& value = from.value(state.value);
    const ValueId copied = to_.add_state(value.name, state.initial, value.type.quant);
    to_.value(copied).type.dim_order = value.type.dim_order;
    set(state.value, copied);
  }
}

ValueId Rewriter::map(ValueId old_value) {
  if (old_value == kNoValue) return kNoValue;
  ValueId& slot = mapped_[static_cast<size_t>(old_value)];
  if (slot != kNoValue) return slot;
  const Value& value = from_.value(old_value);
  assert(value.constant != nullptr && "a value is used before its operator was copied or replaced");
  slot = to_.add_constant(value.name, value.constant, value.type.quant);
  to_.value(slot).type.dim_order = value.type.dim_order;
  return slot;
}

std::vector<ValueId> Rewriter::map(std::span<const ValueId> old_values) {
  std::vector<ValueId> result;
  for (const ValueId id : old_values) result.push_back(map(id));
  return result;
}

void Rewriter::set(ValueId old_value, ValueId new_value) {
  mapped_[static_cast<size_t>(old_value)] = new_value;
}

Status Rewriter::copy(const Op& op) {
  const Value& old = from_.value(op.output);
  THIMBLE_TRY(const ValueId copied, to_.add(op.kind, map(op.inputs), op.attrs, op.source,
                                            {old.name, old.type.dim_order, old.type.quant}));
  set(op.output, copied);
  return ok();
}

Graph Rewriter::finish() {
  for (const ValueId id : from_.outputs()) to_.add_output(map(id));
  finish_states();
  return std::move(to_);
}

void Rewriter::finish_states() {
  size_t kept = 0;
  for (const State& state : from_.states()) {
    if (mapped_[static_cast<size_t>(state.value)] == kNoValue) continue;
    to_.set_next(kept++, map(state.next));
  }
}

namespace {

/// Returns the values that the outputs depend on. If a state is needed, its next value is needed
/// too, which may in turn need other states.
std::vector<bool> needed_values(const Graph& graph) {
  std::vector<bool> needed(graph.value_count(), false);
  for (const ValueId id : graph.outputs()) needed[static_cast<size_t>(id)] = true;
  for (bool grown = true; grown;) {
    for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op) {
      if (!needed[static_cast<size_t>(op->output)]) continue;
      for (const ValueId id : op->inputs) {
        if (id != kNoValue) needed[static_cast<size_t>(id)] = true;
      }
    }
    grown = false;
    for (const State& state : graph.states()) {
      if (!needed[static_cast<size_t>(state.value)] || needed[static_cast<size_t>(state.next)]) {
        continue;
      }
      needed[static_cast<size_t>(state.next)] = true;
      grown = true;
    }
  }
  return needed;
}

}  // namespace

Graph remove_unused(const Graph& graph) {
  const std::vector<bool> needed = needed_values(graph);
  Rewriter rewriter(graph, needed);
  for (const Op& op : graph.ops()) {
    if (!needed[static_cast<size_t>(op.output)]) continue;
    const Status copied = rewriter.copy(op);
    assert(copied.ok() && "an operator of a checked graph is accepted again");
    (void)copied;
  }
  return rewriter.finish();
}

}  // namespace thimble::ir
