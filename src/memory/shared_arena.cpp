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
    int64_t states = 0;
    for (const ir::State& state : model->graph.states()) {
      states += round_up(static_cast<int64_t>(model->graph.type(state.value).bytes()),
                         abi::kArenaAlignment);
    }
    // The states are at the end of this plan; what is before them can be shared.
    const MemoryPlan states_last = plan_memory(*model, int64_t{0});
    largest_without_states =
        std::max(largest_without_states,
                 round_up(states_last.placement.peak_bytes - states, abi::kArenaAlignment));
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
