// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_ranges.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "eval/arithmetic.h"

namespace thimble::passes {
namespace {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

constexpr ChannelRange kAnyInt8{-128, 127};

/// Requantizes the bounds of an accumulator. Returns the clamp of the operator if a bound leaves
/// the 32 bits in which the operator computes, or if its multiplier depends on the sign.
ChannelRange requantized(const Op& op, ChannelRange sum, int64_t mult, int64_t shift) {
  const ChannelRange clamp{op.get(ir::attr::min), op.get(ir::attr::max)};
  const auto rounding = static_cast<eval::Rounding>(op.get(ir::attr::rounding));
  const int64_t left = rounding == eval::Rounding::kDouble && shift > 0 ? shift : 0;
  const auto fits = [&](int64_t value) {
    return value == eval::wrap32(value) &&
           value * eval::pow2(left) == eval::wrap32(value * eval::pow2(left));
  };
  if (mult < 0 || !fits(sum.low) || !fits(sum.high)) return clamp;
  const int64_t y_zp = op.get(ir::attr::y_zp);
  const auto bound = [&](int64_t value) {
    const int64_t scaled =
        rounding == eval::Rounding::kEven
            ? eval::requantize_even(value, mult, shift, y_zp)
            : eval::wrap32(eval::requantize(value, mult, shift, rounding) + y_zp);
    return eval::clamp(scaled, clamp.low, clamp.high);
  };
  return {bound(sum.low), bound(sum.high)};
}

class Ranges {
 public:
  Ranges(const ir::Graph& graph, const ChannelGroups& groups)
      : graph_(graph), groups_(groups), ranges_(graph.value_count()) {
    for (const Op& op : graph.ops()) {
      if (!groups.dim(op.output)) continue;
      ranges_[ir::index_of(op.output)] = result(op);
    }
  }

  std::vector<std::vector<ChannelRange>> take() { return std::move(ranges_); }

 private:
  [[nodiscard]] ChannelRange type_range(ValueId id) const {
    if (graph_.type(id).dtype == ir::DType::kI8) return kAnyInt8;
    return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  }

  /// Returns the range of the type if that of the channel is not known: a value without channels,
  /// or an operand with fewer channels than the result.
  [[nodiscard]] ChannelRange range(ValueId id, int64_t channel) const {
    const auto& known = ranges_[ir::index_of(id)];
    const auto index = static_cast<size_t>(channel);
    return index < known.size() ? known[index] : type_range(id);
  }

  [[nodiscard]] int64_t entry(const Op& op, size_t operand, int64_t channel) const {
    const auto values = graph_.value(op.inputs[operand]).constant->data<int32_t>();
    return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
  }

  /// Bounds of the sums of one result channel.
  [[nodiscard]] ChannelRange sum(const Op& op, int64_t output) const {
    const ValueId x = op.inputs[0];
    const ir::Shape& shape = graph_.type(op.inputs[1]).shape;
    const auto w = graph_.value(op.inputs[1]).constant->data<int8_t>();
    const bool each = groups_.role(op) == ChannelRole::kEach;
    const int64_t block = groups_.dim(x) ? groups_.dim(x)->block : 1;
    const int64_t taps = shape.size() == 4 ? shape[2] * shape[3] : 1;
    const int64_t zero_point = zero_point_of_x(op);
    const bool has_ranges = groups_.reads_channels(op);
    ChannelRange total;
    if (op.inputs[2] != ir::kNoValue) {
      total.low = total.high =
          graph_.value(op.inputs[2]).constant->data<int32_t>()[static_cast<size_t>(output)];
    }
    for (int64_t i = 0; i < shape[1]; ++i) {
      ChannelRange operand = has_ranges ? range(x, each ? output : i / block) : type_range(x);
      operand.low -= zero_point;
      operand.high -= zero_point;
      if (has_padding(op)) {
        operand.low = std::min<int64_t>(operand.low, 0);
        operand.high = std::max<int64_t>(operand.high, 0);
      }
      for (int64_t tap = 0; tap < taps; ++tap) {
        const int64_t weight = w[static_cast<size_t>((output * shape[1] + i) * taps + tap)];
        total.low += weight * (weight < 0 ? operand.high : operand.low);
        total.high += weight * (weight < 0 ? operand.low : operand.high);
      }
    }
    return total;
  }

  [[nodiscard]] std::vector<ChannelRange> result(const Op& op) const {
    std::vector<ChannelRange> ranges;
    for (int64_t c = 0; c < groups_.channels(op.output); ++c) ranges.push_back(result(op, c));
    return ranges;
  }

  [[nodiscard]] ChannelRange result(const Op& op, int64_t channel) const {
    if (op.kind == OpKind::qconv2d || op.kind == OpKind::qlinear) {
      if (op.get(ir::attr::bytes) != 1) return type_range(op.output);
      return requantized(op, sum(op, channel), entry(op, 3, channel), entry(op, 4, channel));
    }
    if (groups_.role(op) != ChannelRole::kFollows) return type_range(op.output);
    const ChannelRange x = range(op.inputs[0], channel);
    if (op.kind == OpKind::qmean && op.get(ir::attr::bytes) == 1) {
      const int64_t count =
          graph_.type(op.inputs[0]).elements() / graph_.type(op.output).elements();
      const int64_t x_zp = op.get(ir::attr::x_zp);
      return requantized(op, {(x.low - x_zp) * count, (x.high - x_zp) * count},
                         op.get(ir::attr::mult), op.get(ir::attr::shift));
    }
    if (op.kind == OpKind::qavg_pool2d && op.get(ir::attr::rounding) == 0) {
      const int64_t low = op.get(ir::attr::min), high = op.get(ir::attr::max);
      return {eval::clamp(x.low, low, high), eval::clamp(x.high, low, high)};
    }
    if (op.kind == OpKind::lut && graph_.value(op.inputs[1]).constant != nullptr) {
      return in_table(graph_.value(op.inputs[1]).constant->data<int8_t>(), x);
    }
    if (op.kind == OpKind::pad) {
      const auto value = static_cast<int64_t>(op.get(ir::attr::value));
      return {std::min(x.low, value), std::max(x.high, value)};
    }
    const bool moves = ir::category_of(op.kind) == ir::OpCategory::kView;
    const bool selects =
        op.kind == OpKind::amax || op.kind == OpKind::amin || op.kind == OpKind::max_pool2d;
    return moves || selects ? x : type_range(op.output);
  }

  static ChannelRange in_table(std::span<const int8_t> table, const ChannelRange& x) {
    const auto entries =
        table.subspan(static_cast<size_t>(x.low + 128), static_cast<size_t>(x.high - x.low + 1));
    const auto [low, high] = std::ranges::minmax(entries);
    return {low, high};
  }

  const ir::Graph& graph_;
  const ChannelGroups& groups_;
  std::vector<std::vector<ChannelRange>> ranges_;
};

}  // namespace

bool has_padding(const Op& op) {
  if (ir::category_of(op.kind) != ir::OpCategory::kConv) return false;
  return std::ranges::any_of(op.get(ir::attr::padding), [](int64_t size) { return size != 0; });
}

int64_t zero_point_of_x(const Op& op) {
  return op.kind == OpKind::qconv2d || op.kind == OpKind::qlinear ? op.get(ir::attr::x_zp) : 0;
}

std::vector<std::vector<ChannelRange>> channel_ranges(const ir::Graph& graph,
                                                      const ChannelGroups& groups) {
  return Ranges(graph, groups).take();
}

}  // namespace thimble::passes
