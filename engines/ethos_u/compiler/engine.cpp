// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/engine.h"

#include <algorithm>
#include <map>

#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/legal.h"
#include "engines/ethos_u/compiler/lower.h"
#include "engines/ethos_u/compiler/op_text.h"
#include "engines/ethos_u/compiler/schedule.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/formats/part_system.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/isa/system.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::Config;

/// Tag of the keys of external payload data. ExecuTorch would use it as the name of the data file.
constexpr std::string_view kExternalTag = "thimble";

const Config& config_of(const PartNpu& use) {
  const Config* config = thimble::ethos_u::find_config(use.name.c_str());
  assert(config != nullptr && "the registry names configurations only");
  return *config;
}

struct Mode {
  std::string_view name;
  MemoryMode mode;
  abi::MemoryMode in_file;
};
constexpr Mode kModes[] = {
    {"Sram_Only", MemoryMode::kSramOnly, abi::MemoryMode::kSramOnly},
    {"Shared_Sram", MemoryMode::kSharedSram, abi::MemoryMode::kSharedSram},
    {"Dedicated_Sram", MemoryMode::kDedicatedSram, abi::MemoryMode::kDedicatedSram},
};

Result<Mode> mode_of(const PartNpu& use) {
  for (const Mode& mode : kModes) {
    if (mode.name == use.memory_mode) return mode;
  }
  return bad_input("{}: memory_mode {}: Sram_Only, Shared_Sram or Dedicated_Sram was expected",
                   use.name, use.memory_mode);
}

struct SystemSetup {
  formats::ethos_u::PartSystem of_part{};
  Mode mode{};
};

Result<SystemSetup> system_setup_of(const PartNpu& use) {
  SystemSetup result;
  const Config& config = config_of(use);
  THIMBLE_TRY(result.of_part, formats::ethos_u::part_system(config, use.system, use.settings));
  THIMBLE_TRY(result.mode, mode_of(use));
  if (result.mode.mode == MemoryMode::kDedicatedSram &&
      config.generation == thimble::ethos_u::Generation::kU55) {
    return bad_input("{}: Dedicated_Sram: the U55 writes to one of its ports only", use.name);
  }
  return result;
}

Status check(const PartNpu& use) {
  THIMBLE_TRY(const SystemSetup setup, system_setup_of(use));
  (void)setup;
  return ok();
}

NpuTiming timing_of(const PartNpu& use) {
  const Result<SystemSetup> setup = system_setup_of(use);
  return {setup ? static_cast<double>(setup->of_part.system.clock_mhz) : 0, 0};
}

engine::Legality legal_on(const ir::Graph& graph, const ir::Op& op, const PartNpu& use) {
  Legality verdict = legal(graph, op, config_of(use));
  return {verdict.legal, std::move(verdict.reason)};
}

std::vector<formats::ethos_u::PayloadTensor> table(const std::vector<NpuBlob::Io>& tensors) {
  std::vector<formats::ethos_u::PayloadTensor> rows;
  for (const NpuBlob::Io& io : tensors) {
    rows.push_back({{io.shape.begin(), io.shape.end()}, io.elem_bytes, io.offset, io.region});
  }
  return rows;
}

std::vector<DelegateIo> places(const std::vector<NpuBlob::Io>& tensors) {
  std::vector<DelegateIo> result;
  for (const NpuBlob::Io& io : tensors) {
    int64_t bytes = io.elem_bytes;
    for (const int64_t size : io.shape) bytes *= size;
    result.push_back({io.offset, bytes});
  }
  return result;
}

/// Returns one row per operator of the subgraph: the NPU operations it was lowered to and the sum
/// of their cycles.
std::vector<DelegateRow> rows_of(const NpuProgram& program, const NpuBlob& blob) {
  std::map<int, DelegateRow> rows;
  for (const OpReport& report : blob.report) {
    DelegateRow& row = rows[report.ir_op];
    row.ir_op = report.ir_op;
    row.cycles = row.cycles.value_or(0) + report.cycles;
    row.words.insert(row.words.end(), report.words.begin(), report.words.end());
    const std::string what = op_text(program.ops[static_cast<size_t>(report.op)]);
    if (row.what.empty()) {
      row.what = what;
    } else if (!row.what.ends_with(what)) {
      row.what += "+" + what;
    }
  }
  std::vector<DelegateRow> result;
  for (auto& [op, row] : rows) result.push_back(std::move(row));
  return result;
}

/// A subgraph ready for scheduling.
struct Task {
  SystemSetup setup;
  NpuProgram program;
  ScheduleOptions schedule;  // without the system, which is in `setup`
};

