#pragma once
// What PyTorch's quantizer decided, taken out of a graph: parameters are pinned to values, and the
// quantize and dequantize operators are gone.
//
//   quantize(x; p)                  x has the parameters p
//   dequantize(that)                x
//   dequantize(constant codes)      a float constant, and its codes
//   quantize(x; q) where x has p    clamp(x) without bounds, which has q: a table from p to q
//
// Codes are int8 here: uint8 ones move by 128, zero point and all.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/range.h"

namespace thimble::quant {

/// The codes of a constant: int8, or int32 (biases); symmetric where the zero point is 0.
struct ConstantCodes {
  ir::TensorPtr codes;
  std::vector<double> scale;  // one, or one per index of `axis`
  std::vector<int32_t> zero_point;
  int64_t axis = -1;
};

/// By value of the graph.
struct Pins {
  std::vector<std::optional<Params>> params;
  std::map<ir::ValueId, ConstantCodes> constants;
  std::set<ir::ValueId> quantized;  // values that PyTorch quantizes, with whatever parameters

  [[nodiscard]] const Params* find(ir::ValueId id) const {
    const auto i = static_cast<size_t>(id);
    return i < params.size() && params[i] ? &*params[i] : nullptr;
  }
  /// Nothing was quantized.
  [[nodiscard]] bool empty() const { return params.empty(); }
};

struct PinnedGraph {
  ir::Graph graph;
  Pins pins;
  std::vector<ir::ValueId> stands_for;  // by value of the graph before: the value here
};

/// Has the graph quantize or dequantize operators?
[[nodiscard]] bool is_prequantized(const ir::Graph& graph);

/// Not supported: int8 inputs, arithmetic on codes; with the user's lines.
[[nodiscard]] Result<PinnedGraph> take_parameters(const ir::Graph& graph);

}  // namespace thimble::quant
