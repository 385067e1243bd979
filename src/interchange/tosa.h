// SPDX-License-Identifier: Apache-2.0
#pragma once
// `--emit tosa` and `--emit tosa-fp`: writes a graph as a TOSA 1.0 flatbuffer. docs/interchange.md
// lists the TOSA operators for each operator.

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

/// Writes the integer graph in TOSA's integer profile. The program gives the same bits as the
/// evaluator. Returns an error with the operator's source location if TOSA cannot represent an
/// operator.
[[nodiscard]] Result<Bytes> to_tosa(const ir::Graph& graph);

/// Writes the float graph in TOSA's floating-point profile, in fp32. Returns an error as to_tosa.
[[nodiscard]] Result<Bytes> to_tosa_fp(const ir::Graph& graph);

}  // namespace thimble::interchange
