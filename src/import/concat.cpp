// SPDX-License-Identifier: Apache-2.0
// Concatenation.

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

Status joined(Call& call, std::vector<ValueId> parts, int64_t dim) {
  if (parts.size() == 1) return call.result(parts[0]);
  return call.result(call.add(OpKind::concat, std::move(parts), {{ir::attr::dim, dim}}));
}

/// Extends each part to `rank` with leading dimensions of size 1, then concatenates the parts.
Status joined_with_rank(Call& call, size_t rank, int64_t dim) {
  THIMBLE_TRY(auto parts, call.tensors("tensors"));
  if (parts.empty()) return bad_input("no tensors");
  for (ValueId& part : parts) {
    ir::Shape shape = call.shape(part);
    if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
    THIMBLE_TRY(part, call.reshape(part, shape));
  }
  return joined(call, std::move(parts), dim);
}

}  // namespace

namespace handlers {

Status vstack(Call& call) {
  return joined_with_rank(call, 2, 0);
}

/// Concatenates vectors along dimension 0 and other tensors along dimension 1.
Status hstack(Call& call) {
  THIMBLE_TRY(const auto parts, call.tensors("tensors"));
  const bool vectors = !parts.empty() && call.shape(parts[0]).size() < 2;
  return joined_with_rank(call, 1, vectors ? 0 : 1);
}

Status column_stack(Call& call) {
  THIMBLE_TRY(auto parts, call.tensors("tensors"));
  if (parts.empty()) return bad_input("no tensors");
  for (ValueId& part : parts) {
    const ir::Shape shape = call.shape(part);
    if (shape.size() < 2) {
      THIMBLE_TRY(part, call.reshape(part, {ir::element_count(shape), 1}));
    }
  }
  return joined(call, std::move(parts), 1);
}

Status cat(Call& call) {
  THIMBLE_TRY(auto parts, call.tensors("tensors"));
  if (parts.empty()) return bad_input("no tensors");
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(parts[0]).size(), 0));
  return joined(call, std::move(parts), dim);
}

Status stack(Call& call) {
  THIMBLE_TRY(auto parts, call.tensors("tensors"));
  if (parts.empty()) return bad_input("no tensors");
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(parts[0]).size() + 1, 0));
  for (ValueId& part : parts) {
    ir::Shape shape = call.shape(part);
    if (static_cast<size_t>(dim) > shape.size()) return bad_input("tensors of different rank");
    shape.insert(shape.begin() + dim, 1);
    THIMBLE_TRY(part, call.reshape(part, shape));
  }
  return joined(call, std::move(parts), dim);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
