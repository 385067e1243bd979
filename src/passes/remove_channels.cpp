// SPDX-License-Identifier: Apache-2.0
#include "passes/remove_channels.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/dce.h"
#include "ir/op_traits.h"
#include "passes/channel_groups.h"
#include "passes/channel_ranges.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

constexpr int64_t kChannelsTogether = 4;

/// Dimensions of the weights of an operator that mixes channels.
struct WeightShape {
  int64_t outputs, inputs, taps;
};
WeightShape weight_shape(const Graph& graph, const Op& op) {
  const ir::Shape& shape = graph.type(op.inputs[1]).shape;
  return {shape[0], shape[1], shape.size() == 4 ? shape[2] * shape[3] : 1};
}

/// Returns the elements of a tensor at `indices` of dimension `dim`.
ir::Tensor take(const ir::Tensor& from, size_t dim, std::span<const int64_t> indices) {
  ir::Tensor to{from.dtype, from.shape, {}};
  to.shape[dim] = static_cast<int64_t>(indices.size());
  size_t inner = ir::dtype_bytes(from.dtype);
  for (size_t i = dim + 1; i < from.shape.size(); ++i) inner *= static_cast<size_t>(from.shape[i]);
  const size_t row = inner * static_cast<size_t>(from.shape[dim]);
  for (size_t at = 0; at < from.bytes.size(); at += row) {
    for (const int64_t index : indices) {
      const auto first = from.bytes.begin() + static_cast<std::ptrdiff_t>(at) +
                         static_cast<std::ptrdiff_t>(inner) * index;
      to.bytes.insert(to.bytes.end(), first, first + static_cast<std::ptrdiff_t>(inner));
    }
  }
  return to;
}

std::optional<ir::Quant> take(std::optional<ir::Quant> quant, size_t dim,
                              std::span<const int64_t> indices) {
  if (!quant || quant->axis != static_cast<int>(dim)) return quant;
  ir::Quant taken{{}, {}, quant->axis};
  for (const int64_t index : indices) {
    taken.scale.push_back(quant->scale[static_cast<size_t>(index)]);
    taken.zero_point.push_back(quant->zero_point[static_cast<size_t>(index)]);
  }
  return taken;
}

/// Elements of the channels `kept` of which each has `block`.
std::vector<int64_t> elements_of(std::span<const int64_t> kept, int64_t block) {
  std::vector<int64_t> elements;
  for (const int64_t channel : kept) {
    for (int64_t i = 0; i < block; ++i) elements.push_back(channel * block + i);
  }
  return elements;
}

/// The channels of one group that are removed, and those that stay.
struct GroupPlan {
  int64_t channels = 0;
  std::vector<bool> removed;
  std::vector<bool> blank;           // stays for the multiple of 4, but nothing reads it
  std::vector<int64_t> merged_into;  // -1, or the channel that has the same content
  bool possible = true;              // false: the group keeps its channels

  [[nodiscard]] std::vector<int64_t> kept() const {
    std::vector<int64_t> channels_kept;
    for (size_t c = 0; c < removed.size(); ++c) {
      if (!removed[c]) channels_kept.push_back(static_cast<int64_t>(c));
    }
    return channels_kept;
  }
};

class Remover {
 public:
  explicit Remover(const Graph& graph)
      : graph_(graph), groups_(graph), ranges_(channel_ranges(graph, groups_)) {
    for (const Op& op : graph.ops()) {
      if (!groups_.dim(op.output) || groups_.is_fixed(groups_.group(op.output))) continue;
      GroupPlan& plan = plans_[groups_.group(op.output)];
      plan.channels = groups_.channels(op.output);
      plan.removed.assign(static_cast<size_t>(plan.channels), false);
      plan.blank.assign(static_cast<size_t>(plan.channels), false);
      plan.merged_into.assign(static_cast<size_t>(plan.channels), -1);
    }
  }

  /// Chooses the channels to remove. Returns false if there are none.
  bool choose() {
    for (auto& [group, plan] : plans_) choose_without_effect(group, &plan);
    bool any = round_up();
    if (any) return true;
    for (auto& [group, plan] : plans_) choose_duplicates(group, &plan);
    any = round_up();
    return any;
  }

