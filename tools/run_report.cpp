// SPDX-License-Identifier: Apache-2.0
#include "tools/run_report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/sha256.h"
#include "driver/report.h"
#include "ir/dtype_text.h"
#include "tools/quality.h"
#include "tools/run_times.h"
#include "tools/serial_output.h"

namespace thimble::tools {
namespace {

using driver::with_commas;

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
  const RunTimes times = times_of(result.outcome, result.model.times);
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

}  // namespace

std::string values_text(const hostrun::Port& port, const ir::Tensor& tensor) {
  constexpr size_t kShown = 10;
  const std::vector<double> values = values_of(tensor);
  std::string text = port.name + " = [";
  for (size_t i = 0; i < std::min(values.size(), kShown); ++i) {
    text += fmt::format("{}{:.4g}", i == 0 ? "" : ", ", values[i]);
  }
  return text + (values.size() > kShown ? ", ...]" : "]");
}

void print_facts(const RunResult& result, bool profile) {
  const Outcome& outcome = result.outcome;
  RunTimes times;
  if (outcome.qemu) {
    times = times_of(result.outcome, result.model.times);
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

}  // namespace thimble::tools
