// SPDX-License-Identifier: Apache-2.0
#include "engine/state.h"

#include <set>

#include "engine/engine.h"
#include "ir/views.h"

namespace thimble::engine {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::State;
using ir::ValueId;

class StateMemoryPass {
 public:
  explicit StateMemoryPass(const Graph& graph)
      : from_(graph), rewriter_(graph), producers_(graph.producers()) {
    for (size_t i = 0; i < graph.value_count(); ++i) source_.push_back(static_cast<ValueId>(i));
    for (const Op& op : graph.ops()) {
      if (ir::is_alias(graph, op)) source_[index(op.output)] = source_[index(op.inputs[0])];
    }
    find_last_reads();
  }

  Result<Graph> run() {
    for (const Op& op : from_.ops()) THIMBLE_CHECK(rewriter_.copy(op));
    // An output that holds the old content of a state is copied before any state changes.
    std::vector<ValueId> outputs;
    for (const ValueId output : from_.outputs()) {
      THIMBLE_TRY(const ValueId kept, held(output));
      outputs.push_back(kept);
    }
    std::vector<ValueId> nexts;
    for (const State& state : from_.states()) {
      const bool stays = source(state.next) == state.value;
      THIMBLE_TRY(const ValueId next,
                  stays ? Result<ValueId>(rewriter_.map(state.value)) : held(state.next));
      nexts.push_back(next);
    }
    for (size_t i = 0; i < nexts.size(); ++i) {
      const State& state = from_.states()[i];
      if (source(state.next) != state.value && !direct(state)) {
        THIMBLE_TRY(nexts[i], copied(nexts[i], from_.value(state.next).name + "_kept"));
      }
      rewriter_.to().set_next(i, nexts[i]);
    }
    for (const ValueId output : outputs) rewriter_.to().add_output(output);
    return std::move(rewriter_.to());
  }

 private:
  static size_t index(ValueId id) { return static_cast<size_t>(id); }
  ValueId source(ValueId id) const { return source_[index(id)]; }

  void find_last_reads() {
    last_read_.assign(from_.value_count(), -1);
    for (size_t i = 0; i < from_.ops().size(); ++i) {
      const Op& op = from_.ops()[i];
      if (ir::is_alias(from_, op)) continue;
      for (const ValueId id : op.inputs) {
        if (id != ir::kNoValue) last_read_[index(source(id))] = static_cast<int>(i);
      }
    }
    // Graph outputs and the new contents of other states are read after the last operator.
    const int end = static_cast<int>(from_.ops().size());
    for (const ValueId id : from_.outputs()) last_read_[index(source(id))] = end;
    for (const State& state : from_.states()) {
      if (source(state.next) != state.value) last_read_[index(source(state.next))] = end;
    }
  }

  /// Returns true if the new content can be written directly to the state's memory. Must be called
  /// once per state.
  bool direct(const State& state) {
    const ValueId made = source(state.next);
    const int producer = producers_[index(made)];
    return producer >= 0 && last_read_[index(state.value)] < producer &&
           claimed_.insert(made).second;
  }

  /// Maps the value to the new graph; adds a copy if it is the content of a state.
  Result<ValueId> held(ValueId old_value) {
    const ValueId mapped = rewriter_.map(old_value);
    if (!from_.is_state(source(old_value))) return mapped;
    return copied(mapped, from_.value(old_value).name + "_before");
  }

  Result<ValueId> copied(ValueId value, std::string name) {
    const ir::Type type = rewriter_.to().type(value);
    return rewriter_.to().add(OpKind::copy, {value}, {{ir::attr::own, int64_t{1}}}, {},
                              {std::move(name), type.dim_order, type.quant});
  }

  const Graph& from_;
  ir::Rewriter rewriter_;
  std::vector<int> producers_;
  std::vector<ValueId> source_;  // by value: the value whose memory it shares
  std::vector<int> last_read_;   // by source: operator index; the number of operators = at the end
  std::set<ValueId> claimed_;    // values that are written directly to a state's memory
};

}  // namespace

Result<Graph> assign_state_memory(const Graph& graph) {
  return StateMemoryPass(graph).run();
}

}  // namespace thimble::engine
