// SPDX-License-Identifier: Apache-2.0
#include "tools/etdump.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <variant>

#include "emit/debug_handles.h"
#include "emit/dtypes.h"
#include "emit/layers.h"
#include "formats/etdump/etdump.h"
#include "tools/quality.h"

namespace thimble::tools {
namespace {

namespace pte = formats::pte;
namespace etdump = formats::etdump;

/// Names of events in ExecuTorch's runtime.
constexpr char kRunName[] = "Execute", kMethodName[] = "Method::execute",
               kDelegateName[] = "DELEGATE_CALL", kKernelPrefix[] = "native_call_";

/// Operator name without its namespace.
std::string kernel_event(const std::string& op) {
  const size_t at = op.find("::");
  return kKernelPrefix + (at == std::string::npos ? op : op.substr(at + 2));
}

class Writer {
 public:
  Writer(const pte::Program& program, const PartTimes& times,
         std::vector<emit::InstructionResult> layers)
      : plan_(hostrun::executed_plan(program)), times_(times), layers_(std::move(layers)) {}

  /// Times of the host. Several calls whose tensors differ are runs of their own for the Inspector,
  /// as test cases of a bundled program are.
  void add_host_call(const hostrun::CallTrace& trace, const std::vector<ir::Tensor>& outputs,
                     bool tensors, int32_t test_case) {
    etdump::Run& run = runs_.emplace_back();
    run.name = kRunName;
    run.bundled_input = test_case;
    for (const hostrun::TracedInstruction& each : trace.instructions) {
      add_instruction(each.index, each.start_ns, each.end_ns, host_npu_scale());
      for (size_t i = 0; i < each.tensors.size(); ++i) {
        add_tensor(each.index, real_tensor(each, i), false);
      }
    }
    run.events.push_back(
        etdump::ProfileEvent{kMethodName, etdump::kNoInstruction, "", "", 0, trace.end_ns});
    if (!tensors) return;
    for (const ir::Tensor& output : outputs) add_tensor({}, output, true);
  }

  /// Modelled cycles of a board.
  Status add_board(const hostrun::QemuFacts& facts, const Outcome& outcome) {
    const auto calls = static_cast<double>(std::max<size_t>(outcome.outputs.size(), 1));
    runs_.push_back({kRunName, -1, {}});
    set_board_unit();
    double now = 0;
    std::map<size_t, double> waits;  // end of the delegate, by the last call before its wait
    for (size_t i = 0; i < facts.ops.size(); ++i) {
      std::optional<double> duration;
      if (const auto call = outcome.npu_calls.find(i); call != outcome.npu_calls.end()) {
        if (call->second.cycles) {
          duration = static_cast<double>(*call->second.cycles) * npu_scale_;
        }
      } else if (facts.ops[i].cycles) {
        const double cycles = static_cast<double>(*facts.ops[i].cycles) / calls;
        duration = (cycles + static_cast<double>(times_.waits_of(i))) * core_scale_;
      }
      if (!duration) return unsupported("--etdump: instruction {} has no cycles", i);
      add_instruction(i, round(now), round(now + *duration), npu_scale_);
      const auto overlap = std::ranges::find(outcome.overlaps, i, &pte::DelegateOverlap::call);
      if (overlap == outcome.overlaps.end()) {
        now += *duration;
      } else {
        waits[i + overlap->calls] = now + *duration;
      }
      if (const auto wait = waits.find(i); wait != waits.end()) now = std::max(now, wait->second);
    }
    runs_.back().events.push_back(
        etdump::ProfileEvent{kMethodName, etdump::kNoInstruction, "", "", 0, round(now)});
    return ok();
  }

  Etdump finish() { return {etdump::write(runs_), std::move(buffer_), unit_}; }

 private:
  static uint64_t round(double time) { return static_cast<uint64_t>(std::llround(time)); }

  /// Clock of the NPUs of the part in MHz: they have one. 0: not known.
  [[nodiscard]] double npu_mhz() const {
    return times_.npus.empty() ? 0 : times_.npus.begin()->second.clock_mhz;
  }
  /// Time of the dump per cycle of the NPU.
  [[nodiscard]] double host_npu_scale() const { return npu_mhz() > 0 ? 1e3 / npu_mhz() : 1; }

  /// Nanoseconds if all clocks are known.
  void set_board_unit() {
    const bool has_clocks = times_.core_mhz > 0 && (npu_mhz() > 0 || times_.profiles.empty());
    unit_ = has_clocks ? "ns" : "cycles";
    if (!has_clocks) return;
    core_scale_ = 1e3 / times_.core_mhz;
    npu_scale_ = host_npu_scale();
  }

