// SPDX-License-Identifier: Apache-2.0
#include "formats/pte/delegate_overlap.h"

#include <cstring>

#include "abi/named_data.h"

namespace thimble::formats::pte {

std::vector<DelegateOverlap> delegate_overlaps(const Program& program, const ExecutionPlan& plan) {
  std::vector<DelegateOverlap> overlaps;
  const NamedData* const data = find_named_data(program, abi::kDelegatesKey);
  if (data == nullptr || plan.chains.empty()) return overlaps;
  const std::vector<Instruction>& instructions = plan.chains[0].instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    const auto* const call = std::get_if<DelegateCall>(&instructions[i]);
    if (call == nullptr) continue;
    const auto row = static_cast<size_t>(call->delegate_index);
    abi::DelegateRecord record;
    if ((row + 1) * sizeof record > data->bytes.size()) continue;
    std::memcpy(&record, data->bytes.data() + row * sizeof record, sizeof record);
    if (record.overlap == 0 || i + record.overlap >= instructions.size()) continue;
    overlaps.push_back({i, row, record.overlap});
  }
  return overlaps;
}

}  // namespace thimble::formats::pte
