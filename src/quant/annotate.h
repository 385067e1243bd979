// SPDX-License-Identifier: Apache-2.0
#pragma once
// annotate(float graph): which values would be quantized, and which of them share parameters,
// before any data is known. PyTorch's quantizers ask for this: they insert observers first.
//
//   conv2d -> clamp -> max_pool2d -> softmax
//             own      of the clamp  1/256, -128
//
// Roles and classes are those of quantize() (plan.h, assign.h). Where quantize() decides by ranges,
// this function decides without them: the operands of concat join its result, and an operand of a
// choice joins if nothing else reads it. Values with fixed parameters keep them.
//
// Test: tests/unit/quant_annotate_test.cpp.

#include <optional>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/quantize.h"
#include "quant/range.h"

namespace thimble::quant {

struct Annotation {
  ir::ValueId value = ir::kNoValue;
  size_t shares = 0;            // equal for values with the same parameters
  bool has_own_range = false;   // an input or a result of arithmetic: observed, or `fixed`
  bool symmetric = false;       // zero point 0, quantized values from -127 to 127
  std::optional<Params> fixed;  // parameters that do not depend on data
};

/// A constant operand that arithmetic reads with parameters of its own.
struct ConstantOperand {
  size_t op = 0;  // index into `graph.ops()`
  ir::ValueId value = ir::kNoValue;
  bool symmetric = false;
};

struct Annotations {
  ir::Graph graph;                 // the graph of all indices
  std::vector<Annotation> values;  // quantized float values, in the order of the graph
  std::vector<ConstantOperand> constants;
};

/// Before: the graph is a prepared float graph without quantize operators. Returns a not-supported
/// error, with source lines, for operators without an integer form and for networks that PyTorch's
/// quantization cannot express: recurrent layers, states and masks of attention.
[[nodiscard]] Result<Annotations> annotate(const ir::Graph& prepared, const QuantSpec& spec);

}  // namespace thimble::quant
