// SPDX-License-Identifier: Apache-2.0
#pragma once
// A view is the position of a graph value in a tensor of the program, dimension by dimension. The
// functions map the dimensions of several views to height, width and depth of an operation.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

/// Maximum size of each axis of a feature map, in every generation.
inline constexpr int64_t kSizeMax = 65536;

/// Element [i0, i1, ...] is at offset + sum of i * step. A step of 0 repeats an element.
struct View {
  int tensor = -1;
  Element element;
  int64_t offset = 0;
  ir::Shape shape;
  std::vector<int64_t> steps;
  int32_t zero_point = 0;

  [[nodiscard]] size_t rank() const { return shape.size(); }
  [[nodiscard]] int64_t elements() const { return ir::element_count(shape); }
  [[nodiscard]] View with_zero_point(int64_t value) const;
};

/// Returns the default memory order of a rank; NHWC for rank 4.
[[nodiscard]] ir::DimOrder default_order(size_t rank);
/// Returns the dimensions in descending order of the view's steps; the default order if it matches.
[[nodiscard]] ir::DimOrder order_of(const View& view);
/// Returns the memory order of the type; the default order if both describe the same memory.
[[nodiscard]] ir::DimOrder order_of(const ir::Type& type);
/// Returns height, width and depth of a dense tensor with this memory order.
[[nodiscard]] Shape4 tensor_shape(const ir::Shape& shape, const ir::DimOrder& order);
[[nodiscard]] View dense_view(int tensor, Element element, const ir::Shape& shape,
                              const ir::DimOrder& order);

/// Returns true if both views are the same elements of one tensor, in the same order.
[[nodiscard]] bool same_place(const View& a, const View& b);

[[nodiscard]] View permuted_view(const View& view, std::span<const int64_t> dims);
/// Returns the view of `count` indices of `dim`: every `step`-th from `start`.
[[nodiscard]] View sliced_view(const View& view, size_t dim, int64_t start, int64_t count,
                               int64_t step = 1);
/// Broadcasts as numpy does: adds leading dimensions and repeats dimensions of size 1.
[[nodiscard]] View broadcast_view(const View& view, const ir::Shape& shape);
/// Returns nullopt if the new shape cannot be expressed with constant steps.
[[nodiscard]] std::optional<View> reshaped_view(const View& view, const ir::Shape& shape);
/// Returns the same memory as 8-bit elements, with an additional last dimension.
[[nodiscard]] View bytes_view(const View& view);

/// One dimension that several views iterate together.
struct Axis {
  int64_t size = 1;
  std::vector<int64_t> steps;  // one per view
};
/// Returns the axes of dimensions `dims` of views with one shape, from the outermost of the first
/// view to the innermost. Sizes of 1 are omitted, and dimensions that are contiguous in every view
/// are merged.
[[nodiscard]] std::vector<Axis> common_axes(std::span<const View* const> views,
                                            std::span<const size_t> dims);

/// Height and width of an operation, and the loops over which it is repeated.
struct Grid {
  Axis h, w;
  std::vector<Axis> loops;
};
/// Maps axes to height and width. `wanted`, the height and width of the first view's tensor, is
/// used if the axes allow it.
[[nodiscard]] Result<Grid> arrange(std::vector<Axis> axes, Shape4 wanted, size_t views);
/// Result of arrange_depth(): as Grid, with the depth as the last axis.
struct Block3 {
  Grid rows;
  Axis c;
};
[[nodiscard]] Result<Block3> arrange_depth(std::vector<Axis> axes, Shape4 wanted, size_t views);

/// Calls visit(offsets, one per view) for each index of the loops.
template <typename Visit>
Status for_each_loop(const std::vector<Axis>& loops, size_t views, Visit visit) {
  int64_t count = 1;
  for (const Axis& axis : loops) count *= axis.size;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> offsets(views, 0);
    int64_t rest = i;
    for (size_t a = loops.size(); a-- > 0;) {
      const int64_t at = rest % loops[a].size;
      rest /= loops[a].size;
      for (size_t v = 0; v < views; ++v) offsets[v] += at * loops[a].steps[v];
    }
    Status status = visit(offsets);
    if (!status.ok()) return status;
  }
  return ok();
}

}  // namespace thimble::engine::ethos_u
