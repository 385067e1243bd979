// SPDX-License-Identifier: Apache-2.0
#include "passes/channel_affine.h"

#include <algorithm>

namespace thimble::passes {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

std::optional<std::vector<double>> by_channel(const ir::Value& value, const ir::Shape& result,
                                              size_t dim) {
  if (value.constant == nullptr || value.type.shape.size() > result.size()) return std::nullopt;
  const size_t channels = static_cast<size_t>(result[dim]);
  const size_t missing = result.size() - value.type.shape.size();
  for (size_t i = 0; i < value.type.shape.size(); ++i) {
    const int64_t size = value.type.shape[i];
    if (size != 1 && (missing + i != dim || size != result[dim])) return std::nullopt;
  }
  const auto data = value.constant->data<float>();
  std::vector<double> numbers(channels);
  for (size_t c = 0; c < channels; ++c) {
    numbers[c] = static_cast<double>(data[data.size() == 1 ? 0 : c]);
  }
  return numbers;
}

bool append(const Graph& graph, const Op& op, ValueId x, size_t dim, ChannelAffine& affine) {
  const ir::Shape& shape = graph.type(x).shape;
  const size_t channels = affine.scale.size();
  if (op.kind == OpKind::batch_norm) {
    if (dim != 1 || op.inputs[0] != x) return false;
    const auto scale = by_channel(graph.value(op.inputs[1]), {shape[1]}, 0);
    const auto shift = by_channel(graph.value(op.inputs[2]), {shape[1]}, 0);
    if (!scale || !shift) return false;
    for (size_t c = 0; c < channels; ++c) affine.then((*scale)[c], (*shift)[c], c);
    return true;
  }
  const bool first = op.inputs[0] == x;
  if (op.kind == OpKind::div && !first) return false;
  if (op.kind != OpKind::mul && op.kind != OpKind::add && op.kind != OpKind::sub &&
      op.kind != OpKind::div) {
    return false;
  }
  const auto constant = by_channel(graph.value(op.inputs[first ? 1 : 0]), shape, dim);
  if (!constant) return false;
  if (op.kind == OpKind::div && std::ranges::find(*constant, 0.0) != constant->end()) return false;
  for (size_t c = 0; c < channels; ++c) {
    const double number = (*constant)[c];
    if (op.kind == OpKind::mul) affine.then(number, 0, c);
    if (op.kind == OpKind::div) affine.then(1 / number, 0, c);
    if (op.kind == OpKind::add) affine.then(1, number, c);
    if (op.kind == OpKind::sub && first) affine.then(1, -number, c);
    if (op.kind == OpKind::sub && !first) affine.then(-1, number, c);
  }
  return true;
}

}  // namespace thimble::passes
