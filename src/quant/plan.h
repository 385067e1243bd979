// SPDX-License-Identifier: Apache-2.0
#pragma once
// plan(graph): assigns a role to each float operator, before any parameter is known.
//
// - kLower: becomes an integer operator. `result` is the value it produces: its output, or that of
//   the clamps that follow it and are merged into it.
// - kTable: the last of a chain of elementwise operators that depends on one value only. The chain
//   becomes one lookup table.
// - kAbsorbed: part of another operator; its output has no integer value.
// - kFloat: stays in float32. Its operands are dequantized, unless another such operator produces
//   them; its result is quantized if another operator reads it.
// - kObserved: the result has no reader; only calibration uses its range (expose.h).

#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/pins.h"
#include "quant/quantize.h"

namespace thimble::quant {

enum class Role : uint8_t { kLower, kTable, kFloat, kAbsorbed, kObserved };

struct OpPlan {
  Role role = Role::kLower;
  ir::ValueId result = ir::kNoValue;
  double clamp_min = -std::numeric_limits<double>::infinity();
  double clamp_max = std::numeric_limits<double>::infinity();
  bool wide = false;                        // 16 bits requested; finally: result is 16-bit
  bool symmetric = false;                   // requires operands with zero point 0
  ir::ValueId table_source = ir::kNoValue;  // kTable: the value that the table is a function of
};

struct Plan {
  std::vector<OpPlan> ops;                // by operator index
  std::vector<bool> is_quantized;         // by value: the value is quantized
  std::vector<bool> wide;                 // by value: the value has 16 bits (widths.h)
  bool sigmoid_scale_from_range = false;  // of PlanPreferences
  Pins pins;                              // parameters chosen by PyTorch's quantizer
  /// Parameters that are decided: of tables that are also weights (tied.h), and of states that
  /// another method has (joint.h).
  std::map<ir::ValueId, Params> given;
};

struct PlanPreferences {
  /// A softmax whose only use is a float or int16 output gets 16 bits. Its probabilities near 1 are
  /// then not limited to 255/256.
  bool wide_softmax = false;
  bool symmetric_products = false;           // zero points 0 for products of two activations
  std::span<const std::string_view> tables;  // allowed functions (split_table.h); empty: any
  IoTypes io;                                // types of outputs
  /// The result of a sigmoid or tanh has a finer scale than the fixed one if its range is small.
  bool sigmoid_scale_from_range = false;
  std::function<bool(const ir::Graph&, const ir::Op&)> keep_float;  // of QuantizeOptions
};
/// Returns a not-supported error that lists every operator without an integer form, with its source
/// line.
[[nodiscard]] Result<Plan> plan(const ir::Graph& graph, Pins pins = {},
                                const PlanPreferences& preferences = {});

/// Returns why this operator has no integer form; empty if it has one.
[[nodiscard]] std::string refusal_reason(const ir::Graph& graph, const ir::Op& op);

[[nodiscard]] PlanPreferences preferences_of(const QuantSpec& spec, const QuantizeOptions& options);

/// Returns true for operators whose result has the scale and zero point of their operand.
[[nodiscard]] bool shares_params(ir::OpKind kind);
/// Returns true for operators whose float32 operands get the scale and zero point of the result if
/// the loss of resolution is small.
[[nodiscard]] bool joins_params(ir::OpKind kind);
/// Returns true for operators that select elements of their operands. The operands have the scale
/// and zero point of the result. They may saturate, because elements outside its range are not
/// selected.
[[nodiscard]] bool selects_elements(ir::OpKind kind);

}  // namespace thimble::quant
