// SPDX-License-Identifier: Apache-2.0
#include "passes/tabulate.h"

#include <map>
#include <set>
#include <utility>

#include "eval/evaluate.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kTableElementsMax = int64_t{1} << 16;

/// The index of a table of one element per position.
struct Position {
  ValueId index = ir::kNoValue;  // without reshapes
  int64_t rows = 0;
  auto operator<=>(const Position&) const = default;
};

class Tabulator {
 public:
  explicit Tabulator(const Graph& graph)
      : from_(graph), producers_(graph.producers()), rewriter_(graph) {}

  Result<Graph> run() {
    find_functions();
    find_results();
    THIMBLE_CHECK(evaluate_all());
    for (const Op& op : from_.ops()) {
      const auto table = tables_.find(op.output);
      if (table == tables_.end()) {
        THIMBLE_CHECK(rewriter_.copy(op));
        continue;
      }
      THIMBLE_TRY(const ValueId row, row_of(op, table->second));
      rewriter_.set(op.output, row);
    }
    return rewriter_.finish();
  }

 private:
  [[nodiscard]] const Op* producer(ValueId id) const {
    const int index = producers_[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &from_.ops()[static_cast<size_t>(index)];
  }

  /// A gather of one float of a constant list.
  [[nodiscard]] std::optional<Position> seed(const Op& op) const {
    if (op.kind != OpKind::gather) return std::nullopt;
    const ir::Value& table = from_.value(op.inputs[0]);
    if (table.constant == nullptr || table.type.dtype != ir::DType::kF32 ||
        table.type.shape.size() != 1 || from_.type(op.inputs[1]).elements() != 1) {
      return std::nullopt;
    }
    ValueId index = op.inputs[1];
    for (const Op* view = producer(index); view != nullptr; view = producer(index)) {
      if (view->kind != OpKind::reshape) break;
      index = view->inputs[0];
    }
    if (from_.value(index).constant != nullptr) return std::nullopt;
    return Position{index, table.type.shape[0]};
  }

  void find_functions() {
    for (const Op& op : from_.ops()) {
      if (const auto position = seed(op)) {
        functions_[op.output] = *position;
        seeds_.insert(op.output);
        continue;
      }
      std::optional<Position> joint;
      bool function = true;
      for (const ValueId id : op.inputs) {
        if (id == ir::kNoValue || from_.value(id).constant != nullptr) continue;
        const auto known = functions_.find(id);
        function = function && known != functions_.end() && (!joint || *joint == known->second);
        if (function) joint = known->second;
      }
      if (!function || !joint || from_.type(op.output).dtype != ir::DType::kF32) continue;
      if (from_.type(op.output).elements() * joint->rows > kTableElementsMax) continue;
      functions_[op.output] = *joint;
    }
  }

  /// Marks the functions that are read by operators that are none, and by outputs and states.
  void find_results() {
    const auto read = [&](ValueId id) {
      if (id == ir::kNoValue) return;
      // Several views of one function have one table.
      for (const Op* view = producer(id); functions_.contains(id) && view != nullptr;
           view = producer(id)) {
        if (view->kind != OpKind::reshape || seeds_.contains(view->inputs[0])) break;
        id = view->inputs[0];
      }
      if (functions_.contains(id) && !seeds_.contains(id)) results_.insert(id);
    };
    for (const Op& op : from_.ops()) {
      if (functions_.contains(op.output)) continue;
      for (const ValueId id : op.inputs) read(id);
    }
    for (const ValueId id : from_.outputs()) read(id);
    for (const ir::State& state : from_.states()) read(state.next);
  }

  Status evaluate_all() {
    std::map<Position, std::vector<ValueId>> wanted;
    for (const ValueId id : results_) wanted[functions_.at(id)].push_back(id);
    for (const auto& [position, ids] : wanted) {
      for (int64_t row = 0; row < position.rows; ++row) THIMBLE_CHECK(evaluate(position, ids, row));
    }
    return ok();
  }

  /// Appends the values at one position to the tables.
  Status evaluate(const Position& position, const std::vector<ValueId>& ids, int64_t row) {
    Graph graph;
    std::map<ValueId, ValueId> mapped;
    ir::Tensor index = ir::zeros(ir::DType::kI64, {});
    index.data<int64_t>()[0] = row;
    const auto constant = std::make_shared<const ir::Tensor>(std::move(index));
    for (const Op& op : from_.ops()) {
      const auto function = functions_.find(op.output);
      if (function == functions_.end() || function->second != position) continue;
      std::vector<ValueId> inputs;
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        const ValueId id = op.inputs[i];
        if (id == ir::kNoValue || mapped.contains(id)) {
          inputs.push_back(id == ir::kNoValue ? id : mapped.at(id));
        } else if (seeds_.contains(op.output) && i == 1) {
          const ValueId at = graph.add_constant("", constant, {});
          THIMBLE_TRY(const ValueId shaped,
                      graph.add(OpKind::reshape, {at}, {{ir::attr::shape, from_.type(id).shape}},
                                op.source));
          inputs.push_back(shaped);
        } else {
          inputs.push_back(
              mapped[id] = graph.add_constant("", from_.value(id).constant, from_.type(id).quant));
        }
      }
      THIMBLE_TRY(mapped[op.output], graph.add(op.kind, inputs, op.attrs, op.source));
    }
    for (const ValueId id : ids) graph.add_output(mapped.at(id));
    THIMBLE_TRY(const auto values, eval::evaluate(graph, {}));
    for (size_t i = 0; i < ids.size(); ++i) {
      std::vector<std::byte>& table = tables_[ids[i]];
      table.insert(table.end(), values[i].bytes.begin(), values[i].bytes.end());
    }
    return ok();
  }

  Result<ValueId> row_of(const Op& op, const std::vector<std::byte>& bytes) {
    const ir::Value& value = from_.value(op.output);
    const Position& position = functions_.at(op.output);
    ir::Shape shape = value.type.shape;
    shape.insert(shape.begin(), position.rows);
    Graph& to = rewriter_.to();
    const ValueId table = to.add_constant(
        value.name + "_table", std::make_shared<ir::Tensor>(ir::DType::kF32, shape, bytes), {});
    ValueId index = rewriter_.map(position.index);
    if (!to.type(index).shape.empty()) {
      THIMBLE_TRY(index, to.add(OpKind::reshape, {index}, {{ir::attr::shape, ir::Shape{}}},
                                op.source, {value.name + "_position", {}, {}}));
    }
    return to.add(OpKind::gather, {table, index}, {{ir::attr::dim, int64_t{0}}}, op.source,
                  {value.name, value.type.dim_order, {}});
  }

  const Graph& from_;
  std::vector<int> producers_;
  ir::Rewriter rewriter_;
  std::map<ValueId, Position> functions_;
  std::set<ValueId> seeds_;
  std::set<ValueId> results_;
  std::map<ValueId, std::vector<std::byte>> tables_;
};

}  // namespace

Result<Graph> tabulate(const Graph& graph) {
  return Tabulator(graph).run();
}

}  // namespace thimble::passes
