// SPDX-License-Identifier: Apache-2.0
#pragma once
// The part's engines in the compile pipeline: operators that the user keeps off the engines, the
// partition, and the compilation of subgraphs within a memory budget.

#include <map>
#include <optional>
#include <span>
#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "driver/compile.h"
#include "driver/op_rows.h"
#include "engine/part.h"
#include "memory/memory_plan.h"
#include "partition/partition.h"

namespace thimble::driver {

/// Export nodes selected by --engine-off, or else by the part's recipe, with the pattern as value.
using CpuOnlyNodes = std::map<std::string, std::string>;
[[nodiscard]] Result<CpuOnlyNodes> engine_off(const ir::Graph& imported,
                                              const CompileOptions& options,
                                              const engine::Part& part);
/// Reports where `off` has no effect: on a part without engines, and for an operator that has no
/// call of its own because it was fused into another one.
void report_engine_off(const CpuOnlyNodes& off, bool has_engines, CompileReport* report);

/// `part` must outlive the subgraphs.
[[nodiscard]] Result<partition::Partition> cut(const ir::Graph& graph, const engine::Part& part,
                                               const CpuOnlyNodes& off, bool keep_small);

/// Fills lowered->delegates and plans the arena. If options.sram_bytes is set, tries to meet it
/// with smaller subgraph schedules.
[[nodiscard]] Result<memory::MemoryPlan> compile_subgraphs(
    std::span<const partition::Subgraph> subgraphs, engine::NpuOptions options,
    engine::Lowered* lowered, const ProgressFunction& progress = {});

/// Returns the Pareto front of SRAM and cycles of all subgraphs together, run one after the other.
[[nodiscard]] Result<std::vector<engine::ParetoPoint>> sram_pareto(
    std::span<const partition::Subgraph> subgraphs);

/// `why_not`: per operator of the integer graph, why it does not run on the part's first engine;
/// empty if it does.
void report_engines(const ir::Graph& integer, std::span<const std::string> why_not,
                    std::span<const std::pair<std::string, std::string>> added,
                    std::span<const RowOp> rows, CompileReport* report);

[[nodiscard]] std::optional<int64_t> sum_cycles(const std::vector<engine::Delegate>& delegates);

/// Reports the notes of the delegates' engines and estimates the time of a run from the rows of the
/// operators.
void report_delegates(const std::vector<engine::Delegate>& delegates, CompileReport* report);

/// Returns the constants of delegates with this memory mode. Those of Sram_Only are read from SRAM,
/// those of Dedicated_Sram from DRAM. They are in the file too, from which the application loads
/// them.
[[nodiscard]] int64_t constant_bytes(const std::vector<engine::Delegate>& delegates,
                                     abi::MemoryMode mode);

/// Returns true if a delegate's arena is in DRAM and the SRAM is the NPU's fast scratch.
[[nodiscard]] bool uses_dedicated_sram(const engine::Lowered& lowered);

}  // namespace thimble::driver
