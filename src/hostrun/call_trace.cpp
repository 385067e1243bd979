// SPDX-License-Identifier: Apache-2.0
#include "hostrun/call_trace.h"

namespace thimble::hostrun {
namespace {

namespace pte = formats::pte;

/// Values of an instruction whose tensors are traced.
std::vector<int32_t> values_of(const pte::Instruction& instruction) {
  if (const auto* call = std::get_if<pte::DelegateCall>(&instruction)) return call->args;
  const auto* call = std::get_if<pte::KernelCall>(&instruction);
  if (call == nullptr || call->args.empty()) return {};
  return {call->args.back()};
}

}  // namespace

Result<std::vector<std::vector<ArenaTensor>>> traced_tensors(const pte::Program& program,
                                                             std::string_view label) {
  const pte::ExecutionPlan& plan = executed_plan(program);
  const std::vector<int64_t> starts = memory_starts(plan);
  std::vector<std::vector<ArenaTensor>> all;
  if (plan.chains.empty()) return all;
  for (const pte::Instruction& instruction : plan.chains[0].instructions) {
    std::vector<ArenaTensor>& tensors = all.emplace_back();
    const auto add = [&](int32_t value) -> Status {
      const auto* tensor = std::get_if<pte::Tensor>(&plan.values[static_cast<size_t>(value)]);
      if (tensor == nullptr || !tensor->allocation) return ok();
      THIMBLE_TRY(Port port, read_port(plan, value, fmt::format("value {}", value), label));
      const auto start = static_cast<size_t>(starts[tensor->allocation->memory_id]);
      tensors.push_back({std::move(port), start + tensor->allocation->offset});
      return ok();
    };
    for (const int32_t value : values_of(instruction)) {
      const pte::EValue& item = plan.values[static_cast<size_t>(value)];
      if (const auto* list = std::get_if<pte::TensorList>(&item)) {
        for (const int32_t each : list->items) THIMBLE_CHECK(add(each));
      } else {
        THIMBLE_CHECK(add(value));
      }
    }
  }
  return all;
}

}  // namespace thimble::hostrun
