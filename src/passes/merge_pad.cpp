// SPDX-License-Identifier: Apache-2.0
#include "passes/merge_pad.h"

#include <algorithm>

#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Op;
using ir::OpKind;

constexpr int64_t kPaddingMax = 65535;  // upper bound of the conv2d type rule

bool only_zeros_around_the_plane(const ir::Graph& graph, const Op& op) {
  if (graph.type(op.output).shape.size() != 4 || op.get(ir::attr::value) != 0) return false;
  const auto& before = op.get(ir::attr::before);
  const auto& after = op.get(ir::attr::after);
  return before[0] == 0 && before[1] == 0 && after[0] == 0 && after[1] == 0;
}

/// Returns top, left, bottom, right padding of the convolution plus that of `pad`.
std::vector<int64_t> joint_padding(const Op& pad, const Op& conv) {
  const auto& before = pad.get(ir::attr::before);
  const auto& after = pad.get(ir::attr::after);
  auto padding = conv.get(ir::attr::padding);
  padding[0] += before[2];
  padding[1] += before[3];
  padding[2] += after[2];
  padding[3] += after[3];
  return padding;
}

bool merges(const ir::Graph& graph, const Uses& uses, const Op& pad) {
  if (pad.kind != OpKind::pad || uses.is_output(pad.output)) return false;
  if (!only_zeros_around_the_plane(graph, pad)) return false;
  const auto& readers = uses.readers(pad.output);
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](int reader) {
    const Op& conv = graph.ops()[static_cast<size_t>(reader)];
    if (conv.kind != OpKind::conv2d || conv.inputs[0] != pad.output) return false;
    const auto padding = joint_padding(pad, conv);
    return *std::max_element(padding.begin(), padding.end()) <= kPaddingMax;
  });
}

}  // namespace

Result<ir::Graph> merge_pad(const ir::Graph& graph) {
  const Uses uses(graph);
  ir::Rewriter rewriter(graph);
  std::vector<const Op*> merged(graph.value_count(), nullptr);  // by the pad's result
  for (const Op& op : graph.ops()) {
    if (merges(graph, uses, op)) {
      merged[static_cast<size_t>(op.output)] = &op;
      continue;
    }
    const Op* pad = op.kind == OpKind::conv2d ? merged[static_cast<size_t>(op.inputs[0])] : nullptr;
    if (pad == nullptr) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    auto inputs = op.inputs;
    inputs[0] = pad->inputs[0];
    ir::Attrs attrs = op.attrs;
    attrs.set(ir::attr::padding, joint_padding(*pad, op));
    const ir::Value& old = graph.value(op.output);
    THIMBLE_TRY(const ir::ValueId id,
                rewriter.to().add(op.kind, rewriter.map(inputs), attrs, op.source,
                                  {old.name, old.type.dim_order, {}}));
    rewriter.set(op.output, id);
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