  Result<Graph> rewrite() {
    ir::Rewriter rewriter(graph_);
    for (const Op& op : graph_.ops()) THIMBLE_CHECK(rewrite(op, &rewriter));
    return rewriter.finish();
  }

 private:
  /// Returns the plan of the group of a value; null if its channels do not change.
  [[nodiscard]] const GroupPlan* plan_of(ValueId id) const {
    if (id == ir::kNoValue || !groups_.dim(id)) return nullptr;
    const auto found = plans_.find(groups_.group(id));
    return found == plans_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] std::vector<const Op*> consumers(size_t group) const {
    std::vector<const Op*> found;
    for (const Op& op : graph_.ops()) {
      if (groups_.role(op) != ChannelRole::kMixes || !groups_.dim(op.inputs[0])) continue;
      if (groups_.group(op.inputs[0]) == group) found.push_back(&op);
    }
    return found;
  }

  /// Visits the weights of a consumer for one channel of operand 0: visit(output, weight).
  template <typename Visit>
  void for_each_weight(const Op& op, int64_t channel, Visit visit) const {
    const WeightShape shape = weight_shape(graph_, op);
    const auto w = graph_.value(op.inputs[1]).constant->data<int8_t>();
    const int64_t block = groups_.dim(op.inputs[0])->block;
    for (int64_t o = 0; o < shape.outputs; ++o) {
      for (int64_t i = channel * block * shape.taps; i < (channel + 1) * block * shape.taps; ++i) {
        visit(o, w[static_cast<size_t>(o * shape.inputs * shape.taps + i)], i);
      }
    }
  }

  [[nodiscard]] bool ignores(const Op& consumer, int64_t channel) const {
    bool zero = true;
    for_each_weight(consumer, channel,
                    [&](int64_t, int8_t weight, int64_t) { zero = zero && weight == 0; });
    return zero;
  }

  /// Returns true if the consumer's bias can replace the channel.
  [[nodiscard]] bool can_fold(const Op& consumer, int64_t channel) const {
    if (ignores(consumer, channel)) return true;
    const auto& known = ranges_[ir::index_of(consumer.inputs[0])];
    if (known.empty() || !known[static_cast<size_t>(channel)].is_constant()) return false;
    const int64_t value = known[static_cast<size_t>(channel)].low;
    return value == zero_point_of_x(consumer) || !has_padding(consumer);
  }

  void choose_without_effect(size_t group, GroupPlan* plan) const {
    const auto readers = consumers(group);
    for (int64_t c = 0; c < plan->channels; ++c) {
      plan->removed[static_cast<size_t>(c)] =
          std::ranges::all_of(readers, [&](const Op* op) { return can_fold(*op, c); });
    }
  }

  /// Returns the bytes that decide the content of each channel of the group.
  [[nodiscard]] std::vector<std::string> contents(size_t group, int64_t channels) const {
    std::vector<std::string> text(static_cast<size_t>(channels));
    const auto append = [&](ValueId id, size_t dim, int64_t per_channel) {
      const ir::Tensor& tensor = *graph_.value(id).constant;
      for (int64_t c = 0; c < channels; ++c) {
        const std::vector<int64_t> indices = elements_of(std::vector{c}, per_channel);
        const ir::Tensor part = take(tensor, dim, indices);
        text[static_cast<size_t>(c)].append(reinterpret_cast<const char*>(part.bytes.data()),
                                            part.bytes.size());
      }
    };
    for (const Op& op : graph_.ops()) {
      if (!groups_.dim(op.output) || groups_.group(op.output) != group) continue;
      const ChannelRole role = groups_.role(op);
      if (role == ChannelRole::kFollows) {
        for (const ValueId id : op.inputs) {
          if (const auto dim = sliced_dim(op, id)) append(id, *dim, groups_.dim(op.output)->block);
        }
        continue;
      }
      for (size_t i = 1; i < op.inputs.size(); ++i) {
        if (op.inputs[i] == ir::kNoValue) continue;
        const int64_t per_channel = graph_.type(op.inputs[i]).shape[0] / channels;
        if (per_channel > 0) append(op.inputs[i], 0, per_channel);
      }
    }
    return text;
  }

