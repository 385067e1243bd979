// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor, as views that consist of slices.

#include <algorithm>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::ValueId;

/// A dimension of `self` and its size.
struct Axis {
  ir::Shape shape;
  int64_t dim = 0;
  int64_t size = 0;
};

Result<Axis> read_axis(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  Axis axis{call.shape(x), 0, 0};
  THIMBLE_TRY(axis.dim, call.dimension("dim", axis.shape.size(), 0));
  if (axis.shape.empty()) return bad_input("the input is a scalar");
  axis.size = axis.shape[static_cast<size_t>(axis.dim)];
  return axis;
}

/// Applies Python's rule: a negative index counts from the end; the result is clamped.
int64_t bounded(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size);
}

Result<Step> read_slice(Call& call, const Axis& axis) {
  THIMBLE_TRY(const int64_t first, call.any_integer("start", 0));
  THIMBLE_TRY(const int64_t last, call.any_integer("end", axis.size));
  THIMBLE_TRY(const int64_t step, call.integer("step", 1));
  const int64_t start = bounded(first, axis.size);
  const int64_t end = bounded(last, axis.size);
  if (step < 1) return bad_input("argument step is {}, expected 1 or more", step);
  if (start >= end) return unsupported("the result is empty");
  return slice_step(axis.dim, start, end, step);
}

/// Returns a slice of one element and a reshape that removes its dimension.
Result<View> read_select(Call& call, const Axis& axis) {
  THIMBLE_TRY(const int64_t given, call.integer("index"));
  const int64_t index = given < 0 ? given + axis.size : given;
  if (index < 0 || index >= axis.size) {
    return bad_input("argument index is {}, the dimension has {} elements", given, axis.size);
  }
  ir::Shape shape = axis.shape;
  shape.erase(shape.begin() + axis.dim);
  return View{slice_step(axis.dim, index, index + 1), reshape_step(std::move(shape))};
}

Status split_at(Call& call, const Axis& axis, const Ints& sizes) {
  std::vector<View> views;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    if (size < 1 || size > axis.size - start) {
      return bad_input("part sizes {} do not match {} elements", ir::list_text(sizes), axis.size);
    }
    views.push_back({slice_step(axis.dim, start, start + size)});
    start += size;
  }
  if (start != axis.size)
    return bad_input("part sizes {} do not match {} elements", ir::list_text(sizes), axis.size);
  return call.views(std::move(views));
}

Status split_evenly(Call& call, const Axis& axis, int64_t size) {
  Ints sizes;
  for (int64_t start = 0; start < axis.size; start += size) {
    sizes.push_back(std::min(size, axis.size - start));
  }
  return split_at(call, axis, sizes);
}

Status scattered(Call& call, const View& view) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const ValueId part, call.any_tensor("src"));
  return call.result(call.write_through(view, x, part));
}

}  // namespace

namespace handlers {

Status slice(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(Step step, read_slice(call, axis));
  return call.view({std::move(step)});
}

Status slice_copy(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(Step step, read_slice(call, axis));
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  return call.result(call.apply({std::move(step)}, x));
}

Status narrow(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(const int64_t given, call.integer("start"));
  THIMBLE_TRY(const int64_t length, call.integer("length"));
  const int64_t start = given < 0 ? given + axis.size : given;
  if (start < 0 || start > axis.size || length < 1 || length > axis.size - start) {
    return bad_input("{} elements from {} of {}", length, given, axis.size);
  }
  return call.view({slice_step(axis.dim, start, start + length)});
}

Status select(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(View view, read_select(call, axis));
  return call.view(std::move(view));
}

Status slice_scatter(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(Step step, read_slice(call, axis));
  return scattered(call, {std::move(step)});
}

Status select_scatter(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(const View view, read_select(call, axis));
  return scattered(call, view);
}

Status split(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(const int64_t size, call.integer("split_size"));
  if (size < 1) return bad_input("argument split_size is {}", size);
  return split_evenly(call, axis, size);
}

Status split_with_sizes(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(const Ints sizes,
              call.integers(call.has("split_sizes") ? "split_sizes" : "split_size"));
  return split_at(call, axis, sizes);
}

Status chunk(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  THIMBLE_TRY(const int64_t chunks, call.integer("chunks"));
  if (chunks < 1) return bad_input("argument chunks is {}", chunks);
  return split_evenly(call, axis, (axis.size - 1) / chunks + 1);
}

/// Splits into a number of parts, of which the first are longer by one, or at the given positions.
Status tensor_split(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  Ints sizes;
  if (call.has("sections")) {
    THIMBLE_TRY(const int64_t sections, call.integer("sections"));
    if (sections < 1) return bad_input("argument sections is {}", sections);
    if (sections > axis.size) return unsupported("a part is empty");
    for (int64_t i = 0; i < sections; ++i) {
      sizes.push_back(axis.size / sections + (i < axis.size % sections ? 1 : 0));
    }
    return split_at(call, axis, sizes);
  }
  THIMBLE_TRY(Ints ends, call.integers("indices"));
  ends.push_back(axis.size);
  int64_t start = 0;
  for (const int64_t end : ends) {
    const int64_t stop = bounded(end, axis.size);
    if (stop <= start) return unsupported("a part is empty");
    sizes.push_back(stop - start);
    start = stop;
  }
  return split_at(call, axis, sizes);
}

Status unbind(Call& call) {
  THIMBLE_TRY(const Axis axis, read_axis(call));
  ir::Shape shape = axis.shape;
  shape.erase(shape.begin() + axis.dim);
  std::vector<View> views;
  for (int64_t i = 0; i < axis.size; ++i) {
    views.push_back({slice_step(axis.dim, i, i + 1), reshape_step(shape)});
  }
  return call.views(std::move(views));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
