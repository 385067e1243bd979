// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elements that mask positions in a softmax, a comparison or an argmax: docs/quantization.md,
// "Masked values".

#include <vector>

#include "ir/graph.h"
#include "quant/range.h"

namespace thimble::quant {

/// By value: the largest number that is a masked element, NaN if the value has no masked elements.
/// It is kMaskedMax for a value that reaches a softmax through add, where and data movement only,
/// and kOrderedMaskedMax for one that only reaches a comparison or an argmax in this way.
[[nodiscard]] std::vector<double> mask_limits(const ir::Graph& graph);

/// Parameters of a value that holds only 0 (as 127) and masked elements (as -128). Adding such a
/// mask to scores is the minimum of the quantized values, for any scale of the scores.
inline constexpr Params kPureMask{1, 127, true};

}  // namespace thimble::quant
