// SPDX-License-Identifier: Apache-2.0
#include "quant/assign.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ir/transposed_filters.h"
#include "quant/masked.h"
#include "quant/norm.h"
#include "quant/widths.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

// An operand of concat keeps its own scale if its range is below this fraction of the joint range.
constexpr double kSmallOperand = 0.25;
// Softmax reads differences of quantized values. Below this scale its fixed-point input is 0.
constexpr double kSoftmaxScaleMin = 0x1p-20;
// Lower bound of the ratio of a result's range to its largest possible magnitude. A smaller ratio
// is cancellation, and a finer scale would need a multiplier that shifts the accumulator out of 32
// bits.
constexpr double kCancellation = 0x1p-26;

/// Returns the largest sum of |w| over the output channels.
double max_abs_weight_sum(const Graph& graph, const Op& op) {
  ir::Tensor filters = *graph.value(op.inputs[1]).constant;
  if (op.kind == OpKind::conv_transpose2d) {
    filters = ir::transposed_conv_filters(filters, op.get(ir::attr::groups));
  }
  const std::span<const float> w = std::as_const(filters).data<float>();
  const size_t channels = static_cast<size_t>(filters.shape[0]);
  const size_t terms = w.size() / channels;
  double reach = 0;
  for (size_t c = 0; c < channels; ++c) {
    double sum = 0;
    for (const float weight : w.subspan(c * terms, terms)) sum += std::abs(double{weight});
    reach = std::max(reach, sum);
  }
  return reach;
}

/// Returns the finest result scale that the multipliers of the operator support. `params` belongs
/// to the operands, in the width in which the operator reads them.
double finest_scale(const Graph& graph, const Op& op, const std::vector<Params>& params) {
  constexpr double kCodes = 255;
  const auto scale = [&](size_t i) { return params[i].scale; };
  double largest = 0;  // upper bound of |result|
  switch (op.kind) {
    case OpKind::conv2d:
    case OpKind::conv_transpose2d:
    case OpKind::linear:
      largest = kCodes * scale(0) * max_abs_weight_sum(graph, op);
      break;
    case OpKind::add:
    case OpKind::sub:
      largest = kCodes * (scale(0) + scale(1));
      break;
    case OpKind::mul:
      largest = kCodes * scale(0) * kCodes * scale(1);
      break;
    case OpKind::div:
      largest = kCodes * scale(0) / scale(1);
      break;
    case OpKind::matmul: {
      const double terms = static_cast<double>(graph.type(op.inputs[0]).shape.back());
      largest = kCodes * scale(0) * kCodes * scale(1) * terms * std::abs(op.get(ir::attr::scale));
      break;
    }
    case OpKind::mean:
      largest = kCodes * scale(0);
      break;
    case OpKind::prelu:
      largest = kCodes * scale(0) * std::max(1.0, kCodes * scale(1));
      break;
    case OpKind::cumsum:
    case OpKind::sum:
      largest = kCodes * scale(0) * static_cast<double>(graph.type(op.inputs[0]).elements());
      break;
    case OpKind::variance:
      largest = kCodes * scale(0) * kCodes * scale(0);
      break;
    default:
      break;
  }
  return kCancellation * largest;
}

/// Same for 16-bit activations. Multipliers of 64-bit sums are at most 2^14; other multipliers must
/// not shift the value out of 32 bits.
double finest_wide_scale(const Graph& graph, const Op& op, const std::vector<Params>& params) {
  constexpr double kLargestMultiplier = 0x1p13;
  const auto scale = [&](size_t i) { return params[i].scale; };
  switch (op.kind) {
    case OpKind::conv2d:
    case OpKind::conv_transpose2d:
    case OpKind::linear: {
      double largest = 0;
      for (const float w : std::as_const(*graph.value(op.inputs[1]).constant).data<float>()) {
        largest = std::max(largest, std::abs(double{w}));
      }
      return scale(0) * largest / 127 / kLargestMultiplier;
    }
    case OpKind::add:
    case OpKind::sub:
      return 0x1p-14 * std::max(scale(0), scale(1));
    case OpKind::mul:
      return scale(0) * scale(1);
    case OpKind::prelu:
      return std::max(0x1p-14 * scale(0), scale(0) * scale(1));
    case OpKind::matmul:
      return scale(0) * scale(1) * std::abs(op.get(ir::attr::scale)) / kLargestMultiplier;
    case OpKind::mean:
    case OpKind::sum:
      return scale(0) / kLargestMultiplier;
    default:
      return 0;
  }
}

}  // namespace

