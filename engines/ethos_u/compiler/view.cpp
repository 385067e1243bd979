// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/view.h"

#include <algorithm>
#include <numeric>

namespace thimble::engine::ethos_u {

View View::with_zero_point(int64_t value) const {
  View result = *this;
  result.zero_point = static_cast<int32_t>(value);
  return result;
}

ir::DimOrder default_order(size_t rank) {
  if (rank == 4) return ir::channels_last_order();
  ir::DimOrder order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  return order;
}

namespace {

bool falls(const View& view, const ir::DimOrder& order) {
  int64_t last = INT64_MAX;
  for (const uint8_t dim : order) {
    if (view.shape[dim] == 1) continue;
    if (view.steps[dim] > last) return false;
    last = view.steps[dim];
  }
  return true;
}

}  // namespace

ir::DimOrder order_of(const View& view) {
  ir::DimOrder order = default_order(view.rank());
  if (falls(view, order)) return order;
  std::iota(order.begin(), order.end(), uint8_t{0});
  if (falls(view, order)) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint8_t a, uint8_t b) { return view.steps[a] > view.steps[b]; });
  return order;
}

ir::DimOrder order_of(const ir::Type& type) {
  const ir::DimOrder usual = default_order(type.shape.size());
  if (ir::same_memory(type.shape, type.dim_order, usual)) return usual;
  if (!type.dim_order.empty()) return type.dim_order;
  ir::DimOrder contiguous(type.shape.size());
  std::iota(contiguous.begin(), contiguous.end(), uint8_t{0});
  return contiguous;
}

Shape4 tensor_shape(const ir::Shape& shape, const ir::DimOrder& order) {
  if (shape.empty()) return {};
  const bool image = order == ir::channels_last_order();
  // A single row of an image stays a row; the rows of a matrix are divided into height and width.
  const bool plain = std::is_sorted(order.begin(), order.end());
  std::vector<int64_t> rows;
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    if (shape[order[i]] != 1) rows.push_back(shape[order[i]]);
  }
  Shape4 result = {1, 1, shape[order.back()]};
  if (image) {
    result.h = shape[0] * shape[2];
    result.w = shape[3];
  } else if (rows.size() == 1 && !plain) {
    result.w = rows[0];
  } else if (rows.size() == 1) {
    for (int64_t h = 1; h * h <= rows[0]; ++h) {
      if (rows[0] % h == 0) result.h = h;
    }
    result.w = rows[0] / result.h;
  } else if (!rows.empty()) {
    result.w = rows.back();
    rows.pop_back();
    for (const int64_t size : rows) result.h *= size;
  }
  return result;
}

bool same_place(const View& a, const View& b) {
  if (a.tensor != b.tensor || a.offset != b.offset || a.shape != b.shape) return false;
  for (size_t i = 0; i < a.rank(); ++i) {
    if (a.shape[i] > 1 && a.steps[i] != b.steps[i]) return false;
  }
  return true;
}

View dense_view(int tensor, Element element, const ir::Shape& shape, const ir::DimOrder& order) {
  return {tensor, element, 0, shape, ir::strides(shape, order), 0};
}

View permuted_view(const View& view, std::span<const int64_t> dims) {
  View result = view;
  for (size_t i = 0; i < dims.size(); ++i) {
    result.shape[i] = view.shape[static_cast<size_t>(dims[i])];
    result.steps[i] = view.steps[static_cast<size_t>(dims[i])];
  }
  return result;
}

View sliced_view(const View& view, size_t dim, int64_t start, int64_t count, int64_t step) {
  View result = view;
  result.offset += start * view.steps[dim];
  result.shape[dim] = count;
  result.steps[dim] *= step;
  return result;
}

View broadcast_view(const View& view, const ir::Shape& shape) {
  View result = view;
  const size_t added = shape.size() - view.rank();
  result.shape = shape;
  result.steps.assign(shape.size(), 0);
  for (size_t i = 0; i < view.rank(); ++i) {
    if (view.shape[i] == shape[added + i]) result.steps[added + i] = view.steps[i];
  }
  return result;
}

std::optional<View> reshaped_view(const View& view, const ir::Shape& shape) {
  std::vector<Axis> axes;  // of the old shape; contiguous dimensions are merged
  for (size_t i = 0; i < view.rank(); ++i) {
    if (view.shape[i] == 1) continue;
    if (!axes.empty() && axes.back().steps[0] == view.steps[i] * view.shape[i]) {
      axes.back().size *= view.shape[i];
      axes.back().steps[0] = view.steps[i];
    } else {
      axes.push_back({view.shape[i], {view.steps[i]}});
    }
  }
  View result = view;
  result.shape = shape;
  result.steps.assign(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1) continue;
    if (axes.empty() || axes.back().size % shape[i] != 0) return std::nullopt;
    result.steps[i] = axes.back().steps[0];
    axes.back().size /= shape[i];
    axes.back().steps[0] *= shape[i];
    if (axes.back().size == 1) axes.pop_back();
  }
  return result;
}

View bytes_view(const View& view) {
  const int64_t bytes = view.element.bits / 8;
  View result = view;
  result.element = {8, true};
  result.offset *= bytes;
  for (int64_t& step : result.steps) step *= bytes;
  result.shape.push_back(bytes);
  result.steps.push_back(1);
  return result;
}

