// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/fusion.h"

#include <algorithm>

#include "engines/neutron/compiler/op_rows.h"
#include "engines/neutron/compiler/positions.h"

namespace thimble::engine::neutron {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// Maps each dimension of `from` to a dimension of `to`, if `to` only has additional dimensions of
/// size 1.
std::optional<std::vector<size_t>> with_more_ones(const ir::Shape& from, const ir::Shape& to) {
  std::vector<size_t> places;
  for (size_t i = 0; i < to.size(); ++i) {
    if (places.size() < from.size() && from[places.size()] == to[i]) {
      places.push_back(i);
    } else if (to[i] != 1) {
      return std::nullopt;
    }
  }
  if (places.size() != from.size()) return std::nullopt;
  return places;
}

class Finder {
 public:
  explicit Finder(const ir::Graph& graph)
      : graph_(graph), consumers_(graph.consumers()), result_(graph.ops().size()) {}

  std::vector<Fusion> run() {
    for (size_t i = 0; i < result_.size(); ++i) {
      const Op& op = graph_.ops()[i];
      if (op.inputs.empty()) continue;
      result_[i].input = op.inputs[0];
      result_[i].input_shape = graph_.type(op.inputs[0]).shape;
    }
    for (size_t i = 0; i < result_.size(); ++i) {
      const bool own = !result_[i].in_producer && !result_[i].absorbed;
      if (own && has_trait(graph_.ops()[i].kind, kTableOnResult)) fuse_tables(i);
    }
    for (size_t i = 0; i < result_.size(); ++i) {
      if (graph_.ops()[i].kind == OpKind::pad) fuse_padding(i);
      if (graph_.ops()[i].kind == OpKind::gather) fuse_gathers(i);
    }
    return std::move(result_);
  }

 private:
  const Op& op(int index) const { return graph_.ops()[static_cast<size_t>(index)]; }
  Fusion& at(int index) { return result_[static_cast<size_t>(index)]; }

  bool leaves(ValueId id) const {
    const auto results = graph_.results();
    return std::ranges::find(results, id) != results.end();
  }

  /// Returns the only operator that reads the value; -1 if there are others or it is an output.
  int only_reader(ValueId id) const {
    const auto& readers = consumers_[static_cast<size_t>(id)];
    return readers.size() == 1 && !leaves(id) ? readers[0] : -1;
  }

  /// Fuses functions after the operator, with only reshapes, permutes and copies in between.
  void fuse_tables(size_t index) {
    Fusion& fusion = result_[index];
    fusion.table = table_of(graph_, graph_.ops()[index]);
    // A 1x1 convolution of single elements needs no image, so any memory order is possible.
    const bool pointwise = graph_.ops()[index].kind == OpKind::qconv2d;
    if (const auto function = int8_function(graph_, graph_.ops()[index]); pointwise && function) {
      fusion.table = function->table;
    }
    fusion.is_table = fusion.table.has_value();
    if (fusion.table) fusion.table_op = static_cast<int>(index);
    ValueId value = graph_.ops()[index].output;
    while (value != ir::kNoValue && !leaves(value)) value = next_value(value, fusion);
  }

  /// Fuses the reader of `value` if possible and returns its result; otherwise kNoValue.
  ValueId next_value(ValueId value, Fusion& fusion) {
    std::vector<int> readers = consumers_[static_cast<size_t>(value)];
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    if (readers.size() == 2) return fuse_gated_function(value, readers[0], readers[1], fusion);
    if (readers.size() != 1) return ir::kNoValue;
    const Op& next = op(readers[0]);
    if (is_view_op(next)) return next.output;
    if (next.inputs.size() == 2 && next.inputs[0] == next.inputs[1]) {
      const Table same = identity_table();
      return add_to_table(readers[0], value, table_of_pair(graph_, next, same, same), fusion);
    }
    const auto function = int8_function(graph_, next);
    if (!function || function->operand != value) return ir::kNoValue;
    return add_to_table(readers[0], value, function->table, fusion);
  }

  /// Fuses patterns like x * sigmoid(x): a function of x, and an operator on x and its result.
  ValueId fuse_gated_function(ValueId value, int first, int second, Fusion& fusion) {
    const auto function = int8_function(graph_, op(first));
    const bool meets = function && function->operand == value &&
                       only_reader(op(first).output) == second && op(second).inputs.size() == 2;
    if (!meets) return ir::kNoValue;
    const bool value_is_first = op(second).inputs[0] == value;
    const Table& own = function->table;
    const auto table = value_is_first ? table_of_pair(graph_, op(second), identity_table(), own)
                                      : table_of_pair(graph_, op(second), own, identity_table());
    if (!table) return ir::kNoValue;
    at(first).absorbed = true;
    fusion.fused_ops.push_back(first);
    return add_to_table(second, value, table, fusion);
  }

