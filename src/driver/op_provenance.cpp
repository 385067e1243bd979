// SPDX-License-Identifier: Apache-2.0
#include "driver/op_provenance.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "abi/pte_ops.h"

namespace thimble::driver {
namespace {

using ir::OpKind;
using ir::ValueId;
using Imported = import_pt2::ImportedNode::Result;

std::set<std::string> nodes_of(const ir::Graph& graph) {
  std::set<std::string> nodes;
  for (const ir::Op& op : graph.ops()) nodes.insert(op.source.node);
  return nodes;
}

std::map<std::string, const ir::Op*> makers(const ir::Graph& graph) {
  std::map<std::string, const ir::Op*> result;
  for (const ir::Op& op : graph.ops()) result[graph.value(op.output).name] = &op;
  return result;
}

/// Finds the operator of `after` that replaces the operators of a removed node.
class Replacements {
 public:
  Replacements(const ir::Graph& before, const ir::Graph& after)
      : before_(before),
        makers_(makers(after)),
        consumers_(before.consumers()),
        producers_(before.producers()) {
    for (const ir::Op& op : after.ops()) of_node_[op.source.node] = &op;  // keeps the last one
  }

  [[nodiscard]] const ir::Op* find(const std::string& node) const {
    for (const ir::Op& op : before_.ops()) {
      const auto maker = makers_.find(before_.value(op.output).name);
      if (op.source.node == node && maker != makers_.end()) return maker->second;
    }
    for (const bool changed : {true, false}) {
      for (const bool forward : {true, false}) {
        if (const ir::Op* replacement = search(node, forward, changed)) return replacement;
      }
    }
    return nullptr;
  }

 private:
  /// Returns the operator of `after` that corresponds to an operator of `before`; null if none
  /// does.
  [[nodiscard]] const ir::Op* counterpart(const ir::Op& op) const {
    const auto maker = makers_.find(before_.value(op.output).name);
    if (maker != makers_.end()) return maker->second;
    const auto alive = of_node_.find(op.source.node);
    return alive == of_node_.end() ? nullptr : alive->second;
  }

  /// Returns the nearest operator that still exists; with `changed`, only if it was modified.
  [[nodiscard]] const ir::Op* search(const std::string& node, bool forward, bool changed) const {
    std::deque<int> work;
    for (size_t i = 0; i < before_.ops().size(); ++i) {
      if (before_.ops()[i].source.node == node) work.push_back(static_cast<int>(i));
    }
    std::set<int> seen;
    while (!work.empty()) {
      const int at = work.front();
      work.pop_front();
      if (at < 0 || !seen.insert(at).second) continue;
      const ir::Op& op = before_.ops()[static_cast<size_t>(at)];
      if (const ir::Op* replacement = op.source.node == node ? nullptr : counterpart(op)) {
        if (!changed || replacement->kind != op.kind || replacement->attrs != op.attrs)
          return replacement;
        continue;
      }
      if (forward) {
        const auto& readers = consumers_[static_cast<size_t>(op.output)];
        work.insert(work.end(), readers.begin(), readers.end());
      } else {
        for (const ValueId input : op.inputs) {
          if (input != ir::kNoValue) work.push_back(producers_[static_cast<size_t>(input)]);
        }
      }
    }
    return nullptr;
  }

