// thimble run: runs a model on the host runtime, an emulated board or the reference evaluator.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "driver/data.h"
#include "driver/overlap.h"
#include "driver/report.h"
#include "ir/dtype_text.h"
#include "tools/bundled.h"
#include "tools/commands.h"
#include "tools/etdump.h"
#include "tools/inputs.h"
#include "tools/io_types.h"
#include "tools/model.h"
#include "tools/output.h"
#include "tools/pairs.h"
#include "tools/profile_trace.h"
#include "tools/quality.h"
#include "tools/run.h"
#include "tools/serial_output.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;
using driver::with_commas;

struct RunResult {
  bool zeros = false;  // the inputs are zeros: --profile without --input
  Model model;
  Outcome outcome;
  std::vector<ir::Tensor> outputs;  // of several calls: along the first axis
  std::string etdump_unit;          // of the times in the ETDump, if one was written
  Bytes saved_state;                // with --load-state or --save-state
};

/// Inputs of a profile without --input.
std::vector<ir::Tensor> zeros(const std::vector<hostrun::Port>& ports) {
  std::vector<ir::Tensor> inputs;
  for (const hostrun::Port& port : ports) inputs.push_back(ir::zeros(port.dtype, port.shape));
  return inputs;
}

/// --output, --trace and --etdump.
Status write_files(const RunArguments& arguments, RunResult& result) {
  const fs::path& folder = arguments.output;
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return bad_input("{}: {}", folder.string(), error.message());
  OutputFiles files;
  files.protect(arguments.model);
  for (const fs::path& input : arguments.inputs) files.protect(input);
  if (!arguments.trace.empty()) {
    THIMBLE_TRY(const std::string trace,
                profile_trace(arguments.model, result.model, result.outcome));
    THIMBLE_CHECK(files.add(arguments.trace, trace));
  }
  if (!arguments.etdump.empty()) {
    THIMBLE_TRY(const Etdump dump, etdump_of(result.model, result.outcome));
    THIMBLE_CHECK(files.add(arguments.etdump, dump.file));
    if (!arguments.etdump_outputs.empty()) {
      THIMBLE_CHECK(files.add(arguments.etdump_outputs, dump.tensors));
    }
    result.etdump_unit = dump.unit;
  }
  if (!arguments.save_state.empty()) {
    THIMBLE_CHECK(files.add(arguments.save_state, result.saved_state));
  }
  if (folder.empty()) return files.commit();
  const std::vector<ir::Tensor>& outputs = result.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Bytes bytes = formats::npy::format_npy(driver::to_npy(outputs[i]));
    THIMBLE_CHECK(files.add(folder / fmt::format("output_{}.npy", i), bytes));
  }
  return files.commit();
}

Status check_arguments(const RunArguments& arguments) {
  if (arguments.profile && arguments.on == "eval") {
    return bad_input(
        "--profile: not supported by the evaluator: use --on qemu, or --on host for an NPU");
  }
  const bool on_serial = arguments.on.starts_with("serial:");
  if (on_serial && !(arguments.trace.empty() && arguments.etdump.empty())) {
    return bad_input("--trace and --etdump: not supported with --on serial: use --profile");
  }
  if (!arguments.trace.empty() && !arguments.profile) {
    return bad_input("--trace: writes the profile of a run: use it with --profile");
  }
  if (!arguments.etdump_outputs.empty() && arguments.etdump.empty()) {
    return bad_input("--etdump-outputs: holds tensors of an ETDump: use it with --etdump");
  }
  if (!arguments.etdump.empty() && (arguments.on == "eval" || arguments.on == "fvp")) {
    return bad_input("--etdump: not supported with --on {}: use --on host or --on qemu",
                     arguments.on);
  }
  if (!arguments.etdump_outputs.empty() && arguments.on == "qemu") {
    return bad_input("--etdump-outputs: use --on host: a board computes the same tensors");
  }
  return ok();
}

