#pragma once
// Views: how a value of the graph lies in a tensor of the program, dimension by dimension, and how
// the dimensions of several views come to the height, width and depth of an operation.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

/// Sizes of a feature map end here, in every generation.
inline constexpr int64_t kSizeMax = 65536;

/// Element [i0, i1, ...] lies at offset + sum of i * step. A step of 0 repeats.
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

/// The memory order that an image or a matrix has when nobody asks for another: images N, H, W, C.
[[nodiscard]] ir::DimOrder default_order(size_t rank);
/// An order in which the view's steps fall; the default one if it is one.
[[nodiscard]] ir::DimOrder order_of(const View& view);
/// The order that the type's memory has; the default one if the memory is the same.
[[nodiscard]] ir::DimOrder order_of(const ir::Type& type);
/// Height, width and depth of a dense tensor whose dimensions lie in this order.
[[nodiscard]] Shape4 tensor_shape(const ir::Shape& shape, const ir::DimOrder& order);
[[nodiscard]] View dense_view(int tensor, Element element, const ir::Shape& shape,
                              const ir::DimOrder& order);

[[nodiscard]] View permuted_view(const View& view, std::span<const int64_t> dims);
/// Every `step`-th index of `dim` from `start`, `count` of them.
[[nodiscard]] View sliced_view(const View& view, size_t dim, int64_t start, int64_t count,
                               int64_t step = 1);
/// As numpy broadcasts: new dimensions in front, sizes of 1 repeated.
[[nodiscard]] View broadcast_view(const View& view, const ir::Shape& shape);
/// Nothing if the elements do not lie at steps of the new shape.
[[nodiscard]] std::optional<View> reshaped_view(const View& view, const ir::Shape& shape);
/// The same memory as 8-bit elements: one more dimension at the end.
[[nodiscard]] View bytes_view(const View& view);

/// One dimension that several views walk together.
struct Axis {
  int64_t size = 1;
  std::vector<int64_t> steps;  // by view
};
/// Dimensions `dims` of views of one shape, from the outermost of the first view to the innermost;
/// sizes of 1 are left out, and neighbours that are one dimension to every view become one.
[[nodiscard]] std::vector<Axis> common_axes(std::span<const View* const> views,
                                            std::span<const size_t> dims);

/// The height and the width of an operation, and what it is repeated over.
struct Grid {
  Axis h, w;
  std::vector<Axis> loops;
};
/// `wanted` is the height and width that the first view's tensor has: taken if the axes allow.
[[nodiscard]] Result<Grid> arrange(std::vector<Axis> axes, Shape4 wanted, size_t views);
/// As arrange(), with the depth as the last of the axes.
struct Block3 {
  Grid rows;
  Axis c;
};
[[nodiscard]] Result<Block3> arrange_depth(std::vector<Axis> axes, Shape4 wanted, size_t views);

/// Calls visit(offsets by view) for each index of the loops.
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
