// SPDX-License-Identifier: Apache-2.0
#pragma once
// The quantized weights of one float graph, for lowerings that differ only in the widths of a few
// operators. Graphs that are lowered with the same cache share the tensors. Weights depend only on
// the scales and widths of operand and result, if they are rounded to the nearest codes.

#include <map>
#include <vector>

#include "ir/graph.h"
#include "quant/weights.h"

namespace thimble::quant {

class WeightCache {
 public:
  struct Key {
    double x_scale = 0, y_scale = 0;
    bool x_wide = false, per_channel = true;
    int bits = 8;
    bool grouped = false;
    bool operator==(const Key&) const = default;
  };
  [[nodiscard]] static Key key_of(const WeightRequest& request) {
    return {request.x.scale,     request.y.scale, request.x.wide,
            request.per_channel, request.bits,    request.grouped};
  }

  /// Returns the weights of the operator with this result; null if they are not known.
  [[nodiscard]] const IntegerWeights* find(ir::ValueId result, const Key& key) const {
    const auto found = entries_.find(result);
    if (found == entries_.end()) return nullptr;
    for (const auto& [known, weights] : found->second) {
      if (known == key) return &weights;
    }
    return nullptr;
  }

  /// Adds weights. Equal codes become one tensor: they are the same for most keys.
  void add(ir::ValueId result, const Key& key, IntegerWeights* weights) {
    auto& known = entries_[result];
    for (const auto& [other, its] : known) {
      if (*its.w == *weights->w) weights->w = its.w;
    }
    known.emplace_back(key, *weights);
  }

 private:
  std::map<ir::ValueId, std::vector<std::pair<Key, IntegerWeights>>> entries_;
};

}  // namespace thimble::quant
