// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extracts the decisions of PyTorch's quantizer from a graph. Parameters are pinned to values, and
// the quantize and dequantize operators are removed.
//
//   quantize(x; p)                  x has the parameters p
//   dequantize(that)                x
//   dequantize(quantized constant)  a float constant; its quantized values are recorded
//   quantize(x; q) where x has p    clamp(x) without bounds, with parameters q: a table from p to q
//
// Quantized values become int8: 128 is subtracted from uint8 values and their zero points.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/range.h"

namespace thimble::quant {

/// The quantized values of a constant: int8, or int32 for a bias. Symmetric if the zero point is 0.
struct QuantizedConstant {
  ir::TensorPtr codes;
  std::vector<double> scale;  // one scale, or one per index of `axis`
  std::vector<int32_t> zero_point;
  int64_t axis = -1;
};

/// The decisions of PyTorch's quantizer, by value of the graph.
struct Pins {
  std::vector<std::optional<Params>> params;
  std::map<ir::ValueId, QuantizedConstant> constants;
  std::set<ir::ValueId> quantized;  // values that PyTorch quantizes with any parameters

  [[nodiscard]] const Params* find(ir::ValueId id) const {
    const auto i = static_cast<size_t>(id);
    return i < params.size() && params[i] ? &*params[i] : nullptr;
  }
  /// Returns true if PyTorch quantized nothing.
  [[nodiscard]] bool empty() const { return params.empty(); }
};

struct PinnedGraph {
  ir::Graph graph;
  Pins pins;
  std::vector<ir::ValueId> stands_for;  // value of this graph, by value of the original graph
};

/// Returns true if the graph has quantize or dequantize operators.
[[nodiscard]] bool is_prequantized(const ir::Graph& graph);

/// Returns a not-supported error with source lines for int8 inputs and for arithmetic on quantized
/// values.
[[nodiscard]] Result<PinnedGraph> extract_pins(const ir::Graph& graph);

}  // namespace thimble::quant
