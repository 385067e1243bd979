// SPDX-License-Identifier: Apache-2.0
#include "ir/views.h"

namespace thimble::ir {
namespace {

/// Returns the number of bytes of one step along `dim`, or 0 if another dimension with an extent
/// greater than 1 is further out in memory.
int64_t run_bytes(const Type& type, int64_t dim) {
  auto bytes = static_cast<int64_t>(dtype_bytes(type.dtype));
  bool inside = false;
  for (size_t i = 0; i < type.shape.size(); ++i) {
    const size_t at = type.dim_order.empty() ? i : type.dim_order[i];
    if (static_cast<int64_t>(at) == dim) {
      inside = true;
    } else if (inside) {
      bytes *= type.shape[at];
    } else if (type.shape[at] != 1) {
      return 0;
    }
  }
  return bytes;
}

}  // namespace

bool is_alias(const Graph& graph, const Op& op) {
  if (op.kind != OpKind::copy && op.kind != OpKind::reshape && op.kind != OpKind::permute)
    return false;
  const Type& x = graph.type(op.inputs[0]);
  const Type& y = graph.type(op.output);
  if (op.kind == OpKind::copy && op.get(attr::own) != 0) return false;
  if (op.kind == OpKind::copy) return same_memory(x.shape, x.dim_order, y.dim_order);
  if (op.kind == OpKind::reshape) {
    return same_memory(x.shape, x.dim_order, {}) && same_memory(y.shape, y.dim_order, {});
  }
  // permute: dimension k of y is dimension dims[k] of x. The loop expresses y's memory order in the
  // dimensions of x.
  const auto& dims = op.get(attr::dims);
  DimOrder order;
  for (size_t k = 0; k < dims.size(); ++k) {
    const size_t y_dim = y.dim_order.empty() ? k : y.dim_order[k];
    order.push_back(static_cast<uint8_t>(dims[y_dim]));
  }
  return same_memory(x.shape, x.dim_order, order);
}

std::optional<View> view_of(const Graph& graph, const Op& op) {
  const bool slice = op.kind == OpKind::slice;
  if (!slice && op.kind != OpKind::concat) return {};
  const Type& result = graph.type(op.output);
  const int64_t dim = op.get(attr::dim);
  if (slice && op.get(attr::step) != 1) return {};
  View view;
  int64_t at = slice ? -op.get(attr::start) * run_bytes(graph.type(op.inputs[0]), dim) : 0;
  for (const ValueId input : op.inputs) {
    const Type& type = graph.type(input);
    const int64_t run = run_bytes(type, dim);
    if (run == 0 || type.dtype != result.dtype) return {};
    if (!same_memory(type.shape, type.dim_order, result.dim_order)) return {};
    view.at.push_back(at);
    at += run * type.shape[static_cast<size_t>(dim)];
  }
  return view;
}

}  // namespace thimble::ir