  void choose_duplicates(size_t group, GroupPlan* plan) const {
    const auto readers = consumers(group);
    std::map<std::string, int64_t> first;
    const auto text = contents(group, plan->channels);
    for (int64_t c = 0; c < plan->channels; ++c) {
      const auto [found, added] = first.emplace(text[static_cast<size_t>(c)], c);
      // At most two channels are merged at a time, so that the sums below are complete.
      const auto is_taken = std::ranges::find(plan->merged_into, found->second);
      if (added || is_taken != plan->merged_into.end()) continue;
      const bool fits = std::ranges::all_of(
          readers, [&](const Op* op) { return weights_can_be_added(*op, found->second, c); });
      if (!fits) continue;
      plan->removed[static_cast<size_t>(c)] = true;
      plan->merged_into[static_cast<size_t>(c)] = found->second;
    }
  }

  [[nodiscard]] bool weights_can_be_added(const Op& op, int64_t a, int64_t b) const {
    std::vector<int64_t> sums;
    for_each_weight(op, a, [&](int64_t, int8_t weight, int64_t) { sums.push_back(weight); });
    size_t at = 0;
    bool fits = true;
    for_each_weight(op, b, [&](int64_t, int8_t weight, int64_t) {
      fits = fits && std::abs(sums[at++] + weight) <= 127;
    });
    return fits;
  }

  /// Returns true if a producer of the group has a weight for the channel.
  [[nodiscard]] bool has_weights(size_t group, int64_t channel) const {
    return std::ranges::any_of(graph_.ops(), [&](const Op& op) {
      if (!groups_.dim(op.output) || groups_.group(op.output) != group) return false;
      if (groups_.role(op) == ChannelRole::kFollows) return false;
      const auto w = graph_.value(op.inputs[1]).constant->data<int8_t>();
      const auto row = static_cast<int64_t>(w.size()) / weight_shape(graph_, op).outputs;
      const auto own = w.subspan(static_cast<size_t>(channel * row), static_cast<size_t>(row));
      return std::ranges::any_of(own, [](int8_t weight) { return weight != 0; });
    });
  }

  /// Keeps multiples of kChannelsTogether, and at least one channel: channels that could be removed
  /// become blank. Returns true if the graph changes.
  bool round_up() {
    bool any = false;
    for (auto& [group, plan] : plans_) {
      int64_t kept = std::ranges::count(plan.removed, false);
      const int64_t multiple = plan.channels % kChannelsTogether == 0 ? kChannelsTogether : 1;
      for (size_t c = 0; c < plan.removed.size(); ++c) {
        if (kept > 0 && kept % multiple == 0) break;
        if (!plan.removed[c]) continue;
        plan.removed[c] = false;
        plan.blank[c] = plan.merged_into[c] < 0;
        plan.merged_into[c] = -1;
        ++kept;
        any = any || (plan.blank[c] && has_weights(group, static_cast<int64_t>(c)));
      }
      any = any || kept < plan.channels;
    }
    return any;
  }

  /// Returns the dimension along which a constant operand of an operator that follows the channels
  /// has one entry (or block) per channel.
  [[nodiscard]] std::optional<size_t> sliced_dim(const Op& op, ValueId id) const {
    if (id == ir::kNoValue || graph_.value(id).constant == nullptr) return std::nullopt;
    const bool follows = ir::is_elementwise(op.kind) || op.kind == ir::OpKind::concat;
    if (!follows || ir::category_of(op.kind) == ir::OpCategory::kTable) return std::nullopt;
    const ir::Shape& result = graph_.type(op.output).shape;
    const ir::Shape& shape = graph_.type(id).shape;
    const size_t result_dim = groups_.dim(op.output)->dim;
    const auto dim = aligned_dim(result_dim, result.size(), shape.size());
    return dim && shape[*dim] == result[result_dim] ? dim : std::nullopt;
  }

  ValueId add_taken(ir::Rewriter* rewriter, ValueId id, size_t dim,
                    std::span<const int64_t> indices) const {
    const ir::Value& value = graph_.value(id);
    auto tensor = std::make_shared<const ir::Tensor>(take(*value.constant, dim, indices));
    return rewriter->to().add_constant(value.name, std::move(tensor),
                                       take(value.type.quant, dim, indices));
  }

