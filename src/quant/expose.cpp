// SPDX-License-Identifier: Apache-2.0
#include "quant/expose.h"

#include <cassert>

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;

bool are_faces(const Op& a, const Op& b) {
  return a.kind == OpKind::lstm && b.kind == OpKind::lstm && a.inputs == b.inputs &&
         a.get(ir::attr::reverse) == b.get(ir::attr::reverse) &&
         a.get(ir::attr::cell) != b.get(ir::attr::cell);
}

bool has_other_face(const Graph& graph, const Op& lstm) {
  for (const Op& op : graph.ops()) {
    if (are_faces(op, lstm)) return true;
  }
  return false;
}

}  // namespace

Result<Graph> expose_hidden_ranges(const Graph& graph) {
  ir::Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    THIMBLE_CHECK(rewriter.copy(op));
    if (op.kind != OpKind::lstm || has_other_face(graph, op)) continue;
    ir::Attrs attrs = op.attrs;
    attrs.set(ir::attr::cell, int64_t{1 - op.get(ir::attr::cell)});
    Graph::ResultHint hint;
    hint.name = graph.value(op.output).name + "_observed";
    THIMBLE_TRY(const ir::ValueId added,
                rewriter.to().add(op.kind, rewriter.map(op.inputs), attrs, op.source, hint));
    (void)added;
  }
  return rewriter.finish();
}

size_t other_lstm_result(const Graph& graph, const Op& lstm) {
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    if (are_faces(graph.ops()[i], lstm)) return i;
  }
  assert(false && "expose_hidden_ranges() was not called");
  return 0;
}

}  // namespace thimble::quant
