#include "import/view.h"

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

  /// Returns `base` with the slice replaced by `value`.
  Result<ValueId> replace_slice(const Step& step, ValueId base, ValueId value) {
    if (*step.attrs.find(ir::attr::step) != 1)
      return unsupported("writes through a slice with a step");
    const int64_t dim = *step.attrs.find(ir::attr::dim);
    const int64_t start = *step.attrs.find(ir::attr::start);
    const int64_t end = *step.attrs.find(ir::attr::end);
    const int64_t size = builder.shape(base)[static_cast<size_t>(dim)];
    std::vector<ValueId> parts;
    if (start > 0) {
      const Step before = slice_step(dim, 0, start);
      THIMBLE_TRY(const ValueId part, add(before.kind, {base}, before.attrs));
      parts.push_back(part);
    }
    parts.push_back(value);
    if (end < size) {
      const Step after = slice_step(dim, end, size);
      THIMBLE_TRY(const ValueId part, add(after.kind, {base}, after.attrs));
      parts.push_back(part);
    }
    if (parts.size() == 1) return value;
    return add(OpKind::concat, std::move(parts), {{ir::attr::dim, dim}});
  }

  Result<ValueId> undo(const Step& step, ValueId base, ValueId value) {
    switch (step.kind) {
      case OpKind::reshape:
        return add(OpKind::reshape, {value}, {{ir::attr::shape, builder.shape(base)}});
      case OpKind::permute:
        return add(OpKind::permute, {value},
                   {{ir::attr::dims, inverse(*step.attrs.find(ir::attr::dims))}});
      case OpKind::slice:
        return replace_slice(step, base, value);
      default:
        if (builder.shape(base) == builder.shape(value)) return value;
        return unsupported("writes through an expanded tensor");
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
