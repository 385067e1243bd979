// SPDX-License-Identifier: Apache-2.0
#include "quant/equalize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "passes/uses.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::Shape;
using ir::Tensor;
using ir::ValueId;

bool is_weighted(const Op& op) {
  return op.kind == OpKind::conv2d || op.kind == OpKind::linear;
}

/// Returns true if weights and bias are constants.
bool can_scale(const Graph& graph, const Op& op) {
  const auto constant = [&](ValueId id) {
    return id == ir::kNoValue || graph.value(id).constant != nullptr;
  };
  return is_weighted(op) && constant(op.inputs[1]) && constant(op.inputs[2]);
}

bool reduces(const Op& op, size_t dim) {
  return std::ranges::count(op.get(ir::attr::dims), static_cast<int64_t>(dim)) > 0;
}

/// Computes the channel layout of the result of an operator that propagates channel factors. The
/// layout has no channels for other operators. `x` is the layout of the first operand.
class FactorPropagation {
 public:
  FactorPropagation(const Graph& graph, const Op& op, const ChannelLayout& x)
      : op_(op), from_(graph.type(op.inputs[0]).shape), to_(graph.type(op.output).shape), x_(x) {}

  [[nodiscard]] ChannelLayout layout() const {
    switch (op_.kind) {
      case OpKind::clamp:
        return passes_if(bound_passes(op_.get(ir::attr::float_min)) &&
                         bound_passes(op_.get(ir::attr::float_max)));
      case OpKind::copy:
        return x_;
      case OpKind::adaptive_avg_pool2d:
      case OpKind::adaptive_max_pool2d:
      case OpKind::avg_pool2d:
      case OpKind::max_pool2d:
        return passes_if(x_.dim == 1);
      case OpKind::pad:
        return passes_if(op_.get(ir::attr::value) == 0 && op_.get(ir::attr::before)[x_.dim] == 0 &&
                         op_.get(ir::attr::after)[x_.dim] == 0);
      case OpKind::mean:
        return after_mean();
      case OpKind::permute:
        return after_permute();
      case OpKind::reshape:
        return after_reshape();
      default:
        return {};
    }
  }

 private:
  static bool bound_passes(double bound) { return bound == 0 || std::isinf(bound); }
  [[nodiscard]] ChannelLayout passes_if(bool condition) const {
    return condition ? x_ : ChannelLayout{};
  }

  [[nodiscard]] ChannelLayout after_mean() const {
    if (reduces(op_, x_.dim)) return {};
    ChannelLayout y = x_;
    for (size_t d = 0; d < x_.dim && op_.get(ir::attr::keepdim) == 0; ++d) y.dim -= reduces(op_, d);
    return y;
  }

  [[nodiscard]] ChannelLayout after_permute() const {
    const auto& dims = op_.get(ir::attr::dims);
    ChannelLayout y = x_;
    y.dim =
        static_cast<size_t>(std::ranges::find(dims, static_cast<int64_t>(x_.dim)) - dims.begin());
    return y;
  }

  /// Dimensions before the channel dimension must not change. Dimensions after it may be merged
  /// into it (flatten) or with each other.
  [[nodiscard]] ChannelLayout after_reshape() const {
    if (to_.size() <= x_.dim || !std::equal(from_.begin(), from_.begin() + index(), to_.begin())) {
      return {};
    }
    const int64_t joined = to_[x_.dim];
    if (joined < from_[x_.dim] || joined % from_[x_.dim] != 0) return {};
    const int64_t behind =
        std::accumulate(from_.begin() + index() + 1, from_.end(), int64_t{1}, std::multiplies<>());
    const int64_t taken = joined / from_[x_.dim];
    if (taken != 1 && taken != behind) return {};
    ChannelLayout y = x_;
    y.inner *= taken;
    return y;
  }
  [[nodiscard]] std::ptrdiff_t index() const { return static_cast<std::ptrdiff_t>(x_.dim); }

  const Op& op_;
  const Shape& from_;
  const Shape& to_;
  const ChannelLayout& x_;
};

