#pragma once
// `--emit tosa`: writes the integer graph as a TOSA 1.0 flatbuffer that gives the same bits as the
// evaluator. docs/interchange.md lists the TOSA operators for each operator.

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

/// Returns an error with the operator's source location if TOSA cannot represent an operator.
[[nodiscard]] Result<Bytes> to_tosa(const ir::Graph& graph);

}  // namespace thimble::interchange
