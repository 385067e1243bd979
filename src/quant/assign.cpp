#include "quant/assign.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

// An operand of concat keeps its own scale below this part of the joint range.
constexpr double kSmallOperand = 0.25;
// Softmax reads differences of codes; below this scale its fixed-point input has no bits left.
constexpr double kSoftmaxScaleMin = 0x1p-20;
// A result smaller than its largest possible value by more than this is cancellation, and finer
// codes would need a multiplier that shifts the accumulator out of 32 bits.
constexpr double kCancellation = 0x1p-26;

/// Sum of |w| of the output channel where it is largest, and the largest |bias|.
double weighted_reach(const Graph& graph, const Op& op) {
  const auto w = graph.value(op.inputs[1]).constant->data<float>();
  const size_t channels = static_cast<size_t>(graph.type(op.inputs[1]).shape[0]);
  const size_t terms = w.size() / channels;
  double reach = 0;
  for (size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (const float weight : w.subspan(c * terms, terms)) sum += std::abs(double{weight});
    reach = std::max(reach, sum);
  }
  return reach;
}

/// The largest |result| that the operator's codes could give: params by value.
double largest_result(const Graph& graph, const Op& op, const std::vector<Params>& params) {
  constexpr double kCodes = 255;
  const auto scale = [&](size_t i) { return params[static_cast<size_t>(op.inputs[i])].scale; };
  switch (op.kind) {
    case OpKind::conv2d:
    case OpKind::linear:
      return kCodes * scale(0) * weighted_reach(graph, op);
    case OpKind::add:
    case OpKind::sub:
      return kCodes * (scale(0) + scale(1));
    case OpKind::mul:
      return kCodes * scale(0) * kCodes * scale(1);
    case OpKind::mean:
      return kCodes * scale(0);
    default:
      return 0;
  }
}

}  // namespace

std::optional<Params> fixed_params(const Op& op) {
  switch (op.kind) {
    case OpKind::sigmoid:
    case OpKind::softmax:
      return Params{1.0 / 256, -128};
    case OpKind::tanh:
      return Params{1.0 / 128, 0};
    default:
      return std::nullopt;
  }
}

Classes::Classes(const Graph& graph, const Plan& plan)
    : graph_(graph),
      plan_(plan),
      parent_(graph.value_count()),
      source_(graph.value_count(), false),
      fixed_(graph.value_count()) {
  std::iota(parent_.begin(), parent_.end(), size_t{0});
  for (const ValueId id : graph.inputs()) source_[static_cast<size_t>(id)] = is_float(id);
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = graph.ops()[i];
    const OpPlan& op_plan = plan.ops[i];
    if (op_plan.role == Role::kAbsorbed) continue;
    const size_t result = static_cast<size_t>(op_plan.result);
    // The operator that makes the result, not a clamp that it takes over, fixes parameters.
    if (const auto fixed = fixed_params(op)) fixed_[result] = fixed;
    const bool moved = op_plan.role == Role::kLower && shares_params(op.kind);
    source_[result] = !moved && !joins_params(op.kind) && is_float(op_plan.result);
  }
  for (size_t i = 0; i < fixed_.size(); ++i) {
    if (const Params* pin = plan.pins.find(static_cast<ValueId>(i))) fixed_[i] = *pin;
  }
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = graph.ops()[i];
    if (plan.ops[i].role == Role::kLower && shares_params(op.kind)) {
      unite(plan.ops[i].result, op.inputs[0]);
    }
  }
}

size_t Classes::find(ValueId id) const {
  size_t root = static_cast<size_t>(id);
  while (parent_[root] != root) root = parent_[root] = parent_[parent_[root]];
  return root;
}

/// The smaller root stays: the result does not depend on the order of calls.
void Classes::unite(ValueId a, ValueId b) {
  size_t keep = find(a);
  size_t go = find(b);
  if (keep == go) return;
  if (go < keep) std::swap(keep, go);
  parent_[go] = keep;
  if (!fixed_[keep]) fixed_[keep] = fixed_[go];
  if (!seen_.empty()) seen_[keep].merge(seen_[go]);
}