  void add_instruction(size_t index, uint64_t start, uint64_t end, double npu_scale) {
    const pte::Instruction& instruction = plan_.chains[0].instructions[index];
    etdump::ProfileEvent event;
    event.instruction = static_cast<int32_t>(index);
    event.start = start;
    event.end = end;
    if (const auto* call = std::get_if<pte::KernelCall>(&instruction)) {
      event.name =
          kernel_event(pte::full_name(plan_.operators[static_cast<size_t>(call->op_index)]));
    } else if (const auto* delegate = std::get_if<pte::DelegateCall>(&instruction)) {
      event.name = kDelegateName;
      add_operations(*delegate, event, npu_scale);
    }
    runs_.back().events.push_back(std::move(event));
  }

  /// Events of the operations inside a delegate call; they are estimates.
  void add_operations(const pte::DelegateCall& call, const etdump::ProfileEvent& outer,
                      double npu_scale) {
    const auto profile = std::ranges::find(
        times_.profiles, static_cast<size_t>(call.delegate_index), &hostrun::NpuProfile::delegate);
    if (profile == times_.profiles.end()) return;
    for (const hostrun::NpuOperation& operation : profile->operations) {
      etdump::ProfileEvent event;
      event.instruction = outer.instruction;
      event.delegate_id = emit::operation_id(operation.word);
      event.metadata = fmt::format("operation={} npu={} cycles={} macs={} bound={}", operation.name,
                                   profile->npu, round(operation.end - operation.start),
                                   operation.macs, operation.bound);
      event.start = outer.start + round(operation.start * npu_scale);
      event.end = outer.start + round(operation.end * npu_scale);
      runs_.back().events.push_back(std::move(event));
    }
  }

  /// The tensor's real values, if the file has its scale.
  [[nodiscard]] ir::Tensor real_tensor(const hostrun::TracedInstruction& instruction,
                                       size_t index) const {
    const ir::Tensor& tensor = instruction.tensors[index];
    const bool is_result = index + 1 == instruction.tensors.size();
    if (!is_result || instruction.index >= layers_.size()) return tensor;
    const emit::InstructionResult& layer = layers_[instruction.index];
    return layer.scale == 0 ? tensor : to_real(tensor, layer.scale, layer.zero_point);
  }

  void add_tensor(std::optional<size_t> instruction, const ir::Tensor& tensor, bool is_output) {
    etdump::DebugEvent event;
    if (instruction) event.instruction = static_cast<int32_t>(*instruction);
    event.scalar_type = emit::scalar_type(tensor.dtype);
    event.sizes.assign(tensor.shape.begin(), tensor.shape.end());
    align_size(buffer_, 16);
    event.offset = buffer_.size();
    event.is_output = is_output;
    append(buffer_, tensor.bytes);
    runs_.back().events.push_back(std::move(event));
  }

  const pte::ExecutionPlan& plan_;
  const PartTimes& times_;
  std::vector<emit::InstructionResult> layers_;
  std::string unit_ = "ns";
  double core_scale_ = 1, npu_scale_ = 1;  // time of the dump per cycle on the board
  std::vector<etdump::Run> runs_;
  Bytes buffer_;
};

}  // namespace

Result<Etdump> etdump_of(const Model& model, const Outcome& outcome) {
  if (model.program == nullptr) return bad_input("--etdump: requires a .pte");
  const pte::Program& program = *model.program;
  THIMBLE_TRY(auto layers, emit::read_layers(program));
  Writer writer(program, model.times,
                layers.has_value() ? std::move(*layers) : std::vector<emit::InstructionResult>());
  if (outcome.qemu) {
    THIMBLE_CHECK(writer.add_board(*outcome.qemu, outcome));
    return writer.finish();
  }
  const bool tensors = std::ranges::any_of(outcome.traces, [](const hostrun::CallTrace& trace) {
    return std::ranges::any_of(trace.instructions,
                               [](const auto& i) { return !i.tensors.empty(); });
  });
  for (size_t call = 0; call < outcome.traces.size(); ++call) {
    const bool alone = !tensors || outcome.traces.size() == 1;
    writer.add_host_call(outcome.traces[call], outcome.outputs[call], tensors,
                         alone ? -1 : static_cast<int32_t>(call));
  }
  return writer.finish();
}

}  // namespace thimble::tools
