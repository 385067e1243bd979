// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_input_scale.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "passes/channel_affine.h"
#include "passes/fuse_each.h"
#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::Tensor;
using ir::ValueId;

struct InputScale {
  ValueId x;         // before the first operator
  const Op* conv2d;  // the last operator
  ChannelAffine affine;
  std::vector<ValueId> fused;
};

bool all_are_equal(const std::vector<double>& values, double wanted) {
  return std::ranges::all_of(values, [=](double value) { return value == wanted; });
}

/// Returns the operand that the application gives; nothing for other operators.
std::optional<ValueId> given_operand(const Graph& graph, const Uses& uses, const Op& op) {
  for (const ValueId id : op.inputs) {
    if (id == ir::kNoValue || graph.value(id).constant != nullptr) continue;
    const Op* producer = uses.producer(id);
    if (graph.is_input(id) || (producer != nullptr && producer->kind == OpKind::unpack)) return id;
  }
  return std::nullopt;
}

bool can_fold_into(const Graph& graph, const Op& op, ValueId x, const ChannelAffine& affine) {
  if (op.kind != OpKind::conv2d || op.inputs[0] != x) return false;
  for (const ValueId id : {op.inputs[1], op.inputs[2]}) {
    if (id != ir::kNoValue && graph.value(id).constant == nullptr) return false;
  }
  const bool uniform =
      all_are_equal(affine.scale, affine.scale[0]) && all_are_equal(affine.shift, affine.shift[0]);
  const auto padding = op.get(ir::attr::padding);
  const bool pads = std::ranges::any_of(padding, [](int64_t size) { return size != 0; });
  return !uniform && (!pads || all_are_equal(affine.shift, 0));
}

std::optional<InputScale> match_input_scale(const Graph& graph, const Uses& uses, const Op& first) {
  const auto x = given_operand(graph, uses, first);
  if (!x || graph.type(*x).shape.size() != 4 || graph.type(*x).dtype != ir::DType::kF32) {
    return std::nullopt;
  }
  InputScale pattern{*x, nullptr, ChannelAffine(static_cast<size_t>(graph.type(*x).shape[1])), {}};
  ValueId value = *x;
  for (const Op* op = &first; op != nullptr; op = uses.only_reader(value)) {
    if (op != &first) pattern.fused.push_back(op->output);
    if (op != &first && can_fold_into(graph, *op, value, pattern.affine)) {
      pattern.conv2d = op;
      return pattern;
    }
    if (graph.type(op->output).shape != graph.type(*x).shape ||
        !append(graph, *op, value, 1, pattern.affine)) {
      return std::nullopt;
    }
    value = op->output;
  }
  return std::nullopt;
}

Status emit_conv2d(ir::Rewriter& rewriter, const InputScale& pattern) {
  const Graph& graph = rewriter.from();
  const Op& conv = *pattern.conv2d;
  const ir::Value& result = graph.value(conv.output);
  const ir::Value& old_weights = graph.value(conv.inputs[1]);
  Tensor weights = *old_weights.constant;
  const auto outputs = static_cast<size_t>(weights.shape[0]);
  const auto inputs = static_cast<size_t>(weights.shape[1]);  // of one group
  const auto taps = static_cast<size_t>(weights.shape[2] * weights.shape[3]);
  const size_t outputs_of_group = outputs / static_cast<size_t>(conv.get(ir::attr::groups));
  Tensor bias = ir::zeros(ir::DType::kF32, {weights.shape[0]});
  const auto w = weights.data<float>();
  for (size_t o = 0; o < outputs; ++o) {
    double sum = 0;
    if (conv.inputs[2] != ir::kNoValue) {
      sum = static_cast<double>(graph.value(conv.inputs[2]).constant->data<float>()[o]);
    }
    for (size_t i = 0; i < inputs * taps; ++i) {
      const size_t c = o / outputs_of_group * inputs + i / taps;
      float& weight = w[o * inputs * taps + i];
      sum += static_cast<double>(weight) * pattern.affine.shift[c];
      weight = static_cast<float>(static_cast<double>(weight) * pattern.affine.scale[c]);
    }
    bias.data<float>()[o] = static_cast<float>(sum);
  }
  Graph& to = rewriter.to();
  const ValueId w_id =
      to.add_constant(old_weights.name, std::make_shared<const Tensor>(std::move(weights)));
  const ValueId b_id =
      to.add_constant(result.name + "_bias", std::make_shared<const Tensor>(std::move(bias)));
  THIMBLE_TRY(const ValueId id,
              to.add(OpKind::conv2d, {rewriter.map(pattern.x), w_id, b_id}, conv.attrs, conv.source,
                     {result.name, result.type.dim_order, {}}));
  rewriter.set(conv.output, id);
  return ok();
}

}  // namespace

Result<Graph> fold_input_scale(const Graph& graph) {
  const Uses uses(graph);
  return fuse_each(
      graph,
      [&](const Op& op) -> Result<std::optional<InputScale>> {
        return match_input_scale(graph, uses, op);
      },
      [](ir::Rewriter& rewriter, const Op&, const InputScale& pattern) {
        return emit_conv2d(rewriter, pattern);
      });
}

}  // namespace thimble::passes