namespace {
/// int16 parameters of a probability, as qsoftmax16 produces it.
constexpr Params kWideProbability{1.0 / 32768, 0, false, 0, INT16_MAX, true};
constexpr Params kWideUnit{1.0 / 32768, 0, false, INT16_MIN, INT16_MAX, true};

/// fixed_params() for a 16-bit result.
std::optional<Params> fixed_wide_params(const Op& op) {
  if (op.kind == OpKind::unpack) return wide_params(op.get(ir::attr::scale));
  if (op.kind == OpKind::softmax || op.kind == OpKind::sigmoid) return kWideProbability;
  if (op.kind == OpKind::tanh) return kWideUnit;
  return std::nullopt;
}
}  // namespace

std::optional<Params> fixed_params(const Op& op, bool wide) {
  if (wide) return fixed_wide_params(op);
  if (op.kind == OpKind::unpack || op.kind == OpKind::camera_image) {
    return Params{op.get(ir::attr::scale),
                  static_cast<int32_t>(op.get(ir::attr::zero_point)) - 128};
  }
  if (op.kind == OpKind::softmax || op.kind == OpKind::sigmoid) return Params{1.0 / 256, -128};
  if (op.kind == OpKind::tanh) return Params{1.0 / 128, 0};
  return std::nullopt;
}

Classes::Classes(const Graph& graph, const Plan& plan)
    : graph_(graph),
      uses_(graph),
      plan_(plan),
      parent_(graph.value_count()),
      source_(graph.value_count(), false),
      symmetric_(graph.value_count(), false),
      wide_samples_(graph.value_count(), false),
      samples_(sample_rows(graph, plan)),
      fixed_(graph.value_count()) {
  std::iota(parent_.begin(), parent_.end(), size_t{0});
  for (const ValueId id : graph.inputs()) source_[static_cast<size_t>(id)] = is_float(id);
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = graph.ops()[i];
    const OpPlan& op_plan = plan.ops[i];
    if (op_plan.role == Role::kAbsorbed) continue;
    for (const ValueId id : op.inputs) {
      if (op_plan.symmetric && id != ir::kNoValue) symmetric_[static_cast<size_t>(id)] = true;
    }
    const size_t result = static_cast<size_t>(op_plan.result);
    // The parameters are fixed by the operator itself, not by a clamp that is merged into it.
    if (const auto fixed = fixed_params(op, is_wide(op_plan.result))) {
      if (can_have_scale_from_range(op, op_plan)) {
        sigmoids_.push_back({op_plan.result, *fixed});
      } else {
        fixed_[result] = fixed;
      }
      wide_samples_[result] = op.kind == OpKind::unpack && fixed->wide;
    }
    const bool moved = op_plan.role == Role::kLower && shares_params(op.kind) &&
                       is_wide(op_plan.result) == is_wide(op.inputs[0]);
    const bool own = op_plan.role == Role::kFloat || (!moved && !joins_params(op.kind));
    const bool has_codes = op_plan.role != Role::kFloat || plan.is_quantized[result];
    source_[result] = own && has_codes && is_float(op_plan.result);
  }
  for (size_t i = 0; i < fixed_.size(); ++i) {
    if (const Params* pin = plan.pins.find(static_cast<ValueId>(i))) fixed_[i] = *pin;
  }
  for (const auto& [value, params] : plan.given) fixed_[ir::index_of(value)] = params;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = graph.ops()[i];
    if (plan.ops[i].role == Role::kLower && shares_params(op.kind)) {
      unite(plan.ops[i].result, op.inputs[0]);
    }
  }
  unite_states();
}

