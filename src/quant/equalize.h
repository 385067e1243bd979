#pragma once
// Cross-layer equalization: channels of one value that differ in magnitude waste codes, because
// they share a scale. A relu passes a positive factor on, so
//
//   conv(w, b) -> relu -> conv(v)   =   conv(w / f, b / f) -> relu -> conv(v * f)
//
// with a factor f per channel in between, for any f > 0. A region is a set of values whose channels
// can only be scaled together: from conv2d and linear, through operators that pass a positive
// factor per channel on (relu, leaky relu, pools, mean over positions, pad with 0, add of two
// values of the region, movement that keeps channels together, a product with a gate), to conv2d
// and linear. A value that anything else reads, and one behind a clamp at another bound than 0
// (relu6: the bound would differ by channel), belongs to no region.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::quant {

struct EqualRegion {
  std::vector<ir::ValueId> values;  // in graph order
  int64_t channels = 0;
  bool dense = false;  // some consumer adds several channels up: their weights share a scale
};

/// Where the channels of a value lie: index i along `dim` belongs to channel i / inner.
struct ChannelLayout {
  size_t dim = 0;
  int64_t inner = 1;
  int64_t channels = 0;  // 0: the value is in no region
};

struct EqualRegions {
  std::vector<EqualRegion> regions;
  std::vector<int> region_of;          // by value; -1: none
  std::vector<ChannelLayout> layouts;  // by value
};

[[nodiscard]] EqualRegions find_regions(const ir::Graph& graph);

/// A positive factor per channel and region: values are divided by it. Empty: left alone.
using EqualFactors = std::vector<std::vector<double>>;

/// The factors that bring channels of the magnitudes `extents` (by region and channel) together:
/// entirely where every consumer is depthwise, half way (in logarithms) between equal activations
/// and equal weights where a consumer is dense.
[[nodiscard]] EqualFactors matching_factors(const ir::Graph& graph, const EqualRegions& regions,
                                            const std::vector<std::vector<double>>& extents);

/// The same function with other weights. Names, types and sources stay.
[[nodiscard]] Result<ir::Graph> scale_channels(const ir::Graph& graph, const EqualRegions& regions,
                                               const EqualFactors& factors);

}  // namespace thimble::quant