Result<OpenOptions> open_options(const RunArguments& arguments) {
  const bool dumps_board = arguments.on == "qemu" && !arguments.etdump.empty();
  OpenOptions options;
  options.on = arguments.on;
  options.fvp = arguments.fvp;
  options.time_limit = arguments.time_limit;
  options.patience = arguments.patience;
  options.target = arguments.target;
  options.count_instructions = true;
  options.profile = arguments.profile || dumps_board;
  options.trace = !arguments.etdump.empty() && !dumps_board;
  options.trace_tensors = !arguments.etdump_outputs.empty();
  options.method = arguments.method;
  options.data_file = arguments.data_file;
  options.input_names = arguments.input_names;
  THIMBLE_CHECK(parse_shapes(arguments.shapes, &options.shapes));
  return options;
}

/// Runs the calls from saved states, and saves the states after the last call.
Status run_with_state(const RunArguments& arguments, const Calls& calls, RunResult* result) {
  const Model& model = result->model;
  if (!model.save || arguments.profile || !arguments.etdump.empty()) {
    return bad_input(
        "--load-state, --save-state: on this machine only (--on host, --on eval), and "
        "without --profile and --etdump");
  }
  THIMBLE_CHECK(model.reset());
  if (!arguments.load_state.empty()) {
    THIMBLE_TRY(const Bytes saved, read_file(arguments.load_state));
    THIMBLE_CHECK(model.restore(saved));
  }
  for (const std::vector<ir::Tensor>& inputs : calls) {
    THIMBLE_TRY(std::vector<ir::Tensor> outputs, model.step(inputs));
    result->outcome.outputs.push_back(std::move(outputs));
  }
  if (model.host != nullptr) result->outcome.arena_bytes_used = model.host->arena_bytes();
  THIMBLE_TRY(result->saved_state, model.save());
  return ok();
}

Result<RunResult> run_model(const RunArguments& arguments) {
  THIMBLE_CHECK(check_arguments(arguments));
  THIMBLE_TRY(const OpenOptions options, open_options(arguments));
  RunResult result;
  THIMBLE_TRY(result.model, open_model(arguments.model, options));
  result.zeros =
      arguments.profile && arguments.inputs.empty() && arguments.arrays.empty() && !arguments.steps;
  InputCalls calls = {{zeros(result.model.inputs)}};
  if (!result.zeros) {
    THIMBLE_TRY(calls, arguments.arrays.empty()
                           ? read_inputs(arguments.inputs, result.model, arguments.steps)
                           : split_calls(arguments.arrays, result.model, arguments.steps));
  }
  const Progress progress(fmt::format("running {} on {}", result.model.label, result.model.where),
                          arguments.progress);
  if (arguments.load_state.empty() && arguments.save_state.empty()) {
    THIMBLE_TRY(result.outcome, result.model.run(calls.inputs));
  } else {
    THIMBLE_CHECK(run_with_state(arguments, calls.inputs, &result));
  }
  for (size_t i = 0; i < result.model.outputs.size(); ++i) {
    const Calls& outputs = result.outcome.outputs;
    result.outputs.push_back(calls.series != Series::kNone ? stacked(outputs, i, calls.series)
                                                           : outputs[0][i]);
  }
  THIMBLE_CHECK(write_files(arguments, result));
  return result;
}

Json to_json(const std::vector<hostrun::NpuProfile>& profiles) {
  Json list = Json::array();
  for (const hostrun::NpuProfile& profile : profiles) {
    Json ops = Json::array();
    for (const hostrun::NpuOperation& op : profile.operations) {
      ops.push_back({{"name", op.name},
                     {"word", op.word},
                     {"start", op.start},
                     {"cycles", op.end - op.start},
                     {"bound", op.bound},
                     {"macs", op.macs}});
    }
    list.push_back({{"npu", profile.npu},
                    {"system", profile.system},
                    {"cycles", profile.cycles},
                    {"hazards", profile.hazards},
                    {"ops", ops}});
    if (profile.bytes_sram + profile.bytes_external == 0) continue;
    list.back()["bytes_sram"] = profile.bytes_sram;
    list.back()["bytes_external"] = profile.bytes_external;
  }
  return list;
}

