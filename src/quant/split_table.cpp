// SPDX-License-Identifier: Apache-2.0
#include "quant/split_table.h"

#include <algorithm>
#include <array>

#include "passes/uses.h"
#include "quant/named_function.h"
#include "quant/rules/rules.h"
#include "quant/table.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

constexpr size_t kOperatorsMax = 3;
constexpr size_t kPinnedMax = 8;  // upper bound if the graph has pinned parameters
constexpr std::array<std::string_view, 1> kLine = {"line"};

class Splitter {
 public:
  Splitter(const Graph& graph, std::span<const std::string_view> names, const Plan& plan)
      : graph_(graph), names_(names), plan_(plan), producers_(graph.producers()) {}

  /// Returns new roles, by operator index, that replace this table; empty if it is not split.
  std::vector<std::pair<size_t, OpPlan>> split(size_t table) {
    parts_.clear();
    source_ = plan_.ops[table].table_source;
    const ValueId result = plan_.ops[table].result;
    if (named(source_, result, names_)) return {};
    if (!reach(result)) return {};
    return parts_;
  }

 private:
  [[nodiscard]] bool named(ValueId from, ValueId to,
                           std::span<const std::string_view> names) const {
    const ElementFunction function(graph_, plan_.pins, from, to);
    return is_named([&](double x) { return function(x); }, names);
  }

  bool add(ValueId value, Role role, ValueId source) {
    const auto index = static_cast<size_t>(producers_[static_cast<size_t>(value)]);
    const auto same = [&](const auto& part) { return part.first == index; };
    if (std::ranges::any_of(parts_, same)) return true;
    OpPlan part = plan_.ops[index];
    part.role = role;
    part.result = value;
    part.table_source = source;
    parts_.emplace_back(index, part);
    return parts_.size() <= (plan_.pins.empty() ? kOperatorsMax : kPinnedMax);
  }

  /// Computes `value` from the source. Returns false if this needs too many operators.
  bool reach(ValueId value) {
    if (value == source_) return true;
    if (!plan_.pins.empty() && plan_.pins.find(value) == nullptr) return false;
    if (named(source_, value, names_)) return add(value, Role::kTable, source_);
    const Op& op = graph_.ops()[static_cast<size_t>(producers_[static_cast<size_t>(value)])];
    std::vector<ValueId> operands;
    for (const ValueId id : op.inputs) {
      if (graph_.value(id).constant == nullptr) operands.push_back(id);
    }
    if (ir::category_of(op.kind) == ir::OpCategory::kPair) {
      const bool all = std::ranges::all_of(operands, [&](ValueId id) { return reach(id); });
      return all && add(value, Role::kLower, ir::kNoValue);
    }
    if (operands.size() != 1 || operands[0] == source_) return false;
    if (!named(operands[0], value, names_)) return false;
    // The value in between is quantized. After a line this loses nothing. Other functions are
    // accepted only where PyTorch also rounds.
    if (plan_.pins.empty() && !named(source_, operands[0], kLine)) return false;
    return reach(operands[0]) && add(value, Role::kTable, operands[0]);
  }

  const Graph& graph_;
  const std::span<const std::string_view> names_;
  const Plan& plan_;
  const std::vector<int> producers_;
  ValueId source_ = ir::kNoValue;
  std::vector<std::pair<size_t, OpPlan>> parts_;
};

}  // namespace

void split_tables(const Graph& graph, std::span<const std::string_view> names, Plan& plan) {
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    if (plan.ops[i].role != Role::kTable) continue;
    for (const auto& [index, part] : Splitter(graph, names, plan).split(i)) plan.ops[index] = part;
  }
}

}  // namespace thimble::quant
