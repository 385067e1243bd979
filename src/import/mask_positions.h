// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bool tensors as indices. The number of elements that they select must be known at import.

#include <optional>

#include "import/call.h"

namespace thimble::import_pt2 {

/// A mask that is known at import.
struct KnownMask {
  ir::Shape shape;
  Ints selected;  // positions of the true elements, in the order of the elements
};
/// Returns the mask of a constant bool tensor; nothing for other values.
[[nodiscard]] std::optional<KnownMask> known_mask(Call& call, ir::ValueId id);

/// Sets the size symbol of `x[mask]` to the number of selected elements, if the mask is known. The
/// export gives it no value.
void learn_selected_count(Context& context, const formats::pt2::Node& node,
                          const ir::Source& source);

/// Returns `x` with the dimensions from `dim` on that the mask covers as one dimension.
[[nodiscard]] Result<ir::ValueId> merge_masked_dims(Call& call, ir::ValueId x, size_t dim,
                                                    const KnownMask& mask);

/// Returns the error for a mask that is computed at run time.
[[nodiscard]] Error mask_at_run_time();

}  // namespace thimble::import_pt2
