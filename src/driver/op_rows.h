// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of the report: one per kernel call, and one per operator of a subgraph that an engine runs.

#include <span>
#include <vector>

#include "driver/compile.h"
#include "engine/engine.h"
#include "memory/memory_plan.h"
#include "partition/partition.h"

namespace thimble::driver {

/// The operator that a row describes.
struct RowOp {
  const ir::Graph* graph = nullptr;  // the lowered graph or the subgraph
  const ir::Op* op = nullptr;
  size_t call = 0;
  const engine::DelegateRow* delegate_row = nullptr;  // for an operator of a subgraph
};
[[nodiscard]] std::vector<RowOp> row_ops(const engine::Lowered& lowered,
                                         std::span<const partition::Subgraph> subgraphs);

/// Fills report->ops, a row per entry of `rows`, and report->buffers, which count rows.
void report_ops(const engine::Lowered& lowered, const memory::MemoryPlan& memory_plan,
                const engine::Core& target, std::span<const RowOp> rows, CompileReport* report);

[[nodiscard]] Peak find_peak(const engine::Lowered& lowered, const memory::MemoryPlan& memory_plan);

}  // namespace thimble::driver
