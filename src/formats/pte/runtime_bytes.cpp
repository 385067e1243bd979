// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/runtime_bytes.h"

#include <algorithm>

#include "abi/runtime_memory.h"

namespace thimble::formats::pte {

int64_t runtime_bytes(const ExecutionPlan& plan) {
  const bool all_planned = std::ranges::all_of(plan.inputs, [&](int32_t index) {
    const auto* tensor = std::get_if<Tensor>(&plan.values[static_cast<size_t>(index)]);
    return tensor != nullptr && tensor->allocation.has_value();
  });
  return static_cast<int64_t>(abi::runtime_bytes(plan.operators.size(), plan.inputs.size(),
                                                 all_planned, plan.delegates.size()));
}

}  // namespace thimble::formats::pte
