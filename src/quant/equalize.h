// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cross-layer equalization. Channels of one value that differ in magnitude waste resolution,
// because they share a scale. A relu commutes with a positive factor f, so
//
//   conv(w, b) -> relu -> conv(v)   =   conv(w / f, b / f) -> relu -> conv(v * f)
//
// for a factor f > 0 per channel. A group is a set of values whose channels can only be scaled
// together. It begins and ends at conv2d and linear. In between are operators that commute with a
// positive factor per channel: relu, leaky relu, pools, mean over positions, pad with 0, add of two
// values of the group, data movement that keeps channels together, product with a gate. A value is
// in no group if it has another kind of reader or follows a clamp with a non-zero bound: for
// relu6, the bound would differ by channel.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::quant {

struct ChannelGroup {
  std::vector<ir::ValueId> values;  // in graph order
  int64_t channels = 0;
  bool dense = false;  // a reader sums over several channels, whose weights share a scale
};

/// Channel layout of a value: index i along `dim` belongs to channel i / inner.
struct ChannelLayout {
  size_t dim = 0;
  int64_t inner = 1;
  int64_t channels = 0;  // 0 if the value is in no group
};

struct ChannelGroups {
  std::vector<ChannelGroup> channel_groups;
  std::vector<int> group_of;           // by value; -1 if it is in no group
  std::vector<ChannelLayout> layouts;  // by value
};

[[nodiscard]] ChannelGroups find_channel_groups(const ir::Graph& graph);

/// Positive factors by group and channel; values are divided by them. An empty list leaves the
/// group unchanged.
using ChannelFactors = std::vector<std::vector<double>>;

/// Returns the factors that equalize channels of magnitudes `extents` (by group and channel). If
/// every reader is depthwise, all channels get equal magnitudes. If a reader is dense, the factor
/// is the geometric mean between equal activations and equal weights.
[[nodiscard]] ChannelFactors matching_factors(const ir::Graph& graph,
                                              const ChannelGroups& channel_groups,
                                              const std::vector<std::vector<double>>& extents);

/// Returns the same function with rescaled weights. Names, types and sources do not change.
[[nodiscard]] Result<ir::Graph> scale_channels(const ir::Graph& graph,
                                               const ChannelGroups& channel_groups,
                                               const ChannelFactors& factors);

}  // namespace thimble::quant