/// Instructions of the simulators that replace NPUs on the board, in all calls. 0 if they are not
/// known, because only a profile counts them.
int64_t simulator_instructions(const Outcome& outcome) {
  int64_t sum = 0;
  for (const auto& [index, call] : outcome.npu_calls) sum += outcome.qemu->ops[index].instructions;
  return sum;
}

/// Cycles of the core in all calls, without those of the simulators that replace NPUs on the board.
/// nullopt if the simulators run in the image and their part of it is not known.
std::optional<int64_t> core_cycles(const Outcome& outcome) {
  const hostrun::QemuFacts& facts = *outcome.qemu;
  if (!facts.cycles || (outcome.npu_simulated && outcome.npu_calls.empty())) return std::nullopt;
  int64_t sum = *facts.cycles;
  for (const auto& [index, call] : outcome.npu_calls) {
    if (!facts.ops[index].cycles) return std::nullopt;
    sum -= *facts.ops[index].cycles;
  }
  return sum;
}

/// Cycles of the NPUs in one inference; nullopt if there are none or one has no estimate.
std::optional<int64_t> npu_cycles(const Outcome& outcome) {
  if (outcome.npu_calls.empty()) return std::nullopt;
  int64_t sum = 0;
  for (const auto& [index, call] : outcome.npu_calls) {
    if (!call.cycles) return std::nullopt;
    sum += *call.cycles;
  }
  return sum;
}

/// Calls of the core that run while an NPU works, in one inference.
struct RunOverlap {
  std::string npu;
  size_t call = 0, calls = 0;           // the delegate's, and the number of calls after it
  std::optional<int64_t> npu_cycles;    // of the delegate
  std::optional<int64_t> core_cycles;   // of the calls
  std::optional<int64_t> saved_cycles;  // of the core; without clocks, of an NPU with its clock
  std::optional<double> saved_us;
};

/// Returns the overlaps of one inference. `cycles` and `us`: of each operator in one inference.
std::vector<RunOverlap> overlaps_of(const Outcome& outcome,
                                    std::span<const std::optional<double>> cycles,
                                    std::span<const std::optional<double>> us, double core_mhz) {
  std::vector<RunOverlap> overlaps;
  for (const formats::pte::DelegateOverlap& from : outcome.overlaps) {
    RunOverlap& overlap = overlaps.emplace_back();
    const NpuCall& npu = outcome.npu_calls.at(from.call);
    overlap.npu = npu.npu;
    overlap.call = from.call;
    overlap.calls = from.calls;
    overlap.npu_cycles = npu.cycles;
    double core = 0;
    bool is_known = true;
    for (size_t i = from.call + 1; i <= from.call + from.calls; ++i) {
      if (outcome.npu_calls.contains(i)) continue;
      is_known = is_known && cycles[i];
      core += cycles[i].value_or(0);
    }
    if (is_known) overlap.core_cycles = std::llround(core);
    overlap.saved_us = driver::overlap_time(us, from.call, from.calls);
    const std::optional<double> saved = overlap.saved_us
                                            ? std::optional(*overlap.saved_us * core_mhz)
                                            : driver::overlap_time(cycles, from.call, from.calls);
    if (saved) overlap.saved_cycles = std::llround(*saved);
  }
  return overlaps;
}

/// Cycles of the core and times of one inference, with the clocks and wait states of the part of
/// --target.
struct RunTimes {
  std::vector<std::optional<int64_t>> cycles;  // by operator: of the core in all calls, or the NPU
  std::vector<std::optional<double>> us;       // by operator, of one call
  std::optional<int64_t> core_cycles;          // of the inference, in all calls
  std::optional<double> total_us;
  std::vector<RunOverlap> overlaps;
};

