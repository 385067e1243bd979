// SPDX-License-Identifier: Apache-2.0
#pragma once
// Views of the memory of another tensor. PyTorch's in-place operators write through views. A view
// is therefore stored as the list of data movements that create it, so that it can be inverted.

#include <vector>

#include "import/builder.h"

namespace thimble::import_pt2 {

/// One data movement: reshape, permute, slice or expand.
struct Step {
  ir::OpKind kind{};
  ir::Attrs attrs;
};
using View = std::vector<Step>;  // empty: the base itself

[[nodiscard]] Step reshape_step(ir::Shape shape);
[[nodiscard]] Step permute_step(std::vector<int64_t> dims);
[[nodiscard]] Step slice_step(int64_t dim, int64_t start, int64_t end, int64_t step = 1);
[[nodiscard]] Step expand_step(ir::Shape shape);

/// Applies the view to `base`.
[[nodiscard]] Result<ir::ValueId> apply(Builder& builder, const View& view, ir::ValueId base,
                                        const ir::Source& source, const std::string& name);

/// Returns `base` after `value` was written through the view. `expand` (one element at several
/// positions) is not supported.
[[nodiscard]] Result<ir::ValueId> write_through(Builder& builder, const View& view,
                                                ir::ValueId base, ir::ValueId value,
                                                const ir::Source& source, const std::string& name);

/// Returns true if PyTorch's `view` to `to` would share memory with a tensor of these sizes and
/// strides.
[[nodiscard]] bool can_view(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                            const std::vector<int64_t>& to);

}  // namespace thimble::import_pt2
