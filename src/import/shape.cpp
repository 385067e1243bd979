// SPDX-License-Identifier: Apache-2.0
// Reshapes: the logical order of elements does not change. The strides decide whether the result
// shares memory with its operand; in-place operators then write to both.

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::ValueId;

/// Replaces at most one size of -1, so that the product of the sizes equals `count`.
Result<ir::Shape> completed(Ints sizes, int64_t count) {
  const Ints given = sizes;
  int64_t* open = nullptr;
  int64_t known = 1;
  for (int64_t& size : sizes) {
    if (size == -1 && open == nullptr) {
      open = &size;
    } else if (size < 1 || known > ir::kMaxElements / size) {
      return bad_input("size {} for {} elements", ir::list_text(given), count);
    } else {
      known *= size;
    }
  }
  if (open != nullptr) *open = count / known;
  if (open == nullptr ? known != count : known * *open != count) {
    return bad_input("size {} for {} elements", ir::list_text(given), count);
  }
  return sizes;
}

Status always_view(Call& call, Ints sizes) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(auto shape, completed(std::move(sizes), ir::element_count(call.shape(x))));
  return call.view({reshape_step(std::move(shape))});
}

/// Imports a view if PyTorch can create one, else a copy.
Status view_or_copy(Call& call, Ints sizes) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const ir::Shape from = call.shape(x);
  THIMBLE_TRY(auto shape, completed(std::move(sizes), ir::element_count(from)));
  const auto* meta = call.meta("self");
  if (meta != nullptr) {
    const auto strides = call.symbols().values(meta->strides);
    const bool copies =
        strides.ok() && strides->size() == from.size() && !can_view(from, *strides, shape);
    if (!copies) return call.view({reshape_step(std::move(shape))});
  }
  return call.result(call.reshape(x, std::move(shape)));
}

}  // namespace

namespace handlers {

/// Supports strides that differ only in dimensions with one element. They do not change the tensor;
/// core ATen expresses a memory format this way.
Status as_strided(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const Ints size, call.integers("size"));
  THIMBLE_TRY(const Ints strides, call.integers("stride"));
  const ir::Shape shape = call.shape(x);
  const auto* meta = call.meta("self");
  if (meta == nullptr) return bad_input("argument self is not a tensor");
  THIMBLE_TRY(const Ints held, call.symbols().values(meta->strides));
  bool same = size == shape && strides.size() == shape.size() && held.size() == shape.size() &&
              !call.has("storage_offset");
  for (size_t i = 0; same && i < shape.size(); ++i) same = shape[i] == 1 || strides[i] == held[i];
  if (!same) return unsupported("the elements or their order differ from those of the operand");
  return call.view({});
}

Status view(Call& call) {
  THIMBLE_TRY(Ints sizes, call.integers("size"));
  return always_view(call, std::move(sizes));
}

Status reshape(Call& call) {
  THIMBLE_TRY(Ints sizes, call.integers(call.has("shape") ? "shape" : "size"));
  return view_or_copy(call, std::move(sizes));
}

Status reshape_as(Call& call) {
  THIMBLE_TRY(const ValueId other, call.any_tensor("other"));
  return view_or_copy(call, call.shape(other));
}

Status flatten(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const ir::Shape& shape = call.shape(x);
  THIMBLE_TRY(const int64_t first, call.dimension("start_dim", shape.size(), 0));
  THIMBLE_TRY(const int64_t last, call.dimension("end_dim", shape.size(), -1));
  if (shape.empty()) return view_or_copy(call, {1});
  if (first > last) return bad_input("start_dim {} is after end_dim {}", first, last);
  Ints sizes(shape.begin(), shape.begin() + first);
  int64_t block = 1;
  for (int64_t i = first; i <= last; ++i) block *= shape[static_cast<size_t>(i)];
  sizes.push_back(block);
  sizes.insert(sizes.end(), shape.begin() + last + 1, shape.end());
  return view_or_copy(call, std::move(sizes));
}

Status unflatten(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const ir::Shape& shape = call.shape(x);
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", shape.size()));
  THIMBLE_TRY(const Ints sizes, call.integers("sizes"));
  if (shape.empty()) return bad_input("the input is a scalar");
  THIMBLE_TRY(const Ints parts, completed(sizes, shape[static_cast<size_t>(dim)]));
  Ints result(shape.begin(), shape.begin() + dim);
  result.insert(result.end(), parts.begin(), parts.end());
  result.insert(result.end(), shape.begin() + dim + 1, shape.end());
  return always_view(call, std::move(result));
}

Status squeeze(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const ir::Shape& shape = call.shape(x);
  std::vector<bool> drops(shape.size(), !call.has("dim"));
  if (call.has("dim") && !shape.empty()) {
    THIMBLE_TRY(const Ints dims, call.dimensions("dim", shape.size()));
    for (const int64_t dim : dims) drops[static_cast<size_t>(dim)] = true;
  }
  ir::Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1 || !drops[i]) result.push_back(shape[i]);
  }
  return always_view(call, std::move(result));
}

Status unsqueeze(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", shape.size() + 1));
  shape.insert(shape.begin() + dim, 1);
  return always_view(call, std::move(shape));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
