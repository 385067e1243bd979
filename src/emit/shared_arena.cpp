#include "emit/shared_arena.h"

#include <algorithm>
#include <set>

#include "abi/limits.h"
#include "abi/runtime_memory.h"

namespace thimble::emit {
namespace {

int64_t aligned(int64_t bytes) {
  return (bytes + abi::kArenaAlignment - 1) & ~int64_t{abi::kArenaAlignment - 1};
}

}  // namespace

int64_t state_bytes(const engine::Lowered& lowered, const Schedule& schedule,
                    size_t pointer_bytes) {
  std::set<abi::PteOp> operators;
  for (const engine::KernelCall& call : lowered.calls) {
    if (call.delegate < 0) operators.insert(call.op);
  }
  const std::vector<ir::ValueId>& inputs = lowered.graph.inputs();
  const bool all_planned = std::ranges::all_of(inputs, [&](ir::ValueId input) {
    return schedule.storage_of_value[static_cast<size_t>(input)] >= 0;
  });
  return static_cast<int64_t>(abi::state_bytes(operators.size(), inputs.size(), all_planned,
                                               lowered.delegates.size(), pointer_bytes));
}

SharedArena share_arena(std::span<const engine::Lowered* const> models) {
  SharedArena shared;
  // Pointers of a host are larger, and its runtime loads the same files.
  constexpr size_t kPointerBytes = 8;
  int64_t common = 0;
  for (const engine::Lowered* const model : models) {
    assert(model->delegates.empty());
    const Schedule alone = make_schedule(*model);
    shared.separate_bytes += aligned(alone.placement.peak_bytes + state_bytes(*model, alone));
    int64_t states = 0;
    for (const ir::State& state : model->graph.states()) {
      states += aligned(static_cast<int64_t>(model->graph.type(state.value).bytes()));
    }
    const Schedule behind = make_schedule(*model, int64_t{0});
    common = std::max(common, aligned(behind.placement.peak_bytes - states));
  }
  shared.bytes = common;
  for (const engine::Lowered* const model : models) {
    Schedule& schedule = shared.schedules.emplace_back(make_schedule(*model, shared.bytes));
    shared.bytes =
        aligned(schedule.placement.peak_bytes + state_bytes(*model, schedule, kPointerBytes));
  }
  return shared;
}

}  // namespace thimble::emit