/// Returns true for a sigmoid or tanh in a table, whose result can have any scale.
bool Classes::can_have_scale_from_range(const Op& op, const OpPlan& op_plan) const {
  const bool bounded = op.kind == OpKind::sigmoid || op.kind == OpKind::tanh;
  return plan_.sigmoid_scale_from_range && bounded && op_plan.role == Role::kTable &&
         !is_wide(op_plan.result);
}

/// Sets the fixed parameters of each sigmoid or tanh whose range needs more than kScaleRatio of the
/// fixed scale. The fixed scale has exact bounds and is equal for all of them; a scale of more than
/// 0.75 times the fixed one would add less than half a bit of resolution.
void Classes::fix_sigmoid_scales(Observer observer) {
  constexpr double kScaleRatio = 0.75;
  for (const auto& [result, fixed] : sigmoids_) {
    const size_t root = find(result);
    if (fixed_[root]) continue;
    const Params from_range = params_for(choose_range(seen_[root], observer));
    if (from_range.scale > kScaleRatio * fixed.scale || seen_[root].elements() == 0)
      fixed_[root] = fixed;
  }
}

/// A state and its next content share scale and zero point. Exception: these are fixed to a range
/// that does not include the initial content; then each run ends with a conversion.
void Classes::unite_states() {
  for (const ir::State& state : graph_.states()) {
    source_[static_cast<size_t>(state.value)] = true;
    const std::optional<Params>& fixed = fixed_[find(state.next)];
    if (fixed) {
      const auto content = state.initial->data<float>();
      const bool fits = std::ranges::all_of(content, [&](float value) {
        return static_cast<double>(value) >= fixed->real(fixed->min) &&
               static_cast<double>(value) <= fixed->real(fixed->max);
      });
      if (!fits || fixed_[find(state.value)]) continue;
    }
    unite(state.value, state.next);
  }
}

size_t Classes::find(ValueId id) const {
  size_t root = static_cast<size_t>(id);
  while (parent_[root] != root) root = parent_[root] = parent_[parent_[root]];
  return root;
}