  ValueId add_to_table(int reader, ValueId from, const std::optional<Table>& table,
                       Fusion& fusion) {
    if (!table) return ir::kNoValue;
    fusion.table_op = fusion.table ? -1 : reader;
    fusion.table = fusion.table ? composed(*fusion.table, *table) : *table;
    fusion.fused_ops.push_back(reader);
    at(reader).in_producer = true;
    at(reader).input = from;  // not necessarily the first operand
    return op(reader).output;
  }

  /// Finds the convolutions that read a value, also through reshapes that add dimensions of size 1.
  /// Returns false if another operator reads it too.
  bool convolutions(ValueId id, std::vector<int>& found, std::vector<int>& between) const {
    const auto& readers = consumers_[static_cast<size_t>(id)];
    if (leaves(id) || readers.empty()) return false;
    return std::ranges::all_of(readers, [&](int reader) {
      const Op& next = op(reader);
      const bool windowed =
          next.kind == OpKind::qconv2d && !result_[static_cast<size_t>(reader)].is_table;
      if (windowed && next.inputs[0] == id) {
        found.push_back(reader);
        return true;
      }
      const bool wider = next.kind == OpKind::reshape &&
                         with_more_ones(graph_.type(id).shape, graph_.type(next.output).shape);
      if (!wider) return false;
      between.push_back(reader);
      return convolutions(next.output, found, between);
    });
  }

  void fuse_padding(size_t index) {
    const Op& pad = graph_.ops()[index];
    std::vector<int> readers, between;
    if (!convolutions(pad.output, readers, between)) return;
    const auto &before = pad.get(ir::attr::before), &after = pad.get(ir::attr::after);
    std::vector<Fusion> folded;
    for (const int reader : readers) {
      const ir::Shape& image = graph_.type(op(reader).inputs[0]).shape;
      const auto places = with_more_ones(graph_.type(pad.output).shape, image);
      if (!places ||
          static_cast<double>(op(reader).get(ir::attr::x_zp)) != pad.get(ir::attr::value))
        return;
      Fusion fusion = at(reader);
      fusion.padding = {0, 0, 0, 0};
      fusion.input = pad.inputs[0];
      fusion.input_shape = image;
      for (size_t dim = 0; dim < places->size(); ++dim) {
        if (before[dim] + after[dim] == 0) continue;
        const size_t side = (*places)[dim];
        if (side < 2) return;
        fusion.padding[side - 2] = before[dim];
        fusion.padding[side] = after[dim];
        fusion.input_shape[side] -= before[dim] + after[dim];
      }
      fusion.fused_ops.push_back(static_cast<int>(index));
      folded.push_back(std::move(fusion));
    }
    for (size_t i = 0; i < readers.size(); ++i) at(readers[i]) = std::move(folded[i]);
    for (const int reshape : between) at(reshape).absorbed = true;
    result_[index].absorbed = true;
  }

  /// Fuses a gather with its only reader, if that is a gather of the same kind along another
  /// dimension.
  void fuse_gathers(size_t index) {
    const Op& first = graph_.ops()[index];
    const int reader = only_reader(first.output);
    if (reader < 0 || !result_[index].fused_ops.empty()) return;
    const Op& second = op(reader);
    if (second.kind != OpKind::gather || second.inputs[0] != first.output) return;
    const auto a = positions_of(graph_, first), b = positions_of(graph_, second);
    const bool known = a && b && a->kind == b->kind;
    const bool alike =
        known && (a->kind == Positions::Kind::kReflection || a->kind == Positions::Kind::kNearest);
    if (!alike || first.get(ir::attr::dim) == second.get(ir::attr::dim)) return;
    at(reader).fused_ops.push_back(static_cast<int>(index));
    at(reader).input = first.inputs[0];
    at(reader).input_shape = graph_.type(first.inputs[0]).shape;
    result_[index].absorbed = true;
  }

  const ir::Graph& graph_;
  std::vector<std::vector<int>> consumers_;
  std::vector<Fusion> result_;
};

}  // namespace

bool is_view_op(const Op& op) {
  return op.kind == OpKind::reshape || op.kind == OpKind::permute || op.kind == OpKind::copy;
}

std::vector<Fusion> find_fusions(const ir::Graph& subgraph) {
  return Finder(subgraph).run();
}

}  // namespace thimble::engine::neutron
