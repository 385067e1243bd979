// SPDX-License-Identifier: Apache-2.0
#include "memory/reorder.h"

#include <algorithm>

#include "memory/buffer_aliasing.h"
#include "memory/execution_order.h"

namespace thimble::memory {
namespace {

using ir::ValueId;

/// Limits memory: each partial order of the beam search stores a set of calls.
constexpr size_t kCallsMax = 400;

Step step_of(const engine::Lowered& lowered, const BufferAliasing& aliasing,
             const engine::KernelCall& call) {
  Step step;
  const auto bytes = [&](ValueId id) {
    return static_cast<int64_t>(lowered.graph.type(id).bytes());
  };
  engine::for_each_operand(call,
                           [&](ValueId value) { step.reads.push_back(aliasing.source_of(value)); });
  step.scratch_bytes = engine::scratch_bytes(call);
  step.writes = {call.out};
  const auto* operand = std::get_if<engine::ValueRef>(&call.arguments[0]);
  if (operand == nullptr) return step;
  const int64_t result = bytes(call.out);
  if (call.in_place >= 0 && bytes(operand->id) == result) step.shared_bytes = result;
  if (call.lead)
    step.shared_bytes = std::max<int64_t>(0, std::min(bytes(operand->id), result - *call.lead));
  return step;
}

}  // namespace

engine::Lowered reorder_calls(engine::Lowered lowered) {
  const ir::Graph& graph = lowered.graph;
  const bool has_delegates = std::ranges::any_of(
      lowered.calls, [](const engine::KernelCall& call) { return call.delegate >= 0; });
  if (!graph.states().empty() || has_delegates || lowered.calls.size() > kCallsMax) return lowered;
  const BufferAliasing aliasing(lowered);
  std::vector<Step> steps;
  for (const engine::KernelCall& call : lowered.calls)
    steps.push_back(step_of(lowered, aliasing, call));
  std::vector<ValueLifetime> values(graph.value_count());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].bytes = static_cast<int64_t>(graph.type(static_cast<ValueId>(i)).bytes());
  }
  for (const ValueId output : graph.outputs()) {
    values[static_cast<size_t>(aliasing.source_of(output))].live_to_end = true;
  }
  const std::optional<std::vector<int>> order = better_order(steps, values);
  if (!order) return lowered;
  engine::Lowered other = lowered;
  for (size_t i = 0; i < order->size(); ++i) {
    other.calls[i] = lowered.calls[static_cast<size_t>((*order)[i])];
  }
  return lower_bound_bytes(other) < lower_bound_bytes(lowered) ? other : lowered;
}

}  // namespace thimble::memory