/// The smaller root remains the root, so the result does not depend on the order of calls. Values
/// of different widths are never united.
void Classes::unite(ValueId a, ValueId b) {
  if (is_wide(a) != is_wide(b)) return;
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

std::vector<ValueId> Classes::observed(bool all) const {
  std::vector<ValueId> result;
  for (size_t i = 0; i < source_.size(); ++i) {
    const ValueId id = static_cast<ValueId>(i);
    const bool other_widths = all && plan_.is_quantized[i] && is_float(id);
    // Readers in 8 bits of 16-bit samples need the range that occurs.
    const bool own = source_[i] && (!fixed_[find(id)] || wide_samples_[i]);
    if (own || other_widths || (symmetric_[i] && is_float(id))) result.push_back(id);
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
  for (const ValueId id : op.inputs) {
    if (is_float(id) && seen_[find(id)].masked()) seen.mark_masked();
  }
  seen.include(all.low);
  seen.include(all.high);
}

/// The initial state of a recurrent layer is read with the scale of the layer's result.
void Classes::include_first_states(Observer observer) {
  for (const Op& op : graph_.ops()) {
    const bool gives_h = op.kind == OpKind::gru || op.kind == OpKind::rnn ||
                         (op.kind == OpKind::lstm && op.get(ir::attr::cell) == 0);
    if (!gives_h || fixed_[find(op.output)]) continue;
    const Range range = range_of(find(op.inputs[1]), observer);
    seen_[find(op.output)].include(range.low);
    seen_[find(op.output)].include(range.high);
  }
}

/// An operand inside the result's range with no other reader joins the result's class at no loss.
/// Other operands join if the ranges are close. The remaining operands are converted by a table.
void Classes::join_selection(const Op& op, ValueId result, Observer observer) {
  constexpr double kClose = 1.25;
  for (const ValueId id : op.inputs) {
    const ir::Value& value = graph_.value(id);
    if (!is_float(id)) continue;
    if (value.constant != nullptr) {
      if (op.kind != OpKind::where) continue;  // the result of a maximum may never equal its bound
      for (const float element : value.constant->data<float>()) {
        if (static_cast<double>(element) > kMaskedMax && std::isfinite(element)) {
          seen_[find(result)].include(static_cast<double>(element));
        }
      }
      continue;
    }
    const Range whole = range_of(find(result), observer);
    const Range range = range_of(find(id), observer);
    const double width = whole.high - whole.low;
    const double joint = std::max(whole.high, range.high) - std::min(whole.low, range.low);
    const bool inside = joint <= width && uses_.only_reader(id) != nullptr;
    const bool close = joint <= kClose * std::min(width, range.high - range.low);
    if (!fixed_[find(id)] && !fixed_[find(result)] && (inside || close)) unite(result, id);
  }
}

void Classes::join_all(Observer observer) {
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (plan_.ops[i].role != Role::kLower || !is_float(plan_.ops[i].result)) continue;
    if (joins_params(op.kind)) join(op, plan_.ops[i].result, observer);
    if (selects_elements(op.kind)) join_selection(op, plan_.ops[i].result, observer);
  }
}

void Classes::join_without_ranges() {
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    const ValueId result = plan_.ops[i].result;
    if (plan_.ops[i].role != Role::kLower || !is_float(result)) continue;
    if (!joins_params(op.kind) && !selects_elements(op.kind)) continue;
    const std::optional<Params> first = fixed_[find(op.inputs.back())];
    const bool same_fixed = first && std::ranges::all_of(op.inputs, [&](ValueId id) {
                              return !is_float(id) || fixed_[find(id)] == first;
                            });
    for (const ValueId id : op.inputs) {
      if (!is_float(id) || graph_.value(id).constant != nullptr) continue;
      if (selects_elements(op.kind) && uses_.only_reader(id) == nullptr) continue;
      if (same_fixed || (!fixed_[find(id)] && !fixed_[find(result)])) unite(result, id);
    }
    // A result that shares no operand's class is observed by itself.
    const bool alone = std::ranges::none_of(
        op.inputs, [&](ValueId id) { return is_float(id) && find(id) == find(result); });
    if (alone) source_[ir::index_of(result)] = true;
  }
}

Classes::Sharing Classes::sharing(ValueId id) const {
  const size_t root = find(id);
  return {root, source_[ir::index_of(id)], is_symmetric(root), fixed_[root]};
}

void Classes::include_constant(ValueId id, const ir::Tensor& constant, double mask_limit) {
  Histogram& seen = seen_[find(id)];
  const Extent extent = extent_of(constant.data<float>());
  if (extent.finite && !(static_cast<double>(extent.min) <= mask_limit)) {
    seen.include(static_cast<double>(extent.min));
    seen.include(static_cast<double>(extent.max));
    return;
  }
  for (const float element : constant.data<float>()) {
    const double value = static_cast<double>(element);
    if (value <= mask_limit) {
      seen.mark_masked();
    } else if (std::isfinite(value)) {
      seen.include(value);
    }
  }
}

/// Returns true if the class holds only 0 and masked elements.
bool Classes::is_pure_mask(size_t root, Observer observer) const {
  if (!seen_[root].masked() || fixed_[root]) return false;
  const Range range = choose_range(seen_[root], observer);
  return range.low == 0 && range.high == 0;
}

bool Classes::is_symmetric(size_t root) const {
  for (size_t i = 0; i < symmetric_.size(); ++i) {
    if (symmetric_[i] && find(static_cast<ValueId>(i)) == root) return true;
  }
  return false;
}