  /// Adds the constant channels that are removed from operand 0 to the bias, and the weights of
  /// merged channels to those of the channel that is kept.
  struct Weights {
    ir::Tensor w;
    std::optional<ir::Tensor> bias;
  };
  [[nodiscard]] Result<Weights> folded(const Op& op, const GroupPlan& plan) const {
    Weights result{*graph_.value(op.inputs[1]).constant, std::nullopt};
    const WeightShape shape = weight_shape(graph_, op);
    const int64_t row = shape.inputs * shape.taps;
    std::vector<int64_t> added(static_cast<size_t>(shape.outputs), 0);
    const int64_t block = groups_.dim(op.inputs[0])->block * shape.taps;
    for (int64_t c = 0; c < plan.channels; ++c) {
      const bool blank = plan.blank[static_cast<size_t>(c)];
      if (!plan.removed[static_cast<size_t>(c)] && !blank) continue;
      const int64_t into = plan.merged_into[static_cast<size_t>(c)];
      const auto& known = ranges_[ir::index_of(op.inputs[0])];
      for_each_weight(op, c, [&](int64_t o, int8_t weight, int64_t column) {
        if (weight == 0) return;
        if (into >= 0) {
          auto& sum =
              result.w.data<int8_t>()[static_cast<size_t>(o * row + column + (into - c) * block)];
          sum = static_cast<int8_t>(sum + weight);
        } else {
          added[static_cast<size_t>(o)] +=
              weight * (known[static_cast<size_t>(c)].low - zero_point_of_x(op));
          result.w.data<int8_t>()[static_cast<size_t>(o * row + column)] = 0;
        }
      });
    }
    if (std::ranges::all_of(added, [](int64_t sum) { return sum == 0; })) return result;
    const bool wide = op.kind == ir::OpKind::qconv2d16 || op.kind == ir::OpKind::qlinear16;
    result.bias = op.inputs[2] != ir::kNoValue
                      ? *graph_.value(op.inputs[2]).constant
                      : ir::zeros(wide ? ir::DType::kI64 : ir::DType::kI32, {shape.outputs});
    for (size_t o = 0; o < added.size(); ++o) {
      if (wide) {
        result.bias->data<int64_t>()[o] += added[o];
        continue;
      }
      // The accumulator wraps to 32 bits, so a wrapped bias gives the same sum.
      int32_t& bias = result.bias->data<int32_t>()[o];
      bias = static_cast<int32_t>(static_cast<uint32_t>(bias) + static_cast<uint32_t>(added[o]));
    }
    return result;
  }