std::vector<ValueId> Classes::unknown() const {
  std::vector<ValueId> result;
  for (size_t i = 0; i < source_.size(); ++i) {
    const ValueId id = static_cast<ValueId>(i);
    if (!source_[i] || plan_.pins.find(id) != nullptr) continue;
    if (!fixed_[find(id)] || !plan_.pins.quantized.contains(id)) result.push_back(id);
  }
  return result;
}

std::vector<ValueId> Classes::observed() const {
  std::vector<ValueId> result;
  for (size_t i = 0; i < source_.size(); ++i) {
    const ValueId id = static_cast<ValueId>(i);
    if (source_[i] && !fixed_[find(id)]) result.push_back(id);
  }
  return result;
}

Range Classes::range_of(size_t root, Observer observer) const {
  if (const auto& fixed = fixed_[root]) return {fixed->real(fixed->min), fixed->real(fixed->max)};
  return choose_range(seen_[root], observer);
}

void Classes::join(const Op& op, ValueId result, Observer observer) {
  Range all;
  bool same_fixed = true;
  for (const ValueId id : op.inputs) {
    if (!is_float(id)) continue;
    const Range range = range_of(find(id), observer);
    all = {std::min(all.low, range.low), std::max(all.high, range.high)};
    same_fixed =
        same_fixed && fixed_[find(id)] && fixed_[find(id)] == fixed_[find(op.inputs.back())];
  }
  for (const ValueId id : op.inputs) {
    if (!is_float(id)) continue;
    const Range range = range_of(find(id), observer);
    const bool wide = range.high - range.low >= kSmallOperand * (all.high - all.low);
    if (fixed_[find(result)] && fixed_[find(result)] != fixed_[find(id)]) continue;
    if (same_fixed || (wide && !fixed_[find(id)])) {
      unite(result, id);
    }
  }
  Histogram& seen = seen_[find(result)];
  seen.include(all.low);
  seen.include(all.high);
}

void Classes::join_all(Observer observer) {
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (joins_params(op.kind) && plan_.ops[i].role == Role::kLower) {
      join(op, plan_.ops[i].result, observer);
    }
  }
}

void Classes::raise_small_scales(std::vector<Params>& params) const {
  const auto raise = [&](ValueId id, double scale) {
    const size_t root = find(id);
    if (fixed_[root]) return;
    const Params raised = with_scale_at_least(params[static_cast<size_t>(id)], scale);
    if (raised == params[static_cast<size_t>(id)]) return;
    for (size_t i = 0; i < params.size(); ++i) {
      if (find(static_cast<ValueId>(i)) == root) params[i] = raised;
    }
  };
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (plan_.ops[i].role != Role::kLower) continue;
    if (op.kind == OpKind::softmax || op.kind == OpKind::log_softmax) {
      raise(op.inputs[0], kSoftmaxScaleMin);
      raise(plan_.ops[i].result, kSoftmaxScaleMin);  // a softmax's is fixed
    } else {
      raise(plan_.ops[i].result, kCancellation * largest_result(graph_, op, params));
    }
  }
}

std::vector<Params> Classes::assign(const std::vector<Histogram>& seen, Observer observer) {
  seen_ = std::vector<Histogram>(graph_.value_count());
  for (size_t i = 0; i < seen.size(); ++i) {
    seen_[find(static_cast<ValueId>(i))].merge(seen[i]);
    const auto& value = graph_.value(static_cast<ValueId>(i));
    if (value.constant == nullptr || value.type.dtype != ir::DType::kF32) continue;
    for (const float element : value.constant->data<float>()) {
      seen_[find(static_cast<ValueId>(i))].include(static_cast<double>(element));
    }
  }
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (op.kind != OpKind::pad || !std::isfinite(op.number("value"))) continue;
    seen_[find(op.output)].include(op.number("value"));
  }
  join_all(observer);
  std::vector<std::optional<Params>> by_root(graph_.value_count());
  std::vector<Params> params(graph_.value_count());
  for (size_t i = 0; i < params.size(); ++i) {
    const size_t root = find(static_cast<ValueId>(i));
    if (!by_root[root]) {
      by_root[root] =
          fixed_[root] ? *fixed_[root] : params_for(choose_range(seen_[root], observer));
    }
    params[i] = *by_root[root];
  }
  raise_small_scales(params);
  return params;
}

}  // namespace thimble::quant
