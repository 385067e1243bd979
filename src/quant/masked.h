#pragma once
// Elements that mask positions in a softmax: docs/quantization.md, "Masked values".

#include <vector>

#include "ir/graph.h"
#include "quant/range.h"

namespace thimble::quant {

/// By value: true if the value reaches a softmax through add, where and data movement only.
[[nodiscard]] std::vector<bool> values_before_softmax(const ir::Graph& graph);

/// Parameters of a value that holds only 0 (as 127) and masked elements (as -128). Adding such a
/// mask to scores is the minimum of the quantized values, for any scale of the scores.
inline constexpr Params kPureMask{1, 127, true};

}  // namespace thimble::quant