bool same(const ChannelLayout& a, const ChannelLayout& b) {
  return a.dim == b.dim && a.inner == b.inner && a.channels == b.channels;
}

class ChannelGroupFinder {
 public:
  explicit ChannelGroupFinder(const Graph& graph)
      : graph_(graph),
        uses_(graph),
        layouts_(graph.value_count()),
        parent_(graph.value_count()),
        open_(graph.value_count(), false) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  ChannelGroups run() {
    for (const Op& op : graph_.ops()) visit(op);
    for (const ValueId id : graph_.results()) open_[ir::index_of(id)] = true;
    return collect();
  }

 private:
  size_t root(ValueId id) {
    size_t r = ir::index_of(id);
    while (parent_[r] != r) r = parent_[r] = parent_[parent_[r]];
    return r;
  }
  void unite(ValueId a, ValueId b) { parent_[root(b)] = root(a); }
  [[nodiscard]] bool has_channels(ValueId id) const {
    return layouts_[ir::index_of(id)].channels > 0;
  }

  void visit(const Op& op) {
    ChannelLayout& y = layouts_[ir::index_of(op.output)];
    std::vector<bool> taken(op.inputs.size(), false);  // operands whose factors find a way
    const ChannelLayout x = op.inputs.empty() || op.inputs[0] == ir::kNoValue
                                ? ChannelLayout{}
                                : layouts_[ir::index_of(op.inputs[0])];
    if (is_weighted(op)) {
      const Shape& shape = graph_.type(op.output).shape;
      const size_t dim = op.kind == OpKind::linear ? shape.size() - 1 : 1;
      if (can_scale(graph_, op)) y = {dim, 1, shape[dim]};
      taken[0] = can_scale(graph_, op) && reads_channels(op, x);
    } else if (op.kind == OpKind::add || op.kind == OpKind::sub || op.kind == OpKind::maximum ||
               op.kind == OpKind::minimum) {
      const ChannelLayout& other = layouts_[ir::index_of(op.inputs[1])];
      if (x.channels > 0 && same(x, other) &&
          graph_.type(op.inputs[0]).shape == graph_.type(op.inputs[1]).shape) {
        y = x;
        taken = {true, true};
        unite(op.inputs[0], op.inputs[1]);
        unite(op.inputs[0], op.output);
      }
    } else if (op.kind == OpKind::mul) {
      visit_product(op, y, taken);
    } else if (op.kind == OpKind::prelu) {
      if (x.channels > 0 && graph_.value(op.inputs[1]).constant != nullptr) {
        pass(op, 0, x, y, taken);
      }
    } else if (x.channels > 0) {
      const ChannelLayout behind = FactorPropagation(graph_, op, x).layout();
      if (behind.channels > 0) pass(op, 0, behind, y, taken);
    }
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] != ir::kNoValue && !taken[i]) open_[ir::index_of(op.inputs[i])] = true;
    }
  }

  void pass(const Op& op, size_t operand, const ChannelLayout& behind, ChannelLayout& y,
            std::vector<bool>& taken) {
    y = behind;
    taken[operand] = true;
    unite(op.inputs[operand], op.output);
  }

  /// x * gate: the factors of x are propagated; the gate is outside the group of values.
  void visit_product(const Op& op, ChannelLayout& y, std::vector<bool>& taken) {
    for (const size_t i : {size_t{0}, size_t{1}}) {
      const ValueId x = op.inputs[i], gate = op.inputs[1 - i];
      if (!has_channels(x) || has_channels(gate) || x == gate) continue;
      if (graph_.type(x).shape != graph_.type(op.output).shape) continue;
      const ChannelLayout layout = layouts_[ir::index_of(x)];
      pass(op, i, layout, y, taken);
      return;
    }
  }

  /// Returns true if the factors of the operand can be folded into the weights.
  [[nodiscard]] bool reads_channels(const Op& op, const ChannelLayout& x) const {
    if (x.channels == 0) return false;
    if (op.kind == OpKind::linear) return x.dim + 1 == graph_.type(op.inputs[0]).shape.size();
    return x.dim == 1 && x.inner == 1;
  }

  ChannelGroups collect() {
    std::vector<bool> open(parent_.size(), false);  // by root
    for (size_t i = 0; i < parent_.size(); ++i) {
      const size_t r = root(static_cast<ValueId>(i));
      open[r] = open[r] || open_[i] || layouts_[i].channels == 0;
    }
    ChannelGroups result;
    result.group_of.resize(parent_.size(), -1);
    std::map<size_t, size_t> places;
    for (size_t i = 0; i < parent_.size(); ++i) {
      const size_t r = root(static_cast<ValueId>(i));
      if (open[r] || layouts_[i].channels < 2) continue;
      const auto [place, added] = places.emplace(r, result.channel_groups.size());
      if (added) result.channel_groups.push_back({{}, layouts_[i].channels, false});
      ChannelGroup& channel_group = result.channel_groups[place->second];
      channel_group.values.push_back(static_cast<ValueId>(i));
      result.group_of[i] = static_cast<int>(place->second);
    }
    for (const Op& op : graph_.ops()) {
      const int channel_group = is_weighted(op) ? result.group_of[ir::index_of(op.inputs[0])] : -1;
      if (channel_group < 0) continue;
      const bool depthwise = graph_.type(op.inputs[1]).shape[1] == 1 && op.kind == OpKind::conv2d;
      result.channel_groups[static_cast<size_t>(channel_group)].dense |= !depthwise;
    }
    result.layouts = std::move(layouts_);
    return result;
  }

  const Graph& graph_;
  const passes::Uses uses_;
  std::vector<ChannelLayout> layouts_;
  std::vector<size_t> parent_;
  std::vector<bool> open_;  // by value: has a reader or producer that cannot be scaled
};

