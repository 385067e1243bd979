#include "emit/reorder.h"

#include <algorithm>

#include "emit/buffer_aliasing.h"
#include "plan/execution_order.h"

namespace thimble::emit {
namespace {

using ir::ValueId;

constexpr size_t kCallsMax = 400;  // each state of the search holds a set of calls

int64_t live_bytes(const engine::Lowered& lowered) {
  BufferAliasing aliased_buffers(lowered);
  aliased_buffers.reuse_operand_buffers();
  return aliased_buffers.live_bytes();
}

plan::Step work_of(const engine::Lowered& lowered, const BufferAliasing& aliased_buffers,
                   const engine::KernelCall& call) {
  plan::Step work;
  const auto bytes = [&](ValueId id) {
    return static_cast<int64_t>(lowered.graph.type(id).bytes());
  };
  for (const engine::Argument& argument : call.arguments) {
    if (const auto* ref = std::get_if<engine::ValueRef>(&argument)) {
      work.reads.push_back(aliased_buffers.source_of(ref->id));
    }
    if (const auto* list = std::get_if<engine::ValueList>(&argument)) {
      for (const ValueId value : *list) work.reads.push_back(aliased_buffers.source_of(value));
    }
    if (const auto* scratch = std::get_if<engine::Scratch>(&argument))
      work.scratch_bytes += scratch->bytes;
  }
  work.writes = {call.out};
  const auto* operand = std::get_if<engine::ValueRef>(&call.arguments[0]);
  if (operand == nullptr) return work;
  const int64_t result = bytes(call.out);
  if (call.in_place >= 0 && bytes(operand->id) == result) work.shared_bytes = result;
  if (call.lead)
    work.shared_bytes = std::max<int64_t>(0, std::min(bytes(operand->id), result - *call.lead));
  return work;
}

}  // namespace

engine::Lowered reorder_calls(engine::Lowered lowered) {
  const ir::Graph& graph = lowered.graph;
  const bool delegates = std::ranges::any_of(
      lowered.calls, [](const engine::KernelCall& call) { return call.delegate >= 0; });
  if (!graph.states().empty() || delegates || lowered.calls.size() > kCallsMax) return lowered;
  const BufferAliasing aliased_buffers(lowered);
  std::vector<plan::Step> work;
  for (const engine::KernelCall& call : lowered.calls)
    work.push_back(work_of(lowered, aliased_buffers, call));
  std::vector<plan::ValueLifetime> values(graph.value_count());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i].bytes = static_cast<int64_t>(graph.type(static_cast<ValueId>(i)).bytes());
  }
  for (const ValueId output : graph.outputs()) {
    values[static_cast<size_t>(aliased_buffers.source_of(output))].kept = true;
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