RunTimes times_of(const RunResult& result) {
  const hostrun::QemuFacts& facts = *result.outcome.qemu;
  const PartTimes& part = result.model.times;
  const auto calls = static_cast<int64_t>(result.outcome.outputs.size());
  RunTimes times;
  int64_t waits = calls * part.runtime_wait_cycles;
  std::optional<double> npu_us = 0;
  for (size_t i = 0; i < facts.ops.size(); ++i) {
    const auto call = result.outcome.npu_calls.find(i);
    std::optional<double> us;
    if (call != result.outcome.npu_calls.end()) {
      times.cycles.push_back(call->second.cycles);
      const auto timing = part.npus.find(call->second.delegate);
      if (call->second.cycles) {
        us = part.npu_us(call->second.delegate, static_cast<double>(*call->second.cycles));
      }
      npu_us = npu_us && us ? std::optional(*npu_us + *us + timing->second.call_us) : std::nullopt;
    } else {
      std::optional<int64_t> cycles = facts.ops[i].cycles;
      if (cycles) *cycles += calls * part.waits_of(i);
      waits += calls * part.waits_of(i);
      times.cycles.push_back(cycles);
      if (cycles) us = part.core_us(*cycles / calls);
    }
    times.us.push_back(us);
  }
  std::vector<std::optional<double>> call_cycles, call_us;
  for (size_t i = 0; i < facts.ops.size(); ++i) {
    const auto call = result.outcome.npu_calls.find(i);
    const bool is_npu = call != result.outcome.npu_calls.end();
    const std::optional<int64_t> cycles = times.cycles[i];
    call_cycles.emplace_back();
    if (cycles) call_cycles.back() = static_cast<double>(is_npu ? *cycles : *cycles / calls);
    call_us.push_back(times.us[i]);
    if (is_npu && times.us[i]) *call_us.back() += part.npus.at(call->second.delegate).call_us;
  }
  times.overlaps = overlaps_of(result.outcome, call_cycles, call_us, part.core_mhz);
  times.core_cycles = core_cycles(result.outcome);
  if (times.core_cycles) *times.core_cycles += waits;
  if (times.core_cycles && npu_us) {
    const std::optional<double> core = part.core_us(*times.core_cycles / calls);
    if (core) times.total_us = *core + *npu_us;
    for (const RunOverlap& overlap : times.overlaps) {
      if (times.total_us) *times.total_us -= overlap.saved_us.value_or(0);
    }
  }
  return times;
}

Json to_json(const std::vector<RunOverlap>& overlaps) {
  const auto optional = [](const auto& value) { return value ? Json(*value) : Json(nullptr); };
  Json list = Json::array();
  for (const RunOverlap& overlap : overlaps) {
    list.push_back({{"npu", overlap.npu},
                    {"op", overlap.call},
                    {"ops", overlap.calls},
                    {"npu_cycles", optional(overlap.npu_cycles)},
                    {"core_cycles", optional(overlap.core_cycles)},
                    {"saved_cycles", optional(overlap.saved_cycles)},
                    {"saved_us", optional(overlap.saved_us)}});
  }
  return list;
}

Json ops_json(const RunResult& result, const RunTimes& times) {
  const Outcome& outcome = result.outcome;
  Json list = Json::array();
  for (size_t i = 0; i < outcome.qemu->ops.size(); ++i) {
    const hostrun::OpInstructions& op = outcome.qemu->ops[i];
    Json row = {{"name", op.op}};
    if (const auto call = outcome.npu_calls.find(i); call != outcome.npu_calls.end()) {
      row["npu"] = call->second.npu;
      row["cycles"] = call->second.cycles ? Json(*call->second.cycles) : Json(nullptr);
      row["simulator_instructions"] = op.instructions;
    } else {
      row["instructions"] = op.instructions;
      if (times.cycles[i]) row["cycles"] = *times.cycles[i];
    }
    if (times.us[i]) row["time_us"] = *times.us[i];
    list.push_back(std::move(row));
  }
  return list;
}