/// Returns the channel of the operand that a weight is multiplied with.
size_t input_channel(const Graph& graph, const Op& op, const ChannelLayout& x, size_t weight) {
  const Shape& w = graph.type(op.inputs[1]).shape;
  if (op.kind == OpKind::linear) {
    return weight % static_cast<size_t>(w[1]) / static_cast<size_t>(x.inner);
  }
  const size_t per_group = static_cast<size_t>(w[1]);
  const size_t taps = static_cast<size_t>(w[2] * w[3]);
  const size_t filter = weight / (per_group * taps);
  const size_t filters_per_group = static_cast<size_t>(w[0] / op.get(ir::attr::groups));
  return filter / filters_per_group * per_group + weight / taps % per_group;
}

/// Returns for each channel its largest weight in any reader, relative to the largest weight of the
/// same row.
std::vector<double> weight_shares(const Graph& graph, const ChannelGroups& channel_groups,
                                  size_t channel_group) {
  std::vector<double> shares(
      static_cast<size_t>(channel_groups.channel_groups[channel_group].channels), 0);
  for (const Op& op : graph.ops()) {
    if (!is_weighted(op) ||
        channel_groups.group_of[ir::index_of(op.inputs[0])] != static_cast<int>(channel_group)) {
      continue;
    }
    const Tensor& weights = *graph.value(op.inputs[1]).constant;
    const auto w = weights.data<float>();
    const size_t terms = w.size() / static_cast<size_t>(weights.shape[0]);
    for (size_t row = 0; row < w.size(); row += terms) {
      double largest = 0;
      for (size_t i = 0; i < terms; ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(w[row + i])));
      }
      for (size_t i = 0; i < terms && largest > 0; ++i) {
        double& share = shares[input_channel(
            graph, op, channel_groups.layouts[ir::index_of(op.inputs[0])], row + i)];
        share = std::max(share, std::abs(static_cast<double>(w[row + i])) / largest);
      }
    }
  }
  return shares;
}

double factor(const ChannelFactors& factors, const ChannelGroups& channel_groups, ValueId id,
              size_t channel) {
  const int channel_group = channel_groups.group_of[ir::index_of(id)];
  if (channel_group < 0 || factors[static_cast<size_t>(channel_group)].empty()) return 1;
  return factors[static_cast<size_t>(channel_group)][channel];
}