bool Classes::holds_samples(size_t root) const {
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (samples_[i] && find(static_cast<ValueId>(i)) == root) return true;
  }
  return false;
}

Params Classes::params_of_class(size_t root, Observer observer) const {
  if (fixed_[root]) return *fixed_[root];
  if (is_pure_mask(root, observer)) return kPureMask;
  const bool wide = is_wide(static_cast<ValueId>(root));
  const Range range = choose_range(seen_[root], observer, wide);
  if (wide) {
    return holds_samples(root) ? sample_params_for(range) : wide_params_for(range);
  }
  if (is_symmetric(root) && !seen_[root].masked()) return symmetric_params_for(range);
  return params_for(range, seen_[root].masked());
}

Params Classes::narrow_of_class(size_t root, const Params& own, Observer observer) const {
  if (!own.wide) return own;
  const bool known = fixed_[root] && seen_[root].elements() == 0;
  return known ? narrowed(own) : params_for(choose_range(seen_[root], observer));
}

/// Attention scores and the masked scores share one scale. If the mask also holds other numbers,
/// the sum gets its own scale with a margin below for rounding, so that no score becomes masked.
void Classes::join_scores(Observer observer) {
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (op.kind != OpKind::add || plan_.ops[i].role != Role::kLower) continue;
    const ValueId result = plan_.ops[i].result;
    bool joined = false;
    for (const size_t mask : {size_t{0}, size_t{1}}) {
      const ValueId scores = op.inputs[1 - mask];
      const bool own_class = find(op.inputs[mask]) != find(scores);
      if (joined || !own_class || fixed_[find(scores)] || fixed_[find(result)]) continue;
      if (!is_pure_mask(find(op.inputs[mask]), observer)) continue;
      unite(result, scores);
      seen_[find(result)].mark_masked();
      joined = true;
    }
    if (joined || !seen_[find(result)].masked()) continue;
    const Range range = choose_range(seen_[find(result)], observer);
    seen_[find(result)].include(range.low - (range.high - range.low) / 127);
  }
}

/// The value -128 of an added mask must reduce every sum to -128. Sums of masks are visited from
/// last to first, because the required width of one depends on its result.
void Classes::widen_masks(std::vector<Params>& params, Observer observer) const {
  std::vector<double> needed(graph_.value_count(), 0);  // required width by class
  for (size_t i = plan_.ops.size(); i-- > 0;) {
    const Op& op = graph_.ops()[i];
    if (op.kind != OpKind::add || plan_.ops[i].role != Role::kLower) continue;
    const Params y = params[static_cast<size_t>(plan_.ops[i].result)];
    for (const size_t mask : {size_t{0}, size_t{1}}) {
      const size_t root = find(op.inputs[mask]);
      const Params held = params[static_cast<size_t>(op.inputs[mask])];
      const Params& other = params[static_cast<size_t>(op.inputs[1 - mask])];
      if (!y.masked || !held.masked || held == kPureMask) continue;
      const double need = other.real(127) - y.scale * (-129 - y.zero_point);
      if (need <= needed[root]) continue;
      needed[root] = need;
      const Range range = choose_range(seen_[root], observer);
      const double width = std::max(need + range.high, range.high - range.low);
      Params wide = held;
      wide.scale = static_cast<double>(static_cast<float>(width / 253));
      wide.zero_point = static_cast<int32_t>(std::floor(127 - range.high / wide.scale));
      for (size_t k = 0; k < params.size(); ++k) {
        if (find(static_cast<ValueId>(k)) == root) params[k] = wide;
      }
    }
  }
}

