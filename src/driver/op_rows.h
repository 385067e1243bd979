#pragma once
// Rows of the report: one per kernel call, and one per operator of a subgraph that an engine runs.

#include <span>
#include <vector>

#include "driver/compile.h"
#include "emit/schedule.h"
#include "partition/partition.h"
#include "target/target.h"

namespace thimble::driver {

/// The operator that a row describes.
struct RowOp {
  const ir::Graph* graph = nullptr;  // the lowered graph or the subgraph
  const ir::Op* op = nullptr;
  size_t call = 0;
  const target::DelegateRow* delegate_row = nullptr;  // only for an operator of a subgraph
};
[[nodiscard]] std::vector<RowOp> row_ops(const target::Lowered& lowered,
                                         std::span<const partition::Region> regions);

/// Fills report->ops, one row per entry of `rows`, and report->buffers. Lifetimes of buffers are
/// row indices.
void report_ops(const target::Lowered& lowered, const emit::Schedule& schedule,
                const target::Target& target, std::span<const RowOp> rows, CompileReport* report);

[[nodiscard]] Peak find_peak(const target::Lowered& lowered, const emit::Schedule& schedule);

}  // namespace thimble::driver