/// Adds `op` with its weights adapted to the scaled operand and result.
Status add_scaled(ir::Rewriter& rewriter, const ChannelGroups& channel_groups,
                  const ChannelFactors& factors, const Op& op) {
  const Graph& graph = rewriter.from();
  const auto scaled = [&](ValueId id, auto scale_of) {
    Tensor tensor = *graph.value(id).constant;
    const auto elements = tensor.data<float>();
    for (size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<float>(static_cast<double>(elements[i]) * scale_of(i));
    }
    return rewriter.to().add_constant(graph.value(id).name,
                                      std::make_shared<const Tensor>(std::move(tensor)));
  };
  const size_t outputs = static_cast<size_t>(graph.type(op.inputs[1]).shape[0]);
  const size_t terms = static_cast<size_t>(graph.type(op.inputs[1]).elements()) / outputs;
  const ChannelLayout& x = channel_groups.layouts[ir::index_of(op.inputs[0])];
  const bool scaled_operand = channel_groups.group_of[ir::index_of(op.inputs[0])] >= 0;
  const ValueId w = scaled(op.inputs[1], [&](size_t i) {
    const double in = scaled_operand ? factor(factors, channel_groups, op.inputs[0],
                                              input_channel(graph, op, x, i))
                                     : 1;
    return in / factor(factors, channel_groups, op.output, i / terms);
  });
  ValueId b = ir::kNoValue;
  if (op.inputs[2] != ir::kNoValue) {
    b = scaled(op.inputs[2],
               [&](size_t i) { return 1 / factor(factors, channel_groups, op.output, i); });
  }
  const ir::Value& old = graph.value(op.output);
  THIMBLE_TRY(const ValueId id,
              rewriter.to().add(op.kind, {rewriter.map(op.inputs[0]), w, b}, op.attrs, op.source,
                                {old.name, old.type.dim_order, old.type.quant}));
  rewriter.set(op.output, id);
  return ok();
}

bool is_touched(const ChannelGroups& channel_groups, const ChannelFactors& factors, ValueId id) {
  const int channel_group = channel_groups.group_of[ir::index_of(id)];
  return channel_group >= 0 && !factors[static_cast<size_t>(channel_group)].empty();
}

}  // namespace

ChannelGroups find_channel_groups(const Graph& graph) {
  return ChannelGroupFinder(graph).run();
}

ChannelFactors matching_factors(const Graph& graph, const ChannelGroups& channel_groups,
                                const std::vector<std::vector<double>>& extents) {
  constexpr double kFactorMax = 0x1p10;  // bounds the factors of channels that are almost always 0
  ChannelFactors factors(channel_groups.channel_groups.size());
  for (size_t r = 0; r < factors.size(); ++r) {
    const std::vector<double>& reach = extents[r];
    const double widest = *std::ranges::max_element(reach);
    if (!(widest > 0)) continue;
    const bool dense = channel_groups.channel_groups[r].dense;
    const std::vector<double> shares =
        dense ? weight_shares(graph, channel_groups, r) : std::vector<double>(reach.size(), 1);
    std::vector<double>& chosen = factors[r];
    for (size_t c = 0; c < reach.size(); ++c) {
      double f = 1;
      if (reach[c] > 0 && shares[c] > 0) {
        f = reach[c] / widest;
        if (dense) f = std::sqrt(f / shares[c]);
      }
      chosen.push_back(std::clamp(f, 1 / kFactorMax, kFactorMax));
    }
    double furthest = 0;  // used to keep the range of the value unchanged
    for (size_t c = 0; c < reach.size(); ++c) furthest = std::max(furthest, reach[c] / chosen[c]);
    for (double& f : chosen) f *= furthest / widest;
  }
  return factors;
}

Result<Graph> scale_channels(const Graph& graph, const ChannelGroups& channel_groups,
                             const ChannelFactors& factors) {
  ir::Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    const bool touched = is_weighted(op) && (is_touched(channel_groups, factors, op.inputs[0]) ||
                                             is_touched(channel_groups, factors, op.output));
    THIMBLE_CHECK(touched ? add_scaled(rewriter, channel_groups, factors, op) : rewriter.copy(op));
  }
  return rewriter.finish();
}

}  // namespace thimble::quant