void Classes::raise_small_scales(Assigned& assigned) const {
  const auto raise = [&](ValueId id, double scale) {
    const size_t root = find(id);
    if (fixed_[root]) return;
    const size_t at = static_cast<size_t>(id);
    const Params raised = with_scale_at_least(assigned.params[at], scale);
    const Params narrow = with_scale_at_least(assigned.narrow[at], scale);
    if (raised == assigned.params[at] && narrow == assigned.narrow[at]) return;
    for (size_t i = 0; i < assigned.params.size(); ++i) {
      if (find(static_cast<ValueId>(i)) != root) continue;
      assigned.params[i] = raised;
      assigned.narrow[i] = narrow;
    }
  };
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (plan_.ops[i].role != Role::kLower) continue;
    if (op.kind == OpKind::softmax || op.kind == OpKind::log_softmax) {
      raise(op.inputs[0], kSoftmaxScaleMin);
      raise(plan_.ops[i].result, kSoftmaxScaleMin);  // no effect for softmax: its scale is fixed
      continue;
    }
    if (is_norm(op.kind)) {
      raise(op.inputs[0], norm_x_scale_min(graph_, op));
      raise(plan_.ops[i].result, norm_y_scale_min(graph_, op));
      continue;
    }
    const bool wide = plan_.ops[i].wide;
    std::vector<Params> operands;
    for (const ValueId id : op.inputs) {
      const size_t at = static_cast<size_t>(id);
      operands.push_back(id == ir::kNoValue ? Params{}
                                            : read(assigned.params[at], assigned.narrow[at], wide));
    }
    raise(plan_.ops[i].result,
          wide ? finest_wide_scale(graph_, op, operands) : finest_scale(graph_, op, operands));
  }
}

/// Uses the value's own scale if the observed range fits in -127 to 127 at that scale. The
/// conversion then only subtracts the zero point.
std::map<ValueId, Params> Classes::symmetric_reads(const std::vector<Params>& params,
                                                   const std::vector<Histogram>& seen,
                                                   Observer observer) const {
  std::map<ValueId, Params> reads;
  for (size_t i = 0; i < symmetric_.size(); ++i) {
    const Params& own = params[i];
    if (!symmetric_[i] || own.wide || own.zero_point == 0) continue;
    const Params wanted = symmetric_params_for(choose_range(seen[i], observer));
    reads[static_cast<ValueId>(i)] = with_scale_at_least(wanted, own.scale);
  }
  return reads;
}

Classes::Assigned Classes::assign(const std::vector<Histogram>& seen, Observer observer) {
  seen_ = std::vector<Histogram>(graph_.value_count());
  const std::vector<double> limits = mask_limits(graph_);
  for (size_t i = 0; i < seen.size(); ++i) {
    const auto& value = graph_.value(static_cast<ValueId>(i));
    // A constant has been observed only if it has counterparts in other methods (joint.h).
    if (source_[i] || value.constant != nullptr) {
      seen_[find(static_cast<ValueId>(i))].merge(seen[i]);
    }
    if (value.constant == nullptr || value.type.dtype != ir::DType::kF32) continue;
    include_constant(static_cast<ValueId>(i), *value.constant, limits[i]);
  }
  for (const ir::State& state : graph_.states()) {
    for (const float element : state.initial->data<float>()) {
      seen_[find(state.value)].include(static_cast<double>(element));
    }
  }
  for (size_t i = 0; i < plan_.ops.size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (op.kind != OpKind::pad || !std::isfinite(op.get(ir::attr::value))) continue;
    seen_[find(op.output)].include(op.get(ir::attr::value));
  }
  include_first_states(observer);
  fix_sigmoid_scales(observer);
  join_scores(observer);
  join_all(observer);
  std::vector<std::optional<Params>> by_root(graph_.value_count());
  Assigned assigned;
  for (size_t i = 0; i < graph_.value_count(); ++i) {
    const size_t root = find(static_cast<ValueId>(i));
    if (!by_root[root]) {
      by_root[root] = params_of_class(root, observer);
    }
    assigned.params.push_back(*by_root[root]);
    assigned.narrow.push_back(narrow_of_class(root, *by_root[root], observer));
  }
  raise_small_scales(assigned);
  widen_masks(assigned.params, observer);
  assigned.symmetric = symmetric_reads(assigned.params, seen, observer);
  return assigned;
}

}  // namespace thimble::quant