  const ir::Graph& before_;
  std::map<std::string, const ir::Op*> makers_, of_node_;
  std::vector<std::vector<int>> consumers_;
  std::vector<int> producers_;
};

std::string name_of(const ir::Op* op) {
  return op == nullptr || op->source.node.empty() ? "another operator" : op->source.node;
}

/// Returns true if all operators of the node have one of these kinds.
bool all_are(const ir::Graph& graph, const std::string& node, std::initializer_list<OpKind> kinds) {
  return std::ranges::all_of(graph.ops(), [&](const ir::Op& op) {
    return op.source.node != node || std::ranges::find(kinds, op.kind) != kinds.end();
  });
}

std::string merged_reason(const ir::Graph& before, const std::string& node,
                          const ir::Op* replacement) {
  if (all_are(before, node, {OpKind::quantize, OpKind::dequantize, OpKind::dequantize_channels})) {
    return "merged: the integer operators contain its scale and zero point";
  }
  const std::string name = name_of(replacement);
  if (replacement != nullptr && replacement->kind == OpKind::lut) return "in the table of " + name;
  if (all_are(before, node, {OpKind::clamp})) return "in the bounds of " + name;
  return "part of " + name;
}

/// Returns the reason for a call that the lowering inserted: its result is not in the integer
/// graph.
std::string inserted_reason(const ir::Graph& graph, const ir::Op& op) {
  switch (op.kind) {
    case OpKind::copy: {
      const bool nhwc = graph.type(op.output).dim_order == ir::channels_last_order();
      return nhwc ? "inserted: the next kernel requires channels-last order"
                  : "inserted: converts to the memory order of the next kernel";
    }
    case OpKind::permute:
      return "inserted: permutes dimensions to the memory order";
    case OpKind::pad:
      return "inserted: ExecuTorch's kernel supports only symmetric padding";
    case OpKind::expand:
      return "inserted: ExecuTorch's kernel does not broadcast";
    case OpKind::lut:
      return "inserted: a table for a step that ExecuTorch's kernel does not have";
    default:
      return "inserted: legalization for the kernel";
  }
}

/// Returns the reason for a call whose result is a value of the integer graph.
std::string call_reason(const ir::Graph& graph, const ir::Op& op) {
  if (op.kind == OpKind::quantize) return "a float input becomes integer here";
  if (op.kind == OpKind::dequantize) return "an output is float";
  if (op.kind != OpKind::lut) return "";
  const bool rescales = graph.value(op.output).name.find("_requantized") != std::string::npos;
  return rescales ? "inserted: rescales an operand for its reader"
                  : "a lookup table of 256 entries";
}

std::string imported_reason(const import_pt2::ImportedNode& node) {
  if (!node.needed) return "removed: no output depends on it";
  switch (node.result) {
    case Imported::kOperators:
      return "merged with the next data movement";
    case Imported::kConstant:
      return "computed at compile time";
    case Imported::kOperand:
      return "returns its operand unchanged";
    case Imported::kNothing:
      return "computes no tensor";
  }
  return "";
}

void add_call(SourceOpReport* row, const CompileReport& report, size_t index) {
  const OpReport& call = report.ops[index];
  row->calls.push_back(index);
  row->engine = call.engine;
  row->bytes_out = call.bytes_out;  // the last call sets the final value
  row->constant_bytes += call.constant_bytes;
  row->macs += call.macs;
  if (row->calls.size() == 1) row->instructions = 0;
  if (row->instructions && call.instructions) {
    *row->instructions += *call.instructions;
  } else {
    row->instructions.reset();
  }
}

}  // namespace

OpProvenance::OpProvenance(std::vector<import_pt2::ImportedNode> nodes)
    : nodes_(std::move(nodes)) {}

void OpProvenance::record_removed(const std::string& node, std::string reason,
                                  const ir::Op* replacement) {
  const std::string by = replacement == nullptr ? "" : replacement->source.node;
  removals_.try_emplace(node, Removal{std::move(reason), by});
}

const OpProvenance::Removal* OpProvenance::removal(const std::string& node) const {
  const auto found = removals_.find(node);
  return found == removals_.end() ? nullptr : &found->second;
}

void OpProvenance::begin(const ir::Graph& imported) {
  const std::set<std::string> alive = nodes_of(imported);
  for (const import_pt2::ImportedNode& node : nodes_) {
    if (!alive.contains(node.source.node)) record_removed(node.source.node, imported_reason(node));
  }
}

void OpProvenance::step(const ir::Graph& before, const ir::Graph& after,
                        std::string_view removal_reason) {
  const std::set<std::string> left = nodes_of(after);
  std::optional<Replacements> replacements;
  for (const std::string& node : nodes_of(before)) {
    if (left.contains(node)) continue;
    if (!replacements) replacements.emplace(before, after);
    const ir::Op* const replacement = replacements->find(node);
    const bool named = removal_reason.ends_with("of");
    record_removed(node,
                   named ? fmt::format("{} {}", removal_reason, name_of(replacement))
                         : std::string(removal_reason),
                   replacement);
  }
}

void OpProvenance::quantized(const ir::Graph& before, const ir::Graph& after) {
  const std::set<std::string> left = nodes_of(after);
  const Replacements replacements(before, after);
  for (const std::string& node : nodes_of(before)) {
    if (left.contains(node)) continue;
    const ir::Op* const replacement = replacements.find(node);
    record_removed(node, merged_reason(before, node, replacement), replacement);
  }
}

void OpProvenance::lowered(const ir::Graph& integer, const ir::Graph& whole,
                           std::span<const RowOp> rows, CompileReport* report) {
  step(integer, whole, "only changes the order in memory, which the compiler chooses");
  const auto known = makers(integer);
  std::map<std::string, std::vector<size_t>> calls;
  for (size_t i = 0; i < rows.size(); ++i) {
    const ir::Op& op = *rows[i].op;
    const bool meant = known.contains(rows[i].graph->value(op.output).name);
    if (report->ops[i].reason.empty()) {
      report->ops[i].reason =
          meant ? call_reason(*rows[i].graph, op) : inserted_reason(*rows[i].graph, op);
    }
    calls[op.source.node].push_back(i);
  }
  for (const import_pt2::ImportedNode& node : nodes_) {
    SourceOpReport row;
    row.source = node.source;
    for (const size_t i : calls[node.source.node]) add_call(&row, *report, i);
    if (const Removal* const removed = removal(node.source.node)) {
      row.reason = removed->reason;
      row.replaced_by = removed->replaced_by;
    } else if (row.calls.empty()) {
      row.reason = "no call: the result uses the operand's buffer";
    }
    report->source_ops.push_back(std::move(row));
  }
}

}  // namespace thimble::driver