void add_board_json(const RunResult& result, Json* json) {
  const hostrun::QemuFacts& qemu = *result.outcome.qemu;
  const int64_t simulator = simulator_instructions(result.outcome);
  (*json)["instructions"] = qemu.instructions - simulator;
  (*json)["instructions_include_npu"] = result.outcome.npu_simulated && simulator == 0;
  if (simulator != 0) (*json)["simulator_instructions"] = simulator;
  if (const auto cycles = npu_cycles(result.outcome)) (*json)["npu_cycles"] = *cycles;
  (*json)["instructions_init"] = qemu.instructions_init;
  (*json)["instructions_total"] = qemu.instructions_total;
  (*json)["load_instructions"] = qemu.instructions_init;  // its earlier name, for scripts
  if (qemu.instructions_overhead) (*json)["overhead_instructions"] = *qemu.instructions_overhead;
  (*json)["state_bytes"] = qemu.state_bytes;
  (*json)["stack_bytes"] = qemu.stack_bytes;
  const RunTimes times = times_of(result);
  if (!result.outcome.npu_calls.empty()) (*json)["overlaps"] = to_json(times.overlaps);
  if (!result.model.times.part.empty()) (*json)["part"] = result.model.times.part;
  if (times.core_cycles) (*json)["cycles"] = *times.core_cycles;
  if (times.total_us) {
    const PartTimes& part = result.model.times;
    (*json)["time_us"] = *times.total_us;
    (*json)["time_error_percent"] =
        part.error_percent > 0 ? Json(part.error_percent) : Json(nullptr);
    (*json)["memories_without_waits"] = part.memories_without_waits;
    if (!part.no_waits.empty()) (*json)["no_wait_states"] = part.no_waits;
  }
  if (!qemu.ops.empty()) (*json)["ops"] = ops_json(result, times);
}

Json to_json(const RunResult& result) {
  Json json;
  json["outputs"] = Json::array();
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const hostrun::Port& port = result.model.outputs[i];
    json["outputs"].push_back({{"name", port.name},
                               {"dtype", ir::dtype_text(port.dtype)},
                               {"shape", result.outputs[i].shape},
                               {"dim_order", hostrun::full_order(port)},
                               {"sha256", sha256(result.outputs[i].bytes)}});
  }
  json["calls"] = result.outcome.outputs.size();
  json["inputs_are_zeros"] = result.zeros;
  if (!result.model.note.empty()) json["note"] = result.model.note;
  if (!result.outcome.note.empty()) json["note"] = result.outcome.note;
  if (result.outcome.arena_bytes_used) json["arena_bytes_used"] = *result.outcome.arena_bytes_used;
  if (result.outcome.qemu) add_board_json(result, &json);
  if (result.outcome.serial) add_serial_json(result.model, result.outcome, &json);
  if (!result.etdump_unit.empty()) json["etdump_time_unit"] = result.etdump_unit;
  if (!result.outcome.npu.empty()) json["npu"] = to_json(result.outcome.npu);
  return json;
}

void print_profiles(const std::vector<hostrun::NpuProfile>& profiles, const PartTimes& times) {
  for (const hostrun::NpuProfile& profile : profiles) {
    const std::optional<double> us = times.npu_us(profile.delegate, profile.cycles);
    const std::string time = us ? fmt::format(", {} at {:g} MHz", driver::time_text(*us),
                                              times.npus.at(profile.delegate).clock_mhz)
                                : "";
    std::printf("  %s in %s: %s cycles%s (estimate)\n", profile.npu.c_str(), profile.system.c_str(),
                with_commas(std::llround(profile.cycles)).c_str(), time.c_str());
    for (const std::string& hazard : profile.hazards) {
      std::printf("  hazard: %s\n", hazard.c_str());
    }
    std::printf("  %-8s %-34s %12s %10s %12s  %s\n", "word", "operation", "start", "cycles", "MACs",
                "bound by");
    for (const hostrun::NpuOperation& op : profile.operations) {
      std::printf("  %-8u %-34s %12s %10s %12s  %s\n", op.word, op.name.c_str(),
                  with_commas(std::llround(op.start)).c_str(),
                  with_commas(std::llround(op.end - op.start)).c_str(),
                  with_commas(static_cast<int64_t>(op.macs)).c_str(), op.bound.c_str());
    }
  }
}

