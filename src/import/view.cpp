// SPDX-License-Identifier: Apache-2.0
#include "import/view.h"

#include <algorithm>
#include <variant>

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;
using Ints = std::vector<int64_t>;

Ints inverse(const Ints& dims) {
  Ints result(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    result[static_cast<size_t>(dims[i])] = static_cast<int64_t>(i);
  }
  return result;
}

struct Writer {
  Builder& builder;
  const ir::Source& source;
  const std::string& name;

  Result<ValueId> add(OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs) {
    return builder.add(kind, std::move(inputs), std::move(attrs), source, name);
  }

  Result<ValueId> slice(ValueId x, int64_t dim, int64_t start, int64_t end) {
    return add(OpKind::slice, {x}, slice_step(dim, start, end).attrs);
  }
  Result<ValueId> reshape(ValueId x, ir::Shape shape) {
    return add(OpKind::reshape, {x}, reshape_step(std::move(shape)).attrs);
  }

  /// Returns `base` with the slice replaced by `value`.
  Result<ValueId> replace_slice(const Step& step, ValueId base, ValueId value) {
    const int64_t dim = *step.attrs.find(ir::attr::dim);
    const int64_t start = *step.attrs.find(ir::attr::start);
    const int64_t stride = *step.attrs.find(ir::attr::step);
    if (stride != 1) return replace_every(dim, start, stride, base, value);
    return replace_range(dim, start, *step.attrs.find(ir::attr::end), base, value);
  }

  /// Replaces the elements start, start + stride, ... of a dimension. A range in which each group
  /// of `stride` elements has one of them becomes two dimensions [groups, stride], of which one
  /// index is replaced. If no range has all of them, the last one is replaced alone.
  Result<ValueId> replace_every(int64_t dim, int64_t start, int64_t stride, ValueId base,
                                ValueId value) {
    const auto axis = static_cast<size_t>(dim);
    const int64_t count = builder.shape(value)[axis];
    const int64_t last = start + (count - 1) * stride;
    const int64_t fitting = std::min(start, builder.shape(base)[axis] - count * stride);
    const int64_t first = fitting >= 0 ? fitting : start;
    const int64_t groups = fitting >= 0 ? count : count - 1;
    if (groups > 0) {
      THIMBLE_TRY(const ValueId range, slice(base, dim, first, first + groups * stride));
      ir::Shape shape = builder.shape(range);
      shape[axis] = stride;
      shape.insert(shape.begin() + dim, groups);
      THIMBLE_TRY(ValueId split, reshape(range, shape));
      shape[axis + 1] = 1;
      THIMBLE_TRY(const ValueId grouped, slice(value, dim, 0, groups));
      THIMBLE_TRY(const ValueId column, reshape(grouped, shape));
      const int64_t at = start - first;
      THIMBLE_TRY(split, replace_range(dim + 1, at, at + 1, split, column));
      THIMBLE_TRY(const ValueId joined, reshape(split, builder.shape(range)));
      THIMBLE_TRY(base, replace_range(dim, first, first + groups * stride, base, joined));
    }
    if (groups == count) return base;
    THIMBLE_TRY(const ValueId rest, slice(value, dim, count - 1, count));
    return replace_range(dim, last, last + 1, base, rest);
  }

  Result<ValueId> replace_range(int64_t dim, int64_t start, int64_t end, ValueId base,
                                ValueId value) {
    const int64_t size = builder.shape(base)[static_cast<size_t>(dim)];
    std::vector<ValueId> parts;
    if (start > 0) {
      THIMBLE_TRY(const ValueId part, slice(base, dim, 0, start));
      parts.push_back(part);
    }
    parts.push_back(value);
    if (end < size) {
      THIMBLE_TRY(const ValueId part, slice(base, dim, end, size));
      parts.push_back(part);
    }
    if (parts.size() == 1) return value;
    return add(OpKind::concat, std::move(parts), {{ir::attr::dim, dim}});
  }

  Result<ValueId> undo(const Step& step, ValueId base, ValueId value) {
    switch (step.kind) {
      case OpKind::reshape:
        return reshape(value, builder.shape(base));
      case OpKind::permute:
        return add(OpKind::permute, {value},
                   {{ir::attr::dims, inverse(*step.attrs.find(ir::attr::dims))}});
      case OpKind::slice:
        return replace_slice(step, base, value);
      default:
        if (builder.shape(base) == builder.shape(value)) return value;
        return unsupported("writes through an expanded tensor: clone it first");
    }
  }
};

}  // namespace

Step reshape_step(ir::Shape shape) {
  return {OpKind::reshape, {{ir::attr::shape, std::move(shape)}}};
}
Step permute_step(Ints dims) {
  return {OpKind::permute, {{ir::attr::dims, std::move(dims)}}};
}
Step expand_step(ir::Shape shape) {
  return {OpKind::expand, {{ir::attr::shape, std::move(shape)}}};
}
Step slice_step(int64_t dim, int64_t start, int64_t end, int64_t step) {
  return {OpKind::slice,
          {{ir::attr::dim, dim},
           {ir::attr::start, start},
           {ir::attr::end, end},
           {ir::attr::step, step}}};
}

Result<ValueId> apply(Builder& builder, const View& view, ValueId base, const ir::Source& source,
                      const std::string& name) {
  for (const Step& step : view) {
    THIMBLE_TRY(base, builder.add(step.kind, {base}, step.attrs, source, name));
  }
  return base;
}

Result<ValueId> write_through(Builder& builder, const View& view, ValueId base, ValueId value,
                              const ir::Source& source, const std::string& name) {
  std::vector<ValueId> seen = {base};  // seen[i]: the base after the first i steps
  for (const Step& step : view) {
    THIMBLE_TRY(const ValueId next,
                builder.add(step.kind, {seen.back()}, step.attrs, source, name));
    seen.push_back(next);
  }
  Writer writer{builder, source, name};
  for (size_t i = view.size(); i-- > 0;) {
    THIMBLE_TRY(value, writer.undo(view[i], seen[i], value));
  }
  return value;
}

// Dimensions that are contiguous in memory form blocks. The new dimensions, from last to first,
// must fill each block exactly.
bool can_view(const Ints& sizes, const Ints& strides, const Ints& to) {
  size_t next = to.size();
  int64_t block = 1;
  int64_t step = strides.empty() ? 1 : strides.back();  // stride of the block's last dimension
  for (size_t i = sizes.size(); i-- > 0;) {
    block *= sizes[i];
    const bool ends = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != block * step);
    if (!ends) continue;
    int64_t filled = 1;
    while (next > 0 && (filled < block || to[next - 1] == 1)) filled *= to[--next];
    if (filled != block) return false;
    block = 1;
    if (i > 0) step = strides[i - 1];
  }
  return next == 0;
}

}  // namespace thimble::import_pt2
