#pragma once
// Views: how one tensor is seen through another's memory. PyTorch's in-place operators write
// through them, so a view is kept as the list of movements that make it, and can be undone.

#include <vector>

#include "import/builder.h"

namespace thimble::import_pt2 {

/// One movement of data: reshape, permute, slice or expand.
struct Step {
  ir::OpKind kind{};
  ir::Attrs attrs;
};
using View = std::vector<Step>;  // empty: the tensor itself

[[nodiscard]] Step reshape_step(ir::Shape shape);
[[nodiscard]] Step permute_step(std::vector<int64_t> dims);
[[nodiscard]] Step slice_step(int64_t dim, int64_t start, int64_t end, int64_t step = 1);
[[nodiscard]] Step expand_step(ir::Shape shape);

/// `base` seen through the view.
[[nodiscard]] Result<ir::ValueId> apply(Builder& builder, const View& view, ir::ValueId base,
                                        const ir::Source& source, const std::string& name);

/// `base` after `value` has been written through the view. Refused through `expand` (one element
/// seen many times) and through slices with a step.
[[nodiscard]] Result<ir::ValueId> write_through(Builder& builder, const View& view,
                                                ir::ValueId base, ir::ValueId value,
                                                const ir::Source& source, const std::string& name);

/// Would PyTorch's `view` to `to` share the memory of a tensor with these sizes and strides?
[[nodiscard]] bool can_view(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
                            const std::vector<int64_t>& to);

}  // namespace thimble::import_pt2