/// `y = [0.98, 0.01, ...]`, with at most kShown values.
std::string values_text(const hostrun::Port& port, const ir::Tensor& tensor) {
  constexpr size_t kShown = 10;
  const std::vector<double> values = values_of(tensor);
  std::string text = port.name + " = [";
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    text += fmt::format("{}{:.4g}", i == 0 ? "" : ", ", values[i]);
  }
  return text + (values.size() > kShown ? ", ...]" : "]");
}

/// The total time, or how to get it.
std::string time_line(const RunTimes& times, const PartTimes& part) {
  if (!times.total_us) return no_times_line(part);
  const std::string band =
      part.error_percent > 0 ? fmt::format(", +-{:.0f} %", part.error_percent) : "";
  std::string text =
      fmt::format("  {} for one inference on {}, an estimate{}; core {:g} MHz",
                  driver::time_text(*times.total_us), part.part, band, part.core_mhz);
  if (!part.npus.empty()) {  // the NPUs of a part have one clock
    const engine::NpuTiming& npu = part.npus.begin()->second;
    text += fmt::format("; NPU {:g} MHz", npu.clock_mhz);
    if (npu.call_us > 0) text += fmt::format(", {:g} us per call", npu.call_us);
  }
  return text + "\n";
}

void print_instructions(const RunResult& result, const RunTimes& times) {
  const Outcome& outcome = result.outcome;
  const PartTimes& part = result.model.times;
  const hostrun::QemuFacts& facts = *outcome.qemu;
  const auto calls = static_cast<int64_t>(outcome.outputs.size());
  const auto row = [](const std::string& what, const std::string& count,
                      const std::string& cycles = "", const std::string& time = "") {
    std::printf("  %-46s %15s %15s%s\n", what.c_str(), count.c_str(), cycles.c_str(),
                time.empty() ? "" : fmt::format(" {:>11}", time).c_str());
  };
  const auto time_of = [](std::optional<double> us) { return us ? driver::time_text(*us) : ""; };
  const auto per_call = [&](std::optional<int64_t> sum) {
    return sum ? with_commas(*sum / calls) : std::string();
  };
  const bool has_times =
      std::ranges::any_of(times.us, [](const std::optional<double>& us) { return us.has_value(); });
  const std::string first = calls == 1 ? "op" : fmt::format("op, mean over {} calls", calls);
  row(first, "instructions", "cycles", has_times ? "time" : "");
  for (size_t i = 0; i < facts.ops.size(); ++i) {
    const hostrun::OpInstructions& op = facts.ops[i];
    const auto call = outcome.npu_calls.find(i);
    if (call == outcome.npu_calls.end()) {
      row(op.op, per_call(op.instructions), per_call(times.cycles[i]), time_of(times.us[i]));
    } else if (call->second.cycles) {
      row(op.op, "of " + call->second.npu, with_commas(*call->second.cycles), time_of(times.us[i]));
    } else {
      row(op.op, "of " + call->second.npu, "no estimate");
    }
  }
  const int64_t simulator = simulator_instructions(outcome);
  if (simulator != 0) {
    row("inference, core without delegates", per_call(facts.instructions - simulator),
        per_call(times.core_cycles));
    const std::optional<int64_t> on_npu = npu_cycles(outcome);
    if (on_npu) row("inference, NPU", "", with_commas(*on_npu));
    int64_t saved = 0;
    for (const RunOverlap& overlap : times.overlaps) {
      row(fmt::format("core while {} works", overlap.npu), "",
          overlap.core_cycles ? with_commas(*overlap.core_cycles) : "",
          time_of(overlap.saved_us ? std::optional(-*overlap.saved_us) : std::nullopt));
      saved += overlap.saved_cycles.value_or(0);
    }
    const bool one_clock = !times.overlaps.empty() && !times.total_us;
    if (one_clock && on_npu && times.core_cycles) {
      row("inference, core and NPU, if they have one clock", "",
          with_commas(*times.core_cycles / calls + *on_npu - saved));
    }
    if (times.total_us) row("inference, core and NPU", "", "", time_of(times.total_us));
  } else if (outcome.npu_simulated) {
    row("inference", "not counted: the NPU is simulated");
  } else {
    row("inference", per_call(facts.instructions), per_call(times.core_cycles),
        time_of(times.total_us));
  }
  if (facts.instructions_overhead) {
    row("one inference, outside of kernels", with_commas(*facts.instructions_overhead));
  }
  row("init, once", with_commas(facts.instructions_init));
  std::printf("  instructions are counted, cycles are modelled from them %s\n",
              waits_text(part).c_str());
  const std::string note = no_waits_text(part);
  if (times.total_us && !note.empty()) std::printf("  note: %s\n", note.c_str());
}

