// SPDX-License-Identifier: Apache-2.0
#include "quant/fused_activation.h"

#include "passes/uses.h"

namespace thimble::quant {
namespace {

using ir::Op;
using ir::OpKind;

/// Range in which the function is not flat. sigmoid(6) differs from 1 by 0.63 of a step of 1/256;
/// tanh(3) by 0.63 of a step of 1/128.
std::optional<Range> sensitive_range(OpKind kind) {
  if (kind == OpKind::sigmoid) return Range{-6, 6};
  if (kind == OpKind::tanh) return Range{-3, 3};
  return std::nullopt;
}

bool is_weighted(OpKind kind) {
  return kind == OpKind::linear || kind == OpKind::conv2d || kind == OpKind::conv_transpose2d;
}

bool moves_only(OpKind kind) {
  return kind == OpKind::reshape || kind == OpKind::permute;
}

/// Returns the operand of `activation` if a weighted operator produces it for this activation only
/// and PyTorch quantized no value in between. Reshape and permute may be in between.
std::optional<ir::ValueId> unpinned_operand(const Op& activation, const passes::Uses& uses,
                                            const Pins& pins) {
  ir::ValueId id = activation.inputs[0];
  while (true) {
    const Op* const producer = uses.producer(id);
    if (producer == nullptr || pins.find(id) != nullptr) return std::nullopt;
    if (uses.only_reader(id) == nullptr) return std::nullopt;
    if (is_weighted(producer->kind)) return id;
    if (!moves_only(producer->kind)) return std::nullopt;
    id = producer->inputs[0];
  }
}

/// A product with a positive constant number.
struct Multiple {
  ir::ValueId operand = ir::kNoValue;
  double factor = 0;
};
std::optional<Multiple> multiple_of(const ir::Graph& graph, const Op& op) {
  if (op.kind != OpKind::mul) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const ir::TensorPtr& constant = graph.value(op.inputs[i]).constant;
    if (constant == nullptr || constant->dtype != ir::DType::kF32) continue;
    if (ir::element_count(constant->shape) != 1) continue;
    const double factor = constant->data<float>()[0];
    if (factor > 0) return Multiple{op.inputs[1 - i], factor};
  }
  return std::nullopt;
}

/// Pins a clamped result of a weighted operator that only a product with a constant reads.
void pin_before_multiple(const Op& op, const passes::Uses& uses, PinnedGraph& pinned) {
  const auto multiple = multiple_of(pinned.graph, op);
  const Params* const result = multiple ? pinned.pins.find(op.output) : nullptr;
  if (result == nullptr) return;
  const Op* const clamp = uses.producer(multiple->operand);
  if (clamp == nullptr || clamp->kind != OpKind::clamp) return;
  if (uses.only_reader(multiple->operand) == nullptr) return;
  if (pinned.pins.find(multiple->operand) != nullptr) return;
  if (!unpinned_operand(*clamp, uses, pinned.pins)) return;
  Params params = *result;
  params.scale /= multiple->factor;
  pinned.pins.params[static_cast<size_t>(multiple->operand)] = params;
  pinned.pins.quantized.insert(multiple->operand);
}

}  // namespace

void pin_before_activations(PinnedGraph& pinned) {
  const passes::Uses uses(pinned.graph);
  pinned.pins.params.resize(pinned.graph.value_count());
  for (const Op& op : pinned.graph.ops()) {
    pin_before_multiple(op, uses, pinned);
    const auto range = sensitive_range(op.kind);
    if (!range) continue;
    const auto id = unpinned_operand(op, uses, pinned.pins);
    if (!id) continue;
    pinned.pins.params[static_cast<size_t>(*id)] = params_for(*range);
    pinned.pins.quantized.insert(*id);
  }
}

}  // namespace thimble::quant
