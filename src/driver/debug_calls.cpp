// SPDX-License-Identifier: Apache-2.0
#include "driver/debug_calls.h"

#include <algorithm>
#include <map>

namespace thimble::driver {
namespace {

void add_once(const std::string& name, std::vector<std::string>* names) {
  if (std::ranges::find(*names, name) == names->end()) names->push_back(name);
}

emit::InstructionResult result_of(const ir::Value& value) {
  const std::optional<ir::Quant>& quant = value.type.quant;
  if (!quant || quant->axis >= 0) return {value.name, 0, 0};
  return {value.name, quant->scale[0], quant->zero_point[0]};
}

/// Returns the rows of the report that compute the node: its own, or those of the node that
/// replaces it.
const std::vector<size_t>& rows_of(const SourceOpReport& op,
                                   const std::map<std::string, const SourceOpReport*>& by_node) {
  const SourceOpReport* at = &op;
  for (size_t steps = 0; at->calls.empty() && steps < by_node.size(); ++steps) {
    const auto next = by_node.find(at->replaced_by);
    if (next == by_node.end()) break;
    at = next->second;
  }
  return at->calls;
}

}  // namespace

std::vector<emit::DebugCall> debug_calls(const engine::Lowered& lowered,
                                         std::span<const RowOp> rows, const CompileReport& report) {
  std::vector<emit::DebugCall> calls;
  for (const engine::KernelCall& call : lowered.calls) {
    emit::DebugCall& debug = calls.emplace_back();
    debug.results.push_back(result_of(lowered.graph.value(call.out)));
    for (const ir::ValueId extra : call.extra_outputs) {
      debug.results.push_back(result_of(lowered.graph.value(extra)));
    }
  }
  std::map<std::string, const SourceOpReport*> by_node;
  for (const SourceOpReport& op : report.source_ops) by_node[op.source.node] = &op;
  for (const SourceOpReport& op : report.source_ops) {
    for (const size_t row : rows_of(op, by_node)) {
      emit::DebugCall& call = calls[rows[row].call];
      add_once(op.source.node, &call.nodes);
      if (rows[row].delegate_row == nullptr) continue;
      for (const uint32_t word : rows[row].delegate_row->words) {
        auto operation = std::ranges::find(call.operations, word, &emit::DebugOperation::word);
        if (operation == call.operations.end()) {
          operation = call.operations.insert(operation, {word, {}});
        }
        add_once(op.source.node, &operation->nodes);
      }
    }
  }
  return calls;
}

}  // namespace thimble::driver