void print_facts(const RunResult& result, bool profile) {
  const Outcome& outcome = result.outcome;
  RunTimes times;
  if (outcome.qemu) {
    times = times_of(result);
    print_instructions(result, times);
  }
  print_profiles(outcome.npu, result.model.times);
  if (profile && !outcome.serial) {
    std::fputs(time_line(times, result.model.times).c_str(), stdout);
  }
  if (!outcome.arena_bytes_used) return;
  if (outcome.serial) {
    print_serial(result.model, outcome);
    return;
  }
  std::string line = fmt::format("  arena used {} B", with_commas(*outcome.arena_bytes_used));
  if (const auto& qemu = outcome.qemu) {
    line += fmt::format("; state {} B; stack high-water {} B, measured",
                        with_commas(qemu->state_bytes), with_commas(qemu->stack_bytes));
  }
  std::printf("%s\n", line.c_str());
}

const char* series_text(const RunResult& result, const RunArguments& arguments) {
  if (!arguments.steps) return "one for each sample";
  return result.model.has_state ? "a series that keeps the state" : "a series";
}

Result<BundledResult> check_bundled(const RunArguments& arguments) {
  const bool has_data = !arguments.inputs.empty() || !arguments.output.empty() ||
                        !arguments.method.empty() || arguments.steps || arguments.profile ||
                        !arguments.trace.empty() || !arguments.etdump.empty() ||
                        !arguments.etdump_outputs.empty();
  if (has_data) {
    return bad_input(
        "--bundled: the file has its own inputs and methods: remove --input, --output, --method, "
        "--steps, --profile, --trace, --etdump and --etdump-outputs");
  }
  THIMBLE_TRY(const OpenOptions options, open_options(arguments));
  return run_bundled(arguments.model, options, {arguments.rtol, arguments.atol});
}

Json to_json(const BundledResult& result) {
  Json cases = Json::array();
  for (const CaseResult& each : result.cases) {
    cases.push_back({{"method", each.method},
                     {"case", each.index},
                     {"passed", each.passed},
                     {"error_max", number(each.error_max)}});
    if (!each.passed) cases.back()["difference"] = each.difference;
  }
  return {{"on", result.where}, {"failed", result.failed()}, {"cases", cases}};
}

int run_bundled_file(const RunArguments& arguments) {
  const Result<BundledResult> result = check_bundled(arguments);
  if (!result) return fail(result.error(), arguments.json);
  if (arguments.json) {
    print_json(to_json(*result));
  } else {
    std::printf("%s on %s\n", arguments.model.filename().c_str(), result->where.c_str());
    for (const CaseResult& each : result->cases) {
      if (each.passed) continue;
      std::printf("  failed: %s, test case %zu: %s\n", each.method.c_str(), each.index,
                  each.difference.c_str());
    }
    std::printf("  %zu of %zu test cases passed\n", result->cases.size() - result->failed(),
                result->cases.size());
  }
  return result->failed() == 0 ? 0 : 1;
}

