#include "engine/views.h"

namespace thimble::engine {
namespace {

/// Returns the number of bytes of one step along `dim`, or 0 if another dimension with an extent
/// greater than 1 is further out in memory.
int64_t run_bytes(const ir::Type& type, int64_t dim) {
  auto bytes = static_cast<int64_t>(ir::dtype_bytes(type.dtype));
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

std::optional<View> view_of(const ir::Graph& graph, const ir::Op& op) {
  const bool slice = op.kind == ir::OpKind::slice;
  if (!slice && op.kind != ir::OpKind::concat) return {};
  const ir::Type& result = graph.type(op.output);
  const int64_t dim = op.get(ir::attr::dim);
  if (slice && op.get(ir::attr::step) != 1) return {};
  View view;
  int64_t at = slice ? -op.get(ir::attr::start) * run_bytes(graph.type(op.inputs[0]), dim) : 0;
  for (const ir::ValueId input : op.inputs) {
    const ir::Type& type = graph.type(input);
    const int64_t run = run_bytes(type, dim);
    if (run == 0 || type.dtype != result.dtype) return {};
    if (!ir::same_memory(type.shape, type.dim_order, result.dim_order)) return {};
    view.at.push_back(at);
    at += run * type.shape[static_cast<size_t>(dim)];
  }
  return view;
}

}  // namespace thimble::engine
