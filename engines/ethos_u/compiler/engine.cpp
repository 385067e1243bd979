#include "engines/ethos_u/compiler/engine.h"

#include <algorithm>
#include <map>

#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/legal.h"
#include "engines/ethos_u/compiler/lower.h"
#include "engines/ethos_u/compiler/op_text.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/formats/payload.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/isa/system.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::Config;
using thimble::ethos_u::MemoryTiming;

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

/// Applies settings of the part's file that override values of the named system configuration.
class Overrides {
 public:
  explicit Overrides(const Settings& settings) : settings_(settings) {}

  /// Applies one setting. Its value must be in [least, most].
  template <typename T>
  void apply(std::string_view key, double least, double most, T* value) {
    const auto found = settings_.find(key);
    known_.emplace_back(key);
    if (found == settings_.end()) return;
    if (!(found->second >= least && found->second <= most)) {
      if (wrong_.empty()) {
        wrong_ =
            fmt::format("setting {} is {}, expected {} to {}", key, found->second, least, most);
      }
      return;
    }
    *value = static_cast<T>(found->second);
  }
  void apply(const std::string& memory, MemoryTiming* timing) {
    apply(memory + ".bytes_per_cycle", 0.001, 1024, &timing->bytes_per_cycle);
    apply(memory + ".read_latency", 0, 65535, &timing->read_latency);
    apply(memory + ".write_latency", 0, 65535, &timing->write_latency);
    apply(memory + ".burst", 1, 65535, &timing->burst);
  }
  Status done(std::string_view engine) const {
    if (!wrong_.empty()) return bad_input("{}: {}", engine, wrong_);
    for (const auto& [key, value] : settings_) {
      if (std::ranges::find(known_, key) != known_.end()) continue;
      return bad_input("{}: setting {} is not known; one of {} was expected", engine, key,
                       fmt::join(known_, ", "));
    }
    return ok();
  }

 private:
  const Settings& settings_;
  std::vector<std::string> known_;
  std::string wrong_;
};

struct SystemSetup {
  System system{};
  Mode mode{};
  double cache_bytes = 0;  // Dedicated_Sram: size of the fast scratch; 0 = no limit
};

Result<SystemSetup> system_setup_of(const PartNpu& use) {
  SystemSetup result;
  const System* system = use.system.empty()
                             ? thimble::ethos_u::default_system(config_of(use).generation)
                             : thimble::ethos_u::find_system(use.system.c_str());
  if (system == nullptr) {
    std::vector<std::string_view> names;
    for (const System& known : thimble::ethos_u::kSystems) names.emplace_back(known.name);
    return bad_input("{}: system {} is not known; one of {} was expected", use.name, use.system,
                     fmt::join(names, ", "));
  }
  const thimble::ethos_u::Generation generation = config_of(use).generation;
  if (!thimble::ethos_u::has(system->generations, generation)) {
    return bad_input("{}: system {} belongs to another NPU generation", use.name, system->name);
  }
  result.system = *system;
  THIMBLE_TRY(result.mode, mode_of(use));
  if (result.mode.mode == MemoryMode::kDedicatedSram &&
      generation == thimble::ethos_u::Generation::kU55) {
    return bad_input("{}: Dedicated_Sram: the U55 writes to one of its ports only", use.name);
  }
  Overrides overrides(use.settings);
  overrides.apply("clock_mhz", 1, 10000, &result.system.clock_mhz);
  overrides.apply("cache_bytes", 0, 0x1p40, &result.cache_bytes);
  overrides.apply("sram", &result.system.sram);
  overrides.apply("external", &result.system.external);
  THIMBLE_CHECK(overrides.done(use.name));
  return result;
}

Status check(const PartNpu& use) {
  THIMBLE_TRY(const SystemSetup setup, system_setup_of(use));
  (void)setup;
  return ok();
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

Result<Task> prepare(const ir::Graph& region, const PartNpu& use, const NpuOptions& options) {
  Task task;
  THIMBLE_TRY(task.setup, system_setup_of(use));
  THIMBLE_TRY(task.program, lower(region, config_of(use)));
  task.schedule.mode = task.setup.mode.mode;
  task.schedule.sram_bytes = options.sram_bytes;
  task.schedule.optimise = options.smallest ? Optimise::kSize : Optimise::kPerformance;
  if (task.schedule.mode == MemoryMode::kDedicatedSram && task.setup.cache_bytes > 0) {
    const auto cache = static_cast<int64_t>(task.setup.cache_bytes);
    task.schedule.memory_bytes = cache;
  }
  return task;
}

Result<std::vector<engine::ParetoPoint>> pareto_of(const ir::Graph& region, const PartNpu& use) {
  THIMBLE_TRY(Task task, prepare(region, use, {}));
  task.schedule.system = &task.setup.system;
  THIMBLE_TRY(const auto points, pareto(task.program, task.schedule));
  std::vector<engine::ParetoPoint> result;
  for (const ParetoPoint& point : points) result.push_back({point.sram_bytes, point.cycles});
  return result;
}

Result<Delegate> compile_region(const ir::Graph& region, const PartNpu& use,
                                const NpuOptions& options) {
  THIMBLE_TRY(Task task, prepare(region, use, options));
  task.schedule.system = &task.setup.system;
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
  delegate.constant_bytes = static_cast<int64_t>(blob.weights.size());
  delegate.scratch_bytes = blob.scratch_bytes;
  delegate.fast_scratch_bytes = blob.fast_scratch_bytes;
  delegate.inputs = places(blob.inputs);
  delegate.outputs = places(blob.outputs);
  delegate.rows = rows_of(task.program, blob);
  delegate.cycles = blob.cycles;
  delegate.clock_mhz = task.setup.system.clock_mhz;
  return delegate;
}

constexpr std::string_view kExecutorchDelegates[] = {abi::ethos_u::kDelegateId};

}  // namespace

const Npu kEngine = {
    .kind = "ethos-u",
    .check = check,
    .legal = legal_on,
    .channels_last = true,
    .compile = compile_region,
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
