// SPDX-License-Identifier: Apache-2.0
#pragma once
// annotate(): what the quantizer does with each node of an export, by the node's name. PyTorch's
// quantizers turn the result into observers (python/thimble_ml/quantizer.py).
//
// Observers can only be inserted after nodes of the export. Values inside of a node, and values
// that a float pass replaces, have no such place:
// - If a pass merges a node into another one and the result is quantized where no node ends, the
//   operands of that node are kept, so that they can be quantized instead. Example: conv2d ->
//   hardsigmoid, where the sum of hardsigmoid would be merged into the convolution.
// - If a node contains quantized values anyway, it is reported in `decompose`. Example: attention.
//
// Test: tests/unit/driver_annotate_test.cpp.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/compile.h"
#include "ir/graph.h"
#include "quant/range.h"

namespace thimble::driver {

/// The parameters of a node's result.
struct ResultAnnotation {
  std::string shares_with;  // the first node with the same parameters; empty: this one
  bool symmetric = false;   // zero point 0, quantized values from -127 to 127
  std::optional<quant::Params> fixed;
};

/// Operand 1 of a convolution or a linear: int8 from -127 to 127, zero point 0.
struct WeightsAnnotation {
  std::string name;             // of the parameter
  std::optional<int64_t> axis;  // a scale per index of this dimension; empty: one scale
};

/// Another constant operand, int8 with the range of its elements.
struct ConstantAnnotation {
  std::string name;
  bool symmetric = false;
};

struct NodeAnnotation {
  std::string node;
  ir::Source source;  // empty for an input
  std::optional<ResultAnnotation> result;
  std::optional<WeightsAnnotation> weights;
  std::vector<ConstantAnnotation> constants;
};

struct AnnotatedModel {
  std::string model, target;
  std::vector<NodeAnnotation> nodes;  // the inputs, then nodes of the export in order
  std::vector<ir::Source> decompose;  // nodes with quantized values inside
};

/// `options.target` names the part. Returns a not-supported error with source lines for operators
/// without an integer form, and a bad-input error for a graph that is quantized already.
[[nodiscard]] Result<AnnotatedModel> annotate(const std::filesystem::path& model,
                                              const CompileOptions& options);

/// One operator of a compiled graph.
struct NodeArithmetic {
  std::string node;                 // of the export
  std::string op;                   // "qconv2d"
  std::optional<int64_t> rounding;  // docs/numerics.md; none: the operator has only one
};
/// Returns an entry for each operator of the integer graph that computes a node of the export, in
/// execution order.
[[nodiscard]] std::vector<NodeArithmetic> arithmetic_of_nodes(const ir::Graph& integer_graph);

}  // namespace thimble::driver
