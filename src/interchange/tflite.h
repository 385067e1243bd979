#pragma once
// `--emit tflite`: the integer graph as a LiteRT model (TFLite schema version 3) that gives the
// same bits as the evaluator in LiteRT's reference kernels. docs/interchange.md says what each
// operator becomes.

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

/// What LiteRT's operators compute otherwise is refused, with the operator's place.
[[nodiscard]] Result<Bytes> to_tflite(const ir::Graph& graph);

}  // namespace thimble::interchange