  Status rewrite(const Op& op, ir::Rewriter* rewriter) const {
    const GroupPlan* from = op.inputs.empty() ? nullptr : plan_of(op.inputs[0]);
    const GroupPlan* to = plan_of(op.output);
    if (from == nullptr && to == nullptr) return rewriter->copy(op);
    Op changed = op;
    std::vector<ValueId> inputs(op.inputs.size(), ir::kNoValue);  // those that are replaced
    switch (groups_.role(op)) {
      case ChannelRole::kMixes:
      case ChannelRole::kEach: {
        THIMBLE_CHECK(rewrite_weights(op, rewriter, &inputs));
        if (groups_.role(op) == ChannelRole::kEach && to != nullptr) {
          const auto kept = static_cast<int64_t>(to->kept().size());
          changed.attrs.set(ir::attr::groups, kept);
        }
        break;
      }
      case ChannelRole::kFollows: {
        if (to == nullptr) return rewriter->copy(op);
        const std::vector<int64_t> elements =
            elements_of(to->kept(), groups_.dim(op.output)->block);
        for (size_t i = 0; i < op.inputs.size(); ++i) {
          if (const auto dim = sliced_dim(op, op.inputs[i])) {
            inputs[i] = add_taken(rewriter, op.inputs[i], *dim, elements);
          }
        }
        if (op.kind == ir::OpKind::reshape || op.kind == ir::OpKind::expand) {
          std::vector<int64_t> shape = op.get(ir::attr::shape);
          shape[groups_.dim(op.output)->dim] = static_cast<int64_t>(elements.size());
          changed.attrs.set(ir::attr::shape, std::move(shape));
        }
        break;
      }
      case ChannelRole::kOther:
        return rewriter->copy(op);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] == ir::kNoValue) inputs[i] = rewriter->map(op.inputs[i]);
    }
    const ir::Value& old = graph_.value(op.output);
    THIMBLE_TRY(const ValueId id,
                rewriter->to().add(op.kind, std::move(inputs), changed.attrs, op.source,
                                   {old.name, old.type.dim_order, old.type.quant}));
    rewriter->set(op.output, id);
    return ok();
  }

  /// Replaces weights, bias and multipliers of a convolution or linear.
  Status rewrite_weights(const Op& op, ir::Rewriter* rewriter, std::vector<ValueId>* inputs) const {
    const bool mixes = groups_.role(op) == ChannelRole::kMixes;
    const GroupPlan* from = mixes ? plan_of(op.inputs[0]) : nullptr;
    const GroupPlan* to = plan_of(op.output);
    const ir::Value& w = graph_.value(op.inputs[1]);
    Weights weights{*w.constant, std::nullopt};
    std::optional<ir::Quant> quant = w.type.quant;
    if (from != nullptr) {
      THIMBLE_TRY(weights, folded(op, *from));
      const auto columns = elements_of(from->kept(), groups_.dim(op.inputs[0])->block);
      weights.w = take(weights.w, 1, columns);
    }
    if (weights.bias == std::nullopt && op.inputs[2] != ir::kNoValue) {
      weights.bias = *graph_.value(op.inputs[2]).constant;
    }
    if (to != nullptr) {
      const std::vector<int64_t> kept = to->kept();
      // A blank channel has the multiplier of another one: an unusual one would select a slower
      // kernel for all channels.
      std::vector<int64_t> multipliers = kept;
      const auto in_use =
          std::ranges::find_if(kept, [&](int64_t c) { return !to->blank[static_cast<size_t>(c)]; });
      const int64_t row = static_cast<int64_t>(weights.w.bytes.size()) / to->channels;
      for (int64_t& c : multipliers) {
        if (!to->blank[static_cast<size_t>(c)]) continue;
        std::fill_n(weights.w.bytes.begin() + c * row, row, std::byte{0});
        if (weights.bias) {
          const auto width = static_cast<int64_t>(ir::dtype_bytes(weights.bias->dtype));
          std::fill_n(weights.bias->bytes.begin() + c * width, width, std::byte{0});
        }
        if (in_use != kept.end()) c = *in_use;
      }
      weights.w = take(weights.w, 0, kept);
      quant = take(quant, 0, kept);
      if (weights.bias) weights.bias = take(*weights.bias, 0, kept);
      for (const size_t i : {size_t{3}, size_t{4}}) {
        const int64_t each = graph_.type(op.inputs[i]).shape[0] / to->channels;
        if (each == 0) continue;  // one entry for all channels
        (*inputs)[i] = add_taken(rewriter, op.inputs[i], 0, elements_of(multipliers, each));
      }
    }
    Graph& graph = rewriter->to();
    (*inputs)[1] = graph.add_constant(
        w.name, std::make_shared<const ir::Tensor>(std::move(weights.w)), std::move(quant));
    if (weights.bias) {
      const bool had = op.inputs[2] != ir::kNoValue;
      const std::string name =
          had ? graph_.value(op.inputs[2]).name : graph_.value(op.output).name + "_bias";
      std::optional<ir::Quant> bias_quant =
          had ? graph_.value(op.inputs[2]).type.quant : std::nullopt;
      if (to != nullptr) bias_quant = take(std::move(bias_quant), 0, to->kept());
      (*inputs)[2] =
          graph.add_constant(name, std::make_shared<const ir::Tensor>(std::move(*weights.bias)),
                             std::move(bias_quant));
    }
    return ok();
  }

  const Graph& graph_;
  const ChannelGroups groups_;
  const std::vector<std::vector<ChannelRange>> ranges_;
  std::map<size_t, GroupPlan> plans_;  // of the groups that are not fixed
};

}  // namespace

Result<Graph> remove_channels(const Graph& graph) {
  Graph current = ir::remove_unused(graph);  // an unused operator may fix a group
  while (true) {
    Remover remover(current);
    if (!remover.choose()) return current;
    THIMBLE_TRY(Graph next, remover.rewrite());
    current = ir::remove_unused(next);
  }
}

}  // namespace thimble::passes