int run(const RunArguments& arguments) {
  if (arguments.bundled) return run_bundled_file(arguments);
  const Result<RunResult> result = run_model(arguments);
  if (!result) return fail(result.error(), arguments.json);
  if (arguments.json) {
    print_json(to_json(*result));
    return 0;
  }
  std::printf("%s on %s\n", result->model.label.c_str(), result->model.where.c_str());
  for (const std::string& note : {result->model.note, result->outcome.note}) {
    if (!note.empty()) std::printf("  note: %s\n", note.c_str());
  }
  if (result->zeros) std::printf("  no --input: all inputs are zeros\n");
  const size_t calls_made = result->outcome.outputs.size();
  if (calls_made > 1) std::printf("  %zu calls, %s\n", calls_made, series_text(*result, arguments));
  for (size_t i = 0; i < result->outputs.size(); ++i) {
    std::printf("  %s\n", values_text(result->model.outputs[i], result->outputs[i]).c_str());
  }
  print_facts(*result, arguments.profile);
  if (!result->etdump_unit.empty()) {
    std::printf("  ETDump written to %s, times in %s\n", arguments.etdump.c_str(),
                result->etdump_unit.c_str());
  }
  if (!arguments.output.empty()) std::printf("  written to %s\n", arguments.output.c_str());
  return 0;
}

}  // namespace

Result<Json> run_json(const RunArguments& arguments) {
  if (arguments.bundled) {
    THIMBLE_TRY(const BundledResult result, check_bundled(arguments));
    return to_json(result);
  }
  THIMBLE_TRY(const RunResult result, run_model(arguments));
  return to_json(result);
}

void add_run_options(Verb& verb, RunArguments* arguments) {
  RunArguments& a = *arguments;
  verb.option("model", a.model, "A .pte, a .pt2 (its float graph) or an .ir").required();
  verb.option("--input", a.inputs,
              "One .npy per input, in order, or one .npz with all of them by name; several samples "
              "of a model without state are run one by one")
      .take_all();
  verb.option("--output", a.output, "Folder for output_0.npy, output_1.npy, ...");
  verb.option("--on", a.on,
              "Platform that runs the model; default: host for a .pte, eval for other files; "
              "linux[:DEVICE]: the NPU of this Linux machine; serial:PORT[:BAUD]: a board with "
              "examples/serial_runner")
      .one_of_or_prefix({"host", "qemu", "fvp", "eval", "linux", "linux:", "serial:"});
  verb.option("--fvp", a.fvp, "The FVP of a Corstone-300 for --on fvp; default: THIMBLE_FVP");
  verb.option("--time-limit", a.time_limit, "Time limit of a board in seconds").positive();
  verb.option("--patience", a.patience,
              "With --on serial: seconds without an answer after which the run fails")
      .positive();
  verb.option("--target", a.target,
              "Target of a .pte that does not name one; with --profile, the part whose clocks and "
              "wait states give times");
  verb.option("--shape", a.shapes, kShapeHelp).take_all();
  verb.flag("--steps", a.steps, "The first axis of each input is a series of calls");
  verb.flag("--profile", a.profile,
            "Instructions of each operator (--on qemu), its cycles (--on serial); on the host, "
            "cycles of the NPU");
  verb.option("--trace", a.trace, "With --profile: a file for Perfetto and Chrome's tracing");
  verb.option("--method", a.method, "Method of a .pte with several; default: forward");
  verb.option("--load-state", a.load_state,
              "On the host or the evaluator: begin with the states of this file");
  verb.option("--save-state", a.save_state,
              "Write the states after the last call, for --load-state of another method");
  verb.option("--ptd", a.data_file,
              "File with the constants of a .pte that has them outside (.ptd)");
  verb.flag("--bundled", a.bundled,
            "The file is a bundled program (.bpte): run its test cases; exit code 1 if one fails");
  verb.option("--rtol", a.rtol, "With --bundled: relative tolerance of float outputs");
  verb.option("--atol", a.atol, "With --bundled: absolute tolerance of float outputs");
  verb.option(
      "--etdump", a.etdump,
      "A trace for ExecuTorch's Inspector: times of the host, or modelled ones (--on qemu)");
  verb.option(
      "--etdump-outputs", a.etdump_outputs,
      "With --etdump on the host: the tensors of each operator, the Inspector's debug buffer");
  verb.flag("--json", a.json, "Print the result as one JSON object");
}

void add_run(CommandLine& line, int* exit_code) {
  Verb verb(line, "run", "Run a .pte, .pt2 or .ir and show its outputs");
  auto arguments = std::make_shared<RunArguments>();
  add_run_options(verb, arguments.get());
  verb.callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace thimble::tools
