// SPDX-License-Identifier: Apache-2.0
#pragma once
// `--emit tflite`: writes the integer graph as a LiteRT model (TFLite schema version 3). In
// LiteRT's reference kernels the model gives the same bits as the evaluator. docs/interchange.md
// lists the LiteRT operator for each operator.

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

/// Options for the tool that reads the file. Default: LiteRT's reference kernels, bit-exact.
struct TfliteProfile {
  /// Writes a table of a known function as the LiteRT operator of that function. Writes a sum,
  /// product or prelu as one LiteRT operator without a correcting QUANTIZE. LiteRT's kernels round
  /// some of these operators differently.
  bool functions = false;
  bool images = false;            // use RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR, MIRROR_PAD
  bool explicit_padding = false;  // pad with separate operators instead of SAME
  bool keeps_dims = false;        // the result of FULLY_CONNECTED keeps the operand's rank
};

/// Returns an error with the operator's source location if LiteRT computes an operator differently.
[[nodiscard]] Result<Bytes> to_tflite(const ir::Graph& graph, const TfliteProfile& profile = {});

}  // namespace thimble::interchange
