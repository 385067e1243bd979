#pragma once
// Where elements may hide positions from a softmax: docs/quantization.md, "Masked values".

#include <vector>

#include "ir/graph.h"
#include "quant/range.h"

namespace thimble::quant {

/// By value: it reaches a softmax through nothing but add, where and movement.
[[nodiscard]] std::vector<bool> values_before_softmax(const ir::Graph& graph);

/// A value that holds only 0 and masked elements: code 127 for 0. Added to scores, it is the
/// minimum of the codes, whatever the scale of the scores.
inline constexpr Params kPureMask{1, 127, true};

}  // namespace thimble::quant
