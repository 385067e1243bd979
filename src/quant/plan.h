#pragma once
// plan(graph): what becomes of each float operator, before any number is known.
//
// - kLower: an integer operator of its own. `result` is the value it produces: its output, or that
//   of the clamps behind it, whose bounds it takes over.
// - kTable: a chain of element-wise operators that depends on one value only ends here: one table.
// - kAbsorbed: part of another operator; no integer value stands for its output.
// - kObserved: nobody reads the result; calibration looks at its range (expose.h).

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/pins.h"
#include "quant/quantize.h"

namespace thimble::quant {

enum class Role : uint8_t { kLower, kTable, kAbsorbed, kObserved };

struct OpPlan {
  Role role = Role::kLower;
  ir::ValueId result = ir::kNoValue;
  double clamp_min = -std::numeric_limits<double>::infinity();
  double clamp_max = std::numeric_limits<double>::infinity();
  bool wide = false;                        // 16 bits are wanted, later: the result has them
  bool symmetric = false;                   // reads codes whose zero point is 0
  ir::ValueId table_source = ir::kNoValue;  // kTable: what the table is a function of
};

struct Plan {
  std::vector<OpPlan> ops;      // by operator index
  std::vector<bool> has_codes;  // by value: an integer value will stand for it
  std::vector<bool> wide;       // by value: it has 16 bits (widths.h)
  Pins pins;                    // of a graph that PyTorch quantized
};

struct PlanWishes {
  /// A softmax that is an output of the graph and nothing else gets 16 bits: what it says next to
  /// certainty does not end at 255/256.
  bool wide_softmax = false;
  bool symmetric_products = false;           // of two activations
  std::span<const std::string_view> tables;  // what they may hold (split_table.h); empty: anything
};
/// Not supported: every operator without an integer form, with its source line.
[[nodiscard]] Result<Plan> plan(const ir::Graph& graph, Pins pins = {},
                                const PlanWishes& wishes = {});

[[nodiscard]] PlanWishes wishes_of(const QuantSpec& spec, const QuantizeOptions& options);

/// Operators whose result has the scale and zero point of their operand.
[[nodiscard]] bool shares_params(ir::OpKind kind);
/// Operators whose float32 operands take the scale and zero point of the result where that costs
/// little.
[[nodiscard]] bool joins_params(ir::OpKind kind);
/// Operators that choose among elements of their operands: those have the scale and zero point of
/// the result, and may saturate, because what lies outside its range is not chosen.
[[nodiscard]] bool chooses(ir::OpKind kind);

}  // namespace thimble::quant