std::vector<Axis> common_axes(std::span<const View* const> views, std::span<const size_t> dims) {
  std::vector<size_t> order;
  for (const size_t dim : dims) {
    if (views[0]->shape[dim] != 1) order.push_back(dim);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return views[0]->steps[a] > views[0]->steps[b]; });
  std::vector<Axis> axes;
  for (const size_t dim : order) {
    Axis axis = {views[0]->shape[dim], {}};
    for (const View* view : views) axis.steps.push_back(view->steps[dim]);
    bool one = !axes.empty();
    for (size_t v = 0; one && v < views.size(); ++v) {
      one = axes.back().steps[v] == axis.steps[v] * axis.size;
    }
    if (one) {
      axes.back().size *= axis.size;
      axes.back().steps = axis.steps;
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

namespace {

Axis unit(size_t views) {
  return {1, std::vector<int64_t>(views, 0)};
}

/// Splits the inner `size` elements off the last axis; returns nullopt if `size` does not divide
/// it.
std::optional<Axis> take(std::vector<Axis>* axes, int64_t size, size_t views) {
  if (size == 1) return unit(views);
  if (axes->empty() || axes->back().size % size != 0) return std::nullopt;
  Axis inner = axes->back();
  axes->back().size /= size;
  for (int64_t& step : axes->back().steps) step *= size;
  inner.size = size;
  if (axes->back().size == 1) axes->pop_back();
  return inner;
}

int64_t largest_divisor(int64_t value, int64_t limit) {
  for (int64_t d = std::min(value, limit); d > 1; --d) {
    if (value % d == 0) return d;
  }
  return 1;
}

Status split_large(std::vector<Axis>* axes, size_t views) {
  std::vector<Axis> result;
  for (const Axis& axis : *axes) {
    std::vector<Axis> one = {axis};
    std::vector<Axis> parts;
    while (!one.empty() && one.back().size > kSizeMax) {
      const int64_t part = largest_divisor(one.back().size, kSizeMax);
      if (part == 1) {
        return unsupported("a size of {} has no divisor of at most {}", one.back().size, kSizeMax);
      }
      parts.push_back(*take(&one, part, views));
    }
    result.insert(result.end(), one.begin(), one.end());
    result.insert(result.end(), parts.rbegin(), parts.rend());
  }
  *axes = std::move(result);
  return ok();
}

}  // namespace

Result<Grid> arrange(std::vector<Axis> axes, Shape4 wanted, size_t views) {
  if (wanted.h <= kSizeMax && wanted.w <= kSizeMax) {
    std::vector<Axis> rest = axes;
    const auto w = take(&rest, wanted.w, views);
    const auto h = w ? take(&rest, wanted.h, views) : std::nullopt;
    if (h && rest.empty()) return Grid{*h, *w, {}};
  }
  THIMBLE_CHECK(split_large(&axes, views));
  Grid grid = {unit(views), unit(views), {}};
  if (axes.size() == 1) {
    int64_t w = axes[0].size;
    for (int64_t h = 1; h * h <= axes[0].size; ++h) {
      if (axes[0].size % h == 0) w = axes[0].size / h;
    }
    grid.w = *take(&axes, w, views);
    if (!axes.empty()) grid.h = axes[0];
    return grid;
  }
  // The two largest axes become height and width, in their order. The others become loops.
  while (axes.size() > 2) {
    const auto smallest = std::min_element(
        axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.size < b.size; });
    grid.loops.push_back(*smallest);
    axes.erase(smallest);
  }
  if (!axes.empty()) grid.w = axes.back();
  if (axes.size() == 2) grid.h = axes[0];
  int64_t count = 1;
  for (const Axis& axis : grid.loops) count *= axis.size;
  constexpr int64_t kLoopsMax = 1024;
  if (count > kLoopsMax) {
    return unsupported("it would be repeated {} times, the limit is {}", count, kLoopsMax);
  }
  return grid;
}

Result<Block3> arrange_depth(std::vector<Axis> axes, Shape4 wanted, size_t views) {
  const bool side_by_side = !axes.empty() && axes.back().steps[0] == 1 &&
                            (views < 2 || axes.back().steps[1] == 1) &&
                            (views < 3 || axes.back().steps[2] <= 1);
  if (!side_by_side) {
    THIMBLE_TRY(Grid rows, arrange(std::move(axes), {wanted.h * wanted.w, wanted.c, 1}, views));
    return Block3{rows, {1, std::vector<int64_t>(views, 1)}};
  }
  std::vector<Axis> rest = axes;
  if (wanted.c <= kSizeMax && wanted.c > 1) {
    if (const auto c = take(&rest, wanted.c, views)) {
      auto rows = arrange(rest, wanted, views);
      const bool natural =
          rows.ok() && rows->loops.empty() && rows->h.size == wanted.h && rows->w.size == wanted.w;
      if (natural) return Block3{*rows, *c};
    }
  }
  // A single long row is divided into rows of a depth that a block can have.
  constexpr int64_t kDepth = 128;
  if (axes.size() == 1 && axes[0].size > kDepth) {
    int64_t depth = largest_divisor(axes[0].size, kDepth);
    if (depth % 16 != 0) {
      for (int64_t d = kDepth; d >= 16; d -= 16) {
        if (axes[0].size % d == 0) depth = std::max(d, depth % 16 == 0 ? depth : 0);
      }
    }
    if (depth >= 8 || axes[0].size > kSizeMax) {
      const Axis c = *take(&axes, depth, views);
      THIMBLE_TRY(Grid rows, arrange(axes, {}, views));
      return Block3{rows, c};
    }
  }
  THIMBLE_CHECK(split_large(&axes, views));
  const Axis c = axes.back();
  axes.pop_back();
  THIMBLE_TRY(Grid rows, arrange(axes, wanted, views));
  return Block3{rows, c};
}

}  // namespace thimble::engine::ethos_u
