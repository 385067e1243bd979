// SPDX-License-Identifier: Apache-2.0
#include "memory/shared_arena.h"

#include <algorithm>
#include <set>

#include "abi/limits.h"
#include "abi/runtime_memory.h"
#include "base/rounding.h"

namespace thimble::memory {
int64_t runtime_bytes(const engine::Lowered& lowered, const MemoryPlan& memory_plan,
                      size_t pointer_bytes) {
  std::set<abi::PteOp> operators;
  for (const engine::KernelCall& call : lowered.calls) {
    if (call.delegate < 0) operators.insert(call.op);
  }
  const std::vector<ir::ValueId>& inputs = lowered.graph.inputs();
  const bool all_planned = std::ranges::all_of(inputs, [&](ir::ValueId input) {
    return memory_plan.range_of_value[static_cast<size_t>(input)] >= 0;
  });
  return static_cast<int64_t>(abi::runtime_bytes(operators.size(), inputs.size(), all_planned,
                                                 lowered.delegates.size(), pointer_bytes));
}

namespace {

/// Returns the bytes that states occupy at the end of an arena.
int64_t placed_state_bytes(const engine::Lowered& model) {
  int64_t bytes = 0;
  for (const ir::State& state : model.graph.states()) {
    bytes +=
        round_up(static_cast<int64_t>(model.graph.type(state.value).bytes()), abi::kArenaAlignment);
  }
  return bytes;
}

/// Returns the bytes before the states if they are at the end: what several models can share.
int64_t bytes_before_states(const engine::Lowered& model) {
  const MemoryPlan states_last = plan_memory(model, int64_t{0});
  return round_up(states_last.placement.peak_bytes - placed_state_bytes(model),
                  abi::kArenaAlignment);
}

}  // namespace

std::vector<MemoryPlan> plan_methods(std::span<const engine::Lowered* const> methods) {
  int64_t states_at = 0;
  for (const engine::Lowered* const method : methods) {
    assert(method->delegates.empty());
    states_at = std::max(states_at, bytes_before_states(*method));
  }
  std::vector<MemoryPlan> plans;
  for (const engine::Lowered* const method : methods) {
    plans.push_back(plan_memory(*method, states_at));
  }
  return plans;
}

SharedArena share_arena(std::span<const engine::Lowered* const> models) {
  SharedArena shared;
  // 8, not the 4 of the device: the runtime on the host loads the same files.
  constexpr size_t kPointerBytes = 8;
  int64_t largest_without_states = 0;
  for (const engine::Lowered* const model : models) {
    assert(model->delegates.empty());
    const MemoryPlan alone = plan_memory(*model);
    shared.separate_bytes +=
        round_up(alone.placement.peak_bytes + runtime_bytes(*model, alone), abi::kArenaAlignment);
    largest_without_states = std::max(largest_without_states, bytes_before_states(*model));
  }
  shared.bytes = largest_without_states;
  for (const engine::Lowered* const model : models) {
    MemoryPlan& memory_plan = shared.memory_plans.emplace_back(plan_memory(*model, shared.bytes));
    shared.bytes = round_up(
        memory_plan.placement.peak_bytes + runtime_bytes(*model, memory_plan, kPointerBytes),
        abi::kArenaAlignment);
  }
  return shared;
}

}  // namespace thimble::memory
