// SPDX-License-Identifier: Apache-2.0
// Arithmetic between parts of one tensor, and between all pairs of elements of two tensors.

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

Result<ValueId> part(Call& call, ValueId x, int64_t dim, int64_t start, int64_t end) {
  return call.apply({slice_step(dim, start, end)}, x);
}

/// Concatenates `prepend`, x and `append`. The first and the last are optional.
Result<ValueId> with_prepend_append(Call& call, ValueId x, int64_t dim) {
  std::vector<ValueId> parts;
  THIMBLE_TRY(const ValueId before, call.optional_tensor("prepend"));
  THIMBLE_TRY(const ValueId after, call.optional_tensor("append"));
  for (const ValueId each : {before, x, after}) {
    if (each != ir::kNoValue) parts.push_back(each);
  }
  if (parts.size() == 1) return x;
  return call.add(OpKind::concat, std::move(parts), {{ir::attr::dim, dim}});
}

/// Returns the product along a dimension with few elements, by repeatedly multiplying two halves.
Result<ValueId> product(Call& call, ValueId x, int64_t dim) {
  constexpr int64_t kFactorsMax = 256;
  int64_t size = call.shape(x)[static_cast<size_t>(dim)];
  if (size > kFactorsMax) return unsupported("a product of {} elements", size);
  while (size > 1) {
    const int64_t half = size / 2;
    THIMBLE_TRY(const ValueId first, part(call, x, dim, 0, half));
    THIMBLE_TRY(const ValueId second, part(call, x, dim, half, 2 * half));
    THIMBLE_TRY(ValueId next, call.add(OpKind::mul, {first, second}));
    if (size % 2 != 0) {
      THIMBLE_TRY(const ValueId rest, part(call, x, dim, 2 * half, size));
      THIMBLE_TRY(next, call.add(OpKind::concat, {next, rest}, {{ir::attr::dim, dim}}));
    }
    x = next;
    size = half + size % 2;
  }
  return x;
}

}  // namespace

namespace handlers {

/// Multiplies each element of one vector by each element of the other.
Status outer(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const ValueId y, call.tensor("vec2"));
  THIMBLE_TRY(const ValueId column, call.reshape(x, {ir::element_count(call.shape(x)), 1}));
  return call.result(call.add(OpKind::mul, {column, y}));
}

Status prod(Call& call) {
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  ir::Shape shape = call.shape(x);
  if (shape.empty()) return call.result(x);
  int64_t dim = 0;
  if (call.has("dim")) {
    THIMBLE_TRY(dim, call.dimension("dim", shape.size()));
  } else {
    THIMBLE_TRY(x, call.reshape(x, {ir::element_count(shape)}));
    shape = {1};
  }
  THIMBLE_TRY(const bool keeps_dims, call.boolean("keepdim", false));
  THIMBLE_TRY(x, product(call, x, dim));
  shape[static_cast<size_t>(dim)] = 1;
  if (!keeps_dims) shape.erase(shape.begin() + dim);
  return call.result(call.reshape(x, shape));
}

Status diff(Call& call) {
  THIMBLE_TRY(ValueId x, call.tensor("self"));
  THIMBLE_TRY(const int64_t n, call.integer("n", 1));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size(), -1));
  if (call.shape(x).empty()) return bad_input("the input is a scalar");
  THIMBLE_TRY(x, with_prepend_append(call, x, dim));
  const int64_t size = call.shape(x)[static_cast<size_t>(dim)];
  if (n < 0) return bad_input("argument n is {}", n);
  if (n >= size) return unsupported("the result is empty");
  for (int64_t left = size - 1; left >= size - n; --left) {
    THIMBLE_TRY(const ValueId later, part(call, x, dim, 1, left + 1));
    THIMBLE_TRY(const ValueId earlier, part(call, x, dim, 0, left));
    THIMBLE_TRY(x, call.add(OpKind::sub, {later, earlier}));
  }
  return call.result(x);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
