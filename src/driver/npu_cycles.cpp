// SPDX-License-Identifier: Apache-2.0
#include "driver/npu_cycles.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace thimble::driver {
namespace {

/// Distributes the cycles over the rows, which name the words of their operations. An operation of
/// no row, such as a copy of weights, counts for the next one.
void distribute(const hostrun::NpuProfile& profile, engine::Delegate* delegate) {
  std::map<uint32_t, engine::DelegateRow*> row_of;
  for (engine::DelegateRow& row : delegate->rows) {
    for (const uint32_t word : row.words) row_of[word] = &row;
  }
  if (row_of.empty()) return;
  for (engine::DelegateRow& row : delegate->rows) row.cycles = 0;
  std::vector<hostrun::NpuOperation> operations = profile.operations;
  std::ranges::stable_sort(operations, {}, &hostrun::NpuOperation::end);
  // Operations overlap: a row has the time by which its operations move the end of the program.
  engine::DelegateRow* last = nullptr;
  int64_t distributed = 0;
  for (const hostrun::NpuOperation& operation : operations) {
    const auto row = row_of.find(operation.word);
    if (row == row_of.end()) continue;
    last = row->second;
    *last->cycles += std::llround(operation.end) - distributed;
    distributed = std::llround(operation.end);
  }
  if (last != nullptr) *last->cycles += *delegate->cycles - distributed;
}

}  // namespace

std::vector<hostrun::NpuSystem> npu_systems(const engine::Part& part) {
  std::vector<hostrun::NpuSystem> systems;
  for (const engine::PartNpu& use : part.engines) {
    systems.push_back({use.name, use.system, use.settings});
  }
  return systems;
}

const engine::PartNpu* npu_of(const engine::Part& part, const hostrun::NpuProfile& profile) {
  // Some programs name a configuration of the NPU; others run on any NPU of their kind.
  const bool is_configuration = engine::find_npu(profile.npu).ok();
  const auto found = std::ranges::find_if(part.engines, [&](const engine::PartNpu& use) {
    return is_configuration ? use.name == profile.npu : use.engine->kind == profile.kind;
  });
  return found == part.engines.end() ? nullptr : &*found;
}

Status estimate_npu_cycles(const formats::pte::Program& program, std::string_view label,
                           const engine::Part& part, std::vector<engine::Delegate>* delegates) {
  if (delegates->empty()) return ok();
  const std::vector<hostrun::NpuSystem> systems = npu_systems(part);
  THIMBLE_TRY(const std::vector<hostrun::NpuProfile> profiles,
              hostrun::profiles_of(program, label, systems));
  for (const hostrun::NpuProfile& profile : profiles) {
    engine::Delegate& delegate = (*delegates)[profile.delegate];
    delegate.cycles = std::llround(profile.cycles);
    distribute(profile, &delegate);
  }
  return ok();
}

}  // namespace thimble::driver
