#pragma once
// `--emit tosa`: the integer graph as a TOSA 1.0 flatbuffer that gives the same bits as the
// evaluator. docs/interchange.md says what each operator becomes.

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

/// What cannot be said is refused, with the operator's place.
[[nodiscard]] Result<Bytes> to_tosa(const ir::Graph& graph);

}  // namespace thimble::interchange
