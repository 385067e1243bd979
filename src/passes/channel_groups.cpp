// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_groups.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "ir/op_traits.h"

namespace thimble::passes {
namespace {

using ir::Op;
using ir::OpCategory;
using ir::OpKind;
using ir::ValueId;

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

/// Returns the dimension of `to` that begins where dimension `from_dim` of `from` begins and ends
/// at the end of one of the dimensions from `from_dim` on.
std::optional<ChannelDim> reshaped(const ir::Shape& from, const ChannelDim& before,
                                   const ir::Shape& to) {
  const std::span<const int64_t> all(from);
  const int64_t outer = product(all.first(before.dim));
  const int64_t size = from[before.dim];
  const int64_t inner = product(all.subspan(before.dim + 1));
  int64_t outer_to = 1;
  for (size_t dim = 0; dim < to.size(); ++dim) {
    if (outer_to == outer && to[dim] % size == 0 && inner % (to[dim] / size) == 0) {
      return ChannelDim{dim, before.block * (to[dim] / size)};
    }
    outer_to *= to[dim];
  }
  return std::nullopt;
}

/// Returns true if weights, bias and multipliers are constants, and the weights are int8. No engine
/// has run yet, so no operator has a leaky activation.
bool has_constants(const ir::Graph& graph, const Op& op) {
  if (graph.type(op.inputs[1]).dtype != ir::DType::kI8) return false;
  const bool wide = op.kind == OpKind::qconv2d16 || op.kind == OpKind::qlinear16;
  if (!wide && op.get(ir::attr::leaky) != 0) return false;  // has two multipliers per channel
  return std::all_of(op.inputs.begin() + 1, op.inputs.end(), [&](ValueId id) {
    return id == ir::kNoValue || graph.value(id).constant != nullptr;
  });
}

/// Returns true for reductions whose result in a channel depends on the elements of this channel.
bool reduces_by_element(OpKind kind) {
  return kind == OpKind::qmean || kind == OpKind::qmean16 || kind == OpKind::amax ||
         kind == OpKind::amin;
}

size_t consumed_dim(const ir::Graph& graph, const Op& op) {
  return ir::category_of(op.kind) == OpCategory::kLinear ? graph.type(op.inputs[0]).shape.size() - 1
                                                         : 1;
}

}  // namespace

std::optional<size_t> aligned_dim(size_t dim, size_t rank, size_t operand_rank) {
  const size_t missing = rank - operand_rank;
  return dim < missing ? std::nullopt : std::optional(dim - missing);
}

ChannelGroups::ChannelGroups(const ir::Graph& graph)
    : graph_(graph),
      dims_(graph.value_count()),
      parents_(graph.value_count()),
      fixed_(graph.value_count(), false) {
  std::iota(parents_.begin(), parents_.end(), size_t{0});
  for (const Op& op : graph.ops()) visit(op);
  for (const ValueId id : graph.results()) fix(id);
}

ChannelRole ChannelGroups::role(const Op& op) const {
  const OpCategory category = ir::category_of(op.kind);
  if (category == OpCategory::kLinear || category == OpCategory::kConv) {
    if (!has_constants(graph_, op)) return ChannelRole::kOther;
    const int64_t groups = category == OpCategory::kConv ? op.get(ir::attr::groups) : 1;
    if (groups == 1) return ChannelRole::kMixes;
    const bool depthwise =
        groups == graph_.type(op.inputs[0]).shape[1] && groups == graph_.type(op.output).shape[1];
    return depthwise ? ChannelRole::kEach : ChannelRole::kOther;
  }
  const bool follows = ir::is_elementwise(op.kind) || ir::is_window(op.kind) ||
                       category == OpCategory::kView || reduces_by_element(op.kind) ||
                       op.kind == OpKind::concat || op.kind == OpKind::pad;
  return follows && category != OpCategory::kConvTranspose ? ChannelRole::kFollows
                                                           : ChannelRole::kOther;
}

size_t ChannelGroups::group(ValueId id) const {
  size_t at = ir::index_of(id);
  while (parents_[at] != at) at = parents_[at];
  return at;
}

int64_t ChannelGroups::channels(ValueId id) const {
  const ChannelDim& dim = *dims_[ir::index_of(id)];
  return graph_.type(id).shape[dim.dim] / dim.block;
}

void ChannelGroups::fix(ValueId id) {
  if (id != ir::kNoValue && dim(id)) fixed_[group(id)] = true;
}

void ChannelGroups::join(ValueId a, ValueId b) {
  const size_t from = group(a), to = group(b);
  fixed_[to] = fixed_[to] || fixed_[from];
  parents_[from] = to;
}

/// Returns where the channels are in the result; nullopt if the operator changes them.
std::optional<ChannelDim> ChannelGroups::after(const Op& op, const ChannelDim& before) const {
  const ir::Shape& from = graph_.type(op.inputs[0]).shape;
  const ir::Shape& to = graph_.type(op.output).shape;
  const size_t dim = before.dim;
  if (ir::is_window(op.kind)) return dim == 1 ? std::optional(before) : std::nullopt;
  const bool along = op.kind == OpKind::slice || op.kind == OpKind::concat;
  if (along && op.get(ir::attr::dim) == static_cast<int64_t>(dim)) return std::nullopt;
  if (along) return before;
  if (op.kind == OpKind::reshape) return reshaped(from, before, to);
  if (op.kind == OpKind::permute) {
    const auto& dims = op.get(ir::attr::dims);
    const auto at = std::ranges::find(dims, static_cast<int64_t>(dim));
    return ChannelDim{static_cast<size_t>(at - dims.begin()), before.block};
  }
  if (op.kind == OpKind::expand) {
    const size_t at = dim + to.size() - from.size();
    return to[at] == from[dim] ? std::optional(ChannelDim{at, before.block}) : std::nullopt;
  }
  if (op.kind == OpKind::pad) {
    const bool whole = op.get(ir::attr::before)[dim] == 0 && op.get(ir::attr::after)[dim] == 0;
    return whole ? std::optional(before) : std::nullopt;
  }
  if (reduces_by_element(op.kind)) {
    size_t removed = 0;
    for (const int64_t reduced : op.get(ir::attr::dims)) {
      if (reduced == static_cast<int64_t>(dim)) return std::nullopt;
      if (reduced < static_cast<int64_t>(dim)) ++removed;
    }
    const bool keep = op.get(ir::attr::keepdim) != 0;
    return ChannelDim{keep ? dim : dim - removed, before.block};
  }
  return from == to ? std::optional(before) : std::nullopt;
}

bool ChannelGroups::reads_channels(const Op& op) const {
  const ChannelRole kind = role(op);
  if (kind == ChannelRole::kEach) return dim(op.inputs[0]) == ChannelDim{1, 1};
  if (kind != ChannelRole::kMixes || op.inputs[0] == ir::kNoValue) return false;
  const std::optional<ChannelDim>& x = dim(op.inputs[0]);
  return x && x->dim == consumed_dim(graph_, op) &&
         (x->block == 1 || ir::category_of(op.kind) == OpCategory::kLinear);
}

void ChannelGroups::visit(const Op& op) {
  const ChannelRole kind = role(op);
  if (kind == ChannelRole::kFollows) return follow(op);
  const ValueId x = op.inputs.empty() ? ir::kNoValue : op.inputs[0];
  const bool reads = reads_channels(op);
  for (const ValueId id : op.inputs) {
    if (id != x || !reads) fix(id);
  }
  if (kind == ChannelRole::kOther) return;
  const bool linear = ir::category_of(op.kind) == OpCategory::kLinear;
  const size_t produced = linear ? graph_.type(op.output).shape.size() - 1 : 1;
  if (kind == ChannelRole::kMixes) {
    dims_[ir::index_of(op.output)] = ChannelDim{produced, 1};
  } else if (reads) {
    dims_[ir::index_of(op.output)] = ChannelDim{1, 1};
    join(op.output, x);
  }
}

void ChannelGroups::follow(const Op& op) {
  const bool pair = ir::is_elementwise(op.kind) || op.kind == OpKind::concat;
  const size_t rank = graph_.type(op.output).shape.size();
  std::optional<ChannelDim> result;
  bool possible = true;
  for (const ValueId id : op.inputs) {
    if (id == ir::kNoValue || !dim(id)) continue;
    const size_t missing = rank - std::min(rank, graph_.type(id).shape.size());
    const auto next = pair && op.kind != OpKind::concat
                          ? std::optional(ChannelDim{dim(id)->dim + missing, dim(id)->block})
                          : after(op, *dim(id));
    possible = possible && next && (!result || result == next);
    result = next;
  }
  if (!result && possible) return;  // no operand has channels
  for (size_t i = 0; possible && pair && i < op.inputs.size(); ++i) {
    const ValueId id = op.inputs[i];
    if (id == ir::kNoValue || dim(id)) continue;
    if (ir::category_of(op.kind) == OpCategory::kTable) continue;
    const auto at = aligned_dim(result->dim, rank, graph_.type(id).shape.size());
    possible = graph_.value(id).constant != nullptr || !at || graph_.type(id).shape[*at] == 1;
  }
  if (possible) {
    // A broadcast along the channels would turn one channel into several.
    for (const ValueId id : op.inputs) {
      if (id == ir::kNoValue || !dim(id) || !pair) continue;
      possible = possible &&
                 graph_.type(id).shape[dim(id)->dim] == graph_.type(op.output).shape[result->dim];
    }
  }
  if (!possible) {
    for (const ValueId id : op.inputs) fix(id);
    return;
  }
  dims_[ir::index_of(op.output)] = result;
  for (const ValueId id : op.inputs) {
    if (id != ir::kNoValue && dim(id)) join(op.output, id);
  }
}

}  // namespace thimble::passes