Result<Task> prepare(const ir::Graph& subgraph, const PartNpu& use, const NpuOptions& options) {
  Task task;
  THIMBLE_TRY(task.setup, system_setup_of(use));
  THIMBLE_TRY(task.program, lower(subgraph, config_of(use)));
  task.schedule.mode = task.setup.mode.mode;
  task.schedule.in_feature_maps = task.setup.of_part.in_feature_maps;
  task.schedule.optimise = options.smallest ? Optimise::kSize : Optimise::kPerformance;
  if (task.schedule.mode == MemoryMode::kDedicatedSram && task.setup.of_part.cache_bytes > 0) {
    const auto cache = static_cast<int64_t>(task.setup.of_part.cache_bytes);
    task.schedule.memory_bytes = cache;
  }
  if (options.sram_is_budget) {
    task.schedule.sram_bytes = options.sram_bytes;
  } else if (options.sram_bytes) {
    task.schedule.memory_bytes =
        std::min(*options.sram_bytes, task.schedule.memory_bytes.value_or(*options.sram_bytes));
  }
  return task;
}

Result<std::vector<engine::ParetoPoint>> pareto_of(const ir::Graph& subgraph, const PartNpu& use) {
  THIMBLE_TRY(Task task, prepare(subgraph, use, {}));
  task.schedule.system = &task.setup.of_part.system;
  THIMBLE_TRY(const auto points, pareto(task.program, task.schedule));
  std::vector<engine::ParetoPoint> result;
  for (const ParetoPoint& point : points) result.push_back({point.sram_bytes, point.cycles});
  return result;
}

Result<Delegate> compile_subgraph(const ir::Graph& subgraph, const PartNpu& use,
                                  const NpuOptions& options) {
  THIMBLE_TRY(Task task, prepare(subgraph, use, options));
  task.schedule.system = &task.setup.of_part.system;
  THIMBLE_TRY(const NpuBlob blob, compile(task.program, task.schedule));
  formats::ethos_u::EthosUPayload payload;
  payload.commands = blob.commands;
  Delegate delegate;
  if (options.external_weights && !blob.weights.empty()) {
    payload.weights_key = formats::ethos_u::external_key(kExternalTag, blob.weights);
    delegate.named.emplace_back(*payload.weights_key, blob.weights);
  } else {
    payload.weights = blob.weights;
  }
  payload.scratch_bytes = blob.scratch_bytes;
  payload.inputs = table(blob.inputs);
  payload.outputs = table(blob.outputs);
  delegate.engine = use.name;
  delegate.id = abi::ethos_u::kDelegateId;
  THIMBLE_TRY(delegate.payload, formats::ethos_u::write_payload(payload));
  delegate.memory_mode = task.setup.mode.in_file;
  delegate.system = task.setup.of_part.id;
  delegate.constant_bytes = static_cast<int64_t>(blob.weights.size());
  delegate.scratch_bytes = blob.scratch_bytes;
  delegate.fast_scratch_bytes = blob.fast_scratch_bytes;
  delegate.inputs = places(blob.inputs);
  delegate.outputs = places(blob.outputs);
  delegate.rows = rows_of(task.program, blob);
  delegate.cycles = blob.cycles;
  delegate.clock_mhz = timing_of(use).clock_mhz;
  delegate.runs_in_background = true;
  if (!task.schedule.sram_bytes && !options.smallest) {
    const auto point = [](const ParetoPoint& from) {
      return engine::ParetoPoint{from.sram_bytes, from.cycles};
    };
    delegate.sram_choice = {default_rule(task.schedule),
                            {blob.sram_bytes(task.schedule.mode), blob.timeline_cycles},
                            point(blob.smallest),
                            point(blob.fastest)};
  }
  return delegate;
}

constexpr std::string_view kExecutorchDelegates[] = {abi::ethos_u::kDelegateId};

}  // namespace

const Npu kEngine = {
    .kind = "ethos-u",
    .check = check,
    .legal = legal_on,
    .channels_last = true,
    .compile = compile_subgraph,
    .timing = timing_of,
    .pareto = pareto_of,
    .executorch_delegates = kExecutorchDelegates,
    .supported = supported,
};

std::vector<NpuName> npus() {
  std::vector<NpuName> names;
  for (const thimble::ethos_u::Config& config : thimble::ethos_u::kConfigs) {
    names.push_back({config.name, &kEngine});
  }
  return names;
}

}  // namespace thimble::engine::ethos_u
