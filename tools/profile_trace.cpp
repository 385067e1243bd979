// SPDX-License-Identifier: Apache-2.0
#include "tools/profile_trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "emit/layers.h"
#include "formats/pte/delegate_overlap.h"
#include "formats/pte/read.h"
#include "hostrun/interface.h"
#include "hostrun/npu_profile.h"
#include "report/chrome_trace.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;
namespace pte = formats::pte;

/// Returns the profile of the call's delegate; null if its cycles have no estimate.
const hostrun::NpuProfile* profile_of(const pte::DelegateCall& call,
                                      const std::vector<hostrun::NpuProfile>& profiles) {
  const auto profile = std::ranges::find(profiles, static_cast<size_t>(call.delegate_index),
                                         &hostrun::NpuProfile::delegate);
  return profile == profiles.end() ? nullptr : &*profile;
}

class Builder {
 public:
  Builder(const pte::Program& program, const Outcome& outcome, const PartTimes& times)
      : plan_(program.plans[0]),
        overlaps_(pte::delegate_overlaps(program, plan_)),
        outcome_(outcome),
        times_(times) {
    double npu_mhz = 0;  // the NPUs of a part have one clock
    for (const auto& [delegate, npu] : times.npus) npu_mhz = npu.clock_mhz;
    has_clock_ = times.core_mhz > 0 && (npu_mhz > 0 || times.profiles.empty());
    if (has_clock_) {
      core_scale_ = 1 / times.core_mhz;
      npu_scale_ = npu_mhz > 0 ? 1 / npu_mhz : 1;
    } else {
      trace_.unit = outcome.qemu ? "1 us = 1 instruction of the core or 1 cycle of the NPU"
                                 : "1 us = 1 cycle of the NPU";
      trace_.notes.emplace_back("no clock is known: --target PART gives that of a part");
    }
  }

  report::Trace build(std::string process, const std::string& core,
                      const std::vector<emit::InstructionResult>& results) {
    trace_.process = std::move(process);
    trace_.lanes = {{core, {}}};
    const std::vector<pte::Instruction>& instructions = plan_.chains[0].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      report::TraceEvent event;
      event.start = now_;
      if (i < results.size() && !results[i].name.empty()) event.details["result"] = results[i].name;
      if (const auto* call = std::get_if<pte::DelegateCall>(&instructions[i])) {
        const auto overlap = std::ranges::find(overlaps_, i, &pte::DelegateOverlap::call);
        const double end = add_delegate(*call, std::move(event), overlap != overlaps_.end());
        if (overlap != overlaps_.end()) waits_[i + overlap->calls] = end;
      } else {
        add_kernel(i, std::move(event));
      }
      if (const auto wait = waits_.find(i); wait != waits_.end()) {
        now_ = std::max(now_, wait->second);
      }
    }
    if (!outcome_.qemu) {
      trace_.lanes[0].name += ", operators not measured: --on qemu measures them";
    }
    return std::move(trace_);
  }

 private:
  void add_kernel(size_t index, report::TraceEvent event) {
    if (!outcome_.qemu || index >= outcome_.qemu->ops.size()) return;
    const hostrun::OpInstructions& op = outcome_.qemu->ops[index];
    const auto calls = static_cast<double>(std::max<size_t>(outcome_.outputs.size(), 1));
    const bool cycles = op.cycles && has_clock_;
    const auto waits = static_cast<double>(times_.waits_of(index));
    const auto count = cycles ? static_cast<double>(*op.cycles) / calls + waits
                              : static_cast<double>(op.instructions) / calls;
    event.name = op.op;
    event.duration = count * core_scale_;
    event.details["instructions"] = static_cast<double>(op.instructions) / calls;
    if (op.cycles) {
      event.details["cycles"] = static_cast<double>(*op.cycles) / calls + waits;
    }
    now_ += event.duration;
    trace_.lanes[0].events.push_back(std::move(event));
  }

  /// Returns the end of the delegate. If the core works in the meantime, its lane has no event for
  /// the delegate.
  double add_delegate(const pte::DelegateCall& call, report::TraceEvent event, bool overlaps) {
    const std::string& id = plan_.delegates[static_cast<size_t>(call.delegate_index)].id;
    const hostrun::NpuProfile* const profile = profile_of(call, times_.profiles);
    event.name = "delegate " + id;
    if (profile == nullptr) {
      const std::string note = fmt::format("{}: this build has no estimate of its cycles", id);
      if (std::ranges::find(trace_.notes, note) == trace_.notes.end()) trace_.notes.push_back(note);
      event.details["cycles"] = nullptr;
      trace_.lanes[0].events.push_back(std::move(event));
      return now_;
    }
    event.duration = profile->cycles * npu_scale_;
    event.details["cycles"] = profile->cycles;
    auto lane = std::ranges::find(trace_.lanes, profile->npu, &report::TraceLane::name);
    if (lane == trace_.lanes.end()) {
      lane = trace_.lanes.insert(trace_.lanes.end(), {profile->npu, {}});
    }
    for (const hostrun::NpuOperation& operation : profile->operations) {
      report::TraceEvent inner;
      inner.name = operation.name;
      inner.start = now_ + operation.start * npu_scale_;
      inner.duration = (operation.end - operation.start) * npu_scale_;
      inner.details = {{"cycles", operation.end - operation.start},
                       {"bound", operation.bound},
                       {"macs", operation.macs},
                       {"word", operation.word}};
      lane->events.push_back(std::move(inner));
    }
    const double end = now_ + event.duration;
    if (overlaps) return end;
    now_ = end;
    trace_.lanes[0].events.push_back(std::move(event));
    return end;
  }

  const pte::ExecutionPlan& plan_;
  const std::vector<pte::DelegateOverlap> overlaps_;
  const Outcome& outcome_;
  const PartTimes& times_;
  bool has_clock_ = false;
  // Times of the trace per cycle or instruction of the core, and per cycle of the NPU.
  double core_scale_ = 1, npu_scale_ = 1;
  double now_ = 0;
  std::map<size_t, double> waits_;  // end of a delegate, by the last call before its wait
  report::Trace trace_;
};

}  // namespace

Result<std::string> profile_trace(const fs::path& path, const Model& model,
                                  const Outcome& outcome) {
  THIMBLE_TRY(const Bytes bytes, read_file(path));
  THIMBLE_TRY(const pte::Program program, pte::read(bytes, model.label));
  THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_interface(program, model.label));
  THIMBLE_TRY(const auto names, emit::read_layers(program));
  Builder builder(program, outcome, model.times);
  const std::string core = interface.target.empty() ? "core" : interface.target;
  return report::trace_json(builder.build(fmt::format("{} on {}", model.label, model.where), core,
                                          names.value_or(std::vector<emit::InstructionResult>())));
}

}  // namespace thimble::tools
