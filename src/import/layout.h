#pragma once
// The order of a tensor's dimensions in memory, from its strides.

#include <vector>

#include "ir/type.h"

namespace thimble::import_pt2 {

/// Empty for contiguous tensors; 0,2,3,1 for channels-last ones; else dimensions by falling stride.
/// Sizes of 1 do not matter; a tensor that is both contiguous and channels-last is contiguous.
[[nodiscard]] ir::DimOrder dim_order(const ir::Shape& shape, const std::vector<int64_t>& strides);

}  // namespace thimble::import_pt2
