#pragma once
// `--emit tflite`: the integer graph as a LiteRT model (TFLite schema version 3) that gives the
// same bits as the evaluator in LiteRT's reference kernels. docs/interchange.md says what each
// operator becomes.

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

/// Whom a file is for. Without any of these: LiteRT's reference kernels, which give the same bits.
struct TfliteProfile {
  /// A table whose function LiteRT has an operator for is that operator, sums, products and prelu
  /// are theirs alone, though kernels of LiteRT round some of them in ways of their own.
  bool functions = false;
  bool images = false;            // RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR, MIRROR_PAD
  bool explicit_padding = false;  // operators of their own, never SAME
  bool keeps_dims = false;        // FULLY_CONNECTED has its operand's dimensions
};

/// What LiteRT's operators compute otherwise is refused, with the operator's place.
[[nodiscard]] Result<Bytes> to_tflite(const ir::Graph& graph, const TfliteProfile& profile = {});

}  // namespace thimble::interchange
