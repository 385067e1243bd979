#include "emit/reorder.h"

#include <algorithm>

#include "emit/homes.h"
#include "plan/order.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

constexpr size_t kCallsMax = 400;  // each state of the search holds a set of calls

int64_t live_bytes(const engine::Lowered& lowered) {
  Homes homes(lowered);
  homes.take_over_operands();
  return homes.live_bytes();
}

plan::Work work_of(const engine::Lowered& lowered, const Homes& homes,
                   const engine::KernelCall& call) {
  plan::Work work;
  const auto bytes = [&](ValueId id) {
    return static_cast<int64_t>(lowered.graph.type(id).bytes());
  };
  for (const engine::Argument& argument : call.arguments) {
    if (const auto* ref = std::get_if<engine::ValueRef>(&argument)) {
      work.reads.push_back(homes.source_of(ref->id));
    }
    if (const auto* list = std::get_if<engine::ValueList>(&argument)) {
      for (const ValueId value : *list) work.reads.push_back(homes.source_of(value));
    }
    if (const auto* scratch = std::get_if<engine::Scratch>(&argument))
      work.beside += scratch->bytes;
  }
  work.makes = {call.out};
  const auto* operand = std::get_if<engine::ValueRef>(&call.arguments[0]);
  if (operand == nullptr) return work;
  const int64_t result = bytes(call.out);
  if (call.in_place >= 0 && bytes(operand->id) == result) work.shared = result;
  if (call.lead)
    work.shared = std::max<int64_t>(0, std::min(bytes(operand->id), result - *call.lead));
  return work;
}

}  // namespace

engine::Lowered in_better_order(engine::Lowered lowered) {
  const ir::Graph& graph = lowered.graph;
  const bool delegates = std::ranges::any_of(
      lowered.calls, [](const engine::KernelCall& call) { return call.delegate >= 0; });
  if (!graph.states().empty() || delegates || lowered.calls.size() > kCallsMax) return lowered;
  const Homes homes(lowered);
  std::vector<plan::Work> work;
  for (const engine::KernelCall& call : lowered.calls)
    work.push_back(work_of(lowered, homes, call));
  std::vector<plan::Stuff> values(graph.value_count());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].bytes = static_cast<int64_t>(graph.type(static_cast<ValueId>(i)).bytes());
  }
  for (const ValueId output : graph.outputs()) {
    values[static_cast<size_t>(homes.source_of(output))].kept = true;
  }
  const std::optional<std::vector<int>> order = plan::better_order(work, values);
  if (!order) return lowered;
  engine::Lowered other = lowered;
  for (size_t i = 0; i < order->size(); ++i) {
    other.calls[i] = lowered.calls[static_cast<size_t>((*order)[i])];
  }
  return live_bytes(other) < live_bytes(lowered) ? other : lowered;
}

}  // namespace thimble::emit
