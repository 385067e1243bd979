// SPDX-License-Identifier: Apache-2.0
#include "tools/program_facts.h"

#include <algorithm>
#include <cmath>

#include "abi/pte_ops.h"
#include "driver/linked_size.h"
#include "driver/missing_waits.h"
#include "driver/npu_cycles.h"
#include "driver/object_placement.h"
#include "driver/operand_memories.h"
#include "driver/overlap.h"
#include "driver/part_memories.h"
#include "driver/run_time.h"
#include "driver/runtime_work.h"
#include "emit/decompile.h"
#include "emit/layers.h"
#include "emit/state_entry.h"
#include "formats/pte/delegate_overlap.h"
#include "formats/pte/read.h"
#include "formats/pte/records.h"
#include "hostrun/interface.h"
#include "hostrun/npu_profile.h"

namespace thimble::tools {
namespace {

namespace pte = formats::pte;

const std::vector<int32_t>* arguments_of(const pte::Instruction& instruction) {
  if (const auto* call = std::get_if<pte::KernelCall>(&instruction)) return &call->args;
  if (const auto* call = std::get_if<pte::DelegateCall>(&instruction)) return &call->args;
  return nullptr;
}

const pte::Tensor* tensor_at(const pte::ExecutionPlan& plan, int32_t index) {
  return std::get_if<pte::Tensor>(&plan.values[static_cast<size_t>(index)]);
}

/// Bytes of the constants that the arguments name.
int64_t constants_of(const pte::Program& program, const std::vector<int32_t>& arguments) {
  const pte::ExecutionPlan& plan = program.plans[0];
  int64_t bytes = 0;
  for (const int32_t index : arguments) {
    const pte::Tensor* const tensor = tensor_at(plan, index);
    if (tensor == nullptr || tensor->allocation || tensor->data_buffer_idx == 0) continue;
    bytes += static_cast<int64_t>(pte::data_bytes(*tensor).value_or(0));
  }
  return bytes;
}

/// Returns the call with its arguments of the file: constants, scratch, the operator's inputs in
/// order, and None for all others. The cost of a call depends on its packed constant.
engine::KernelCall with_arguments(const pte::Program& program, const ir::Graph& graph,
                                  const engine::KernelCall& kernel,
                                  const std::vector<int32_t>& arguments) {
  engine::KernelCall call = kernel;
  std::vector<ir::ValueId> values;
  for (const ir::ValueId input : graph.ops()[static_cast<size_t>(kernel.ir_op)].inputs) {
    if (input != ir::kNoValue && !graph.value(input).constant) values.push_back(input);
  }
  auto value = values.begin();
  const std::string_view letters = abi::info(kernel.op).arguments;
  const size_t count = std::min(arguments.size(), letters.size() - 1);  // without the out tensor
  for (size_t i = 0; i < count; ++i) {
    const pte::Tensor* const tensor = tensor_at(program.plans[0], arguments[i]);
    const bool constant = tensor != nullptr && !tensor->allocation && tensor->data_buffer_idx != 0;
    if (!constant) {
      const bool allocated = tensor != nullptr && tensor->allocation;
      if (allocated && letters[i] == 's') {
        const auto bytes = static_cast<int64_t>(pte::data_bytes(*tensor).value_or(0));
        call.arguments.emplace_back(engine::Scratch{bytes});
      } else if (allocated && value != values.end()) {
        call.arguments.emplace_back(engine::ValueRef{*value++});
      } else {
        call.arguments.emplace_back(engine::None{});
      }
      continue;
    }
    const Bytes& bytes = program.constants[tensor->data_buffer_idx];
    engine::Constant packed;
    packed.bytes = std::make_shared<const Bytes>(bytes);
    call.arguments.emplace_back(std::move(packed));
  }
  return call;
}

/// Shape of the last tensor among the arguments: the result.
ir::Shape result_shape(const pte::ExecutionPlan& plan, const std::vector<int32_t>& arguments) {
  for (auto index = arguments.rbegin(); index != arguments.rend(); ++index) {
    const pte::Tensor* const tensor = tensor_at(plan, *index);
    if (tensor != nullptr) return {tensor->sizes.begin(), tensor->sizes.end()};
  }
  return {};
}

class Reader {
 public:
  Reader(const pte::Program& program, const std::string& label, const engine::Part* part,
         PartCore allowed)
      : program_(program), plan_(program.plans[0]), label_(label), part_(part), allowed_(allowed) {}

  Status run(ProgramFacts* facts) {
    THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_interface(program_, label_));
    THIMBLE_TRY(names_, emit::read_layers(program_));
    const auto systems =
        part_ == nullptr ? std::vector<hostrun::NpuSystem>() : driver::npu_systems(*part_);
    THIMBLE_TRY(profiles_, hostrun::profiles_of(program_, label_, systems));
    calls_ = emit::decompile_calls(program_);
    facts->target = interface.target;
    THIMBLE_CHECK(choose_core(interface.target));
    facts->arena_bytes = interface.arena_bytes;
    THIMBLE_CHECK(add_sizes(facts));
    if (part_ != nullptr) THIMBLE_CHECK(choose_memories(*facts));
    const size_t instructions = plan_.chains[0].instructions.size();
    for (size_t i = 0; i < instructions; ++i) facts->calls.push_back(call(i, interface));
    add_runtime(facts);
    add_time(facts);
    return ok();
  }

 private:
  /// Sets the core whose tables give the estimates: that of the file, or else that of the part. A
  /// file that names neither a core nor a known part has no estimates for a core.
  Status choose_core(const std::string& target) {
    if (!target.empty()) {
      const Result<engine::Part> named = engine::find_part(target);
      if (named) core_ = named->cpu;
    }
    if (part_ == nullptr) return ok();
    const bool runs = core_ == nullptr || part_->cpu == core_ ||
                      (allowed_ == PartCore::kWithItsInstructions && part_->cpu->isa == core_->isa);
    if (!runs) {
      return bad_input("{}: --target {}: its core is {}, the file is compiled for {}", label_,
                       part_->name, part_->cpu->name, core_->name);
    }
    core_ = part_->cpu;
    return ok();
  }

  /// Finds the memories of the operands. On a part with memory speeds they are those that `compile`
  /// chooses; a file that fits in none has no wait states.
  Status choose_memories(const ProgramFacts& facts) {
    driver::CompileReport report;
    report.pte_bytes = facts.file_bytes;
    report.arena_bytes = facts.arena_bytes;
    report.state_bytes = facts.state_bytes;
    report.linked = facts.linked;
    if (!part_->has_memory_speeds()) {
      memories_ = driver::operand_memories(*part_, std::nullopt, nullptr);
      return ok();
    }
    driver::list_memories(*part_, calls_.lowered, &report);
    const std::optional<engine::Lowered> lowered = with_all_arguments();
    if (!lowered) return ok();
    const Status placed = driver::place_objects(*lowered, *part_, program_, false,
                                                driver::memory_sizes({}, *part_), &report);
    if (placed) memories_ = driver::operand_memories(*part_, report.placement, &program_);
    if (placed || placed.error().kind == ErrorKind::kUnsupported) return ok();
    return placed.error();
  }

  /// Returns a lowered program with a call for each instruction, with its arguments; nothing if an
  /// instruction has none.
  std::optional<engine::Lowered> with_all_arguments() const {
    engine::Lowered lowered = calls_.lowered;
    lowered.calls.clear();
    const auto& instructions = plan_.chains[0].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      const bool known = i < calls_.call_of.size() && calls_.call_of[i];
      if (!known) return std::nullopt;
      lowered.calls.push_back(with_arguments(program_, lowered.graph,
                                             calls_.lowered.calls[*calls_.call_of[i]],
                                             *arguments_of(instructions[i])));
    }
    return lowered;
  }

  void add_runtime(ProgramFacts* facts) const {
    if (core_ == nullptr) return;
    const engine::RuntimeWork work = driver::runtime_work(program_);
    facts->runtime_cycles = driver::runtime_cycles(work, *core_, memories_);
    if (part_ != nullptr) {
      driver::MissingWaits missing = driver::missing_waits(*part_, memories_);
      facts->has_time_band =
          driver::has_time_band(*part_->cpu, missing, !plan_.delegates.empty(), 0);
      facts->memories_without_waits = std::move(missing.memories);
    }
    const auto without_waits = driver::runtime_cycles(work, *core_, {});
    facts->runtime_wait_cycles = facts->runtime_cycles.value_or(0) - without_waits.value_or(0);
  }

  /// Sets the time of one run, if all parts of it are known.
  void add_time(ProgramFacts* facts) const {
    if (part_ == nullptr || part_->clock_mhz <= 0) return;
    std::vector<std::optional<double>> npu_calls_us;
    for (const CallFacts& call : facts->calls) {
      if (call.is_npu) npu_calls_us.push_back(call.time_us);
      if (!call.cycles) return;
    }
    const int64_t core_cycles = facts->core_cycles().value_or(facts->runtime_cycles.value_or(0));
    facts->time_us = driver::run_time_us(core_cycles, part_->clock_mhz, npu_calls_us);
    if (!facts->time_us) return;
    std::vector<std::optional<double>> times;
    for (const CallFacts& call : facts->calls) times.push_back(call.time_us);
    for (const pte::DelegateOverlap& overlap : pte::delegate_overlaps(program_, plan_)) {
      *facts->time_us -= driver::overlap_time(times, overlap.call, overlap.calls).value_or(0);
    }
  }

  Status add_sizes(ProgramFacts* facts) const {
    const auto states = emit::read_states(program_);
    if (!states) return prefixed(label_, states.error());
    for (const emit::StateContent& state : *states) {
      facts->state_bytes += static_cast<int64_t>(state.bytes);
    }
    for (const Bytes& constant : program_.constants) {
      facts->constant_bytes += static_cast<int64_t>(constant.size());
    }
    // Constants of delegates may be named data. Thimble's own entries are no constants.
    for (const pte::NamedData& data : program_.named_data) {
      const bool own = data.key.starts_with("thimble");
      facts->constant_bytes += own ? 0 : static_cast<int64_t>(data.bytes.size());
    }
    for (const pte::DelegateBlob& blob : program_.delegate_blobs) {
      facts->constant_bytes += static_cast<int64_t>(blob.bytes.size());
    }
    if (core_ == nullptr) return ok();
    THIMBLE_TRY(facts->linked, driver::linked_size(*core_, program_, facts->file_bytes));
    return ok();
  }

  CallFacts call(size_t index, const hostrun::Interface& interface) const {
    const pte::Instruction& instruction = plan_.chains[0].instructions[index];
    CallFacts facts;
    facts.kernel = interface.ops[index];
    if (names_) facts.name = (*names_)[index].name;
    facts.engine = core_ == nullptr ? "" : std::string(core_->name);
    if (const auto* arguments = arguments_of(instruction)) {
      facts.shape = result_shape(plan_, *arguments);
      facts.constant_bytes = constants_of(program_, *arguments);
    }
    if (const auto* delegate = std::get_if<pte::DelegateCall>(&instruction)) {
      add_delegate(static_cast<size_t>(delegate->delegate_index), &facts);
    } else if (core_ != nullptr && index < calls_.call_of.size() && calls_.call_of[index]) {
      const engine::KernelCall kernel =
          with_arguments(program_, calls_.lowered.graph,
                         calls_.lowered.calls[*calls_.call_of[index]], *arguments_of(instruction));
      const engine::Cost cost = core_->cost(calls_.lowered, kernel, *core_);
      facts.cycles = cost.cycles;
      facts.measured = cost.cycle_basis == engine::CycleBasis::kMeasured;
      if (facts.cycles && part_ != nullptr) {
        facts.wait_cycles = driver::call_wait_cycles(calls_.lowered, kernel, index, *core_,
                                                     memories_, *facts.cycles);
        *facts.cycles += facts.wait_cycles;
        if (part_->clock_mhz > 0) {
          facts.time_us = static_cast<double>(*facts.cycles) / part_->clock_mhz;
        }
      }
    }
    return facts;
  }

  void add_delegate(size_t index, CallFacts* facts) const {
    const pte::BackendDelegate& row = plan_.delegates[index];
    facts->engine = row.id;
    facts->constant_bytes = static_cast<int64_t>(program_.delegate_blobs[row.blob].bytes.size());
    const auto profile = std::ranges::find(profiles_, index, &hostrun::NpuProfile::delegate);
    if (profile == profiles_.end()) return;
    facts->engine = profile->npu;
    facts->cycles = std::llround(profile->cycles);
    facts->is_npu = true;
    if (part_ == nullptr) return;
    const engine::PartNpu* const use = driver::npu_of(*part_, *profile);
    if (use == nullptr || use->engine->timing == nullptr) return;
    facts->time_us = driver::npu_call_us(use->engine->timing(*use), profile->cycles);
  }

  const pte::Program& program_;
  const pte::ExecutionPlan& plan_;
  const std::string& label_;
  std::optional<std::vector<emit::InstructionResult>> names_;
  std::vector<hostrun::NpuProfile> profiles_;
  emit::DecompiledCalls calls_;
  const engine::Part* part_;
  PartCore allowed_;
  const engine::Core* core_ = nullptr;
  driver::OperandMemories memories_;
};

}  // namespace

std::optional<int64_t> ProgramFacts::core_cycles() const {
  std::optional<int64_t> sum;
  for (const CallFacts& call : calls) {
    if (call.cycles && !call.is_npu) sum = sum.value_or(0) + *call.cycles;
  }
  if (sum) *sum += runtime_cycles.value_or(0);
  return sum;
}

std::optional<int64_t> ProgramFacts::npu_cycles() const {
  std::optional<int64_t> sum;
  for (const CallFacts& call : calls) {
    if (call.cycles && call.is_npu) sum = sum.value_or(0) + *call.cycles;
  }
  return sum;
}

int64_t ProgramFacts::calls_without_estimate() const {
  return std::ranges::count_if(calls, [](const CallFacts& call) { return !call.cycles; });
}

int64_t ProgramFacts::unmeasured_calls() const {
  return std::ranges::count_if(calls,
                               [](const CallFacts& call) { return call.cycles && !call.measured; });
}

Result<ProgramFacts> program_facts(const Bytes& bytes, const std::string& label,
                                   const engine::Part* part, PartCore allowed) {
  THIMBLE_TRY(const pte::Program program, pte::read(bytes, label));
  THIMBLE_CHECK(pte::check_kernel_layout(program, label));
  ProgramFacts facts;
  facts.label = label;
  facts.file_bytes = static_cast<int64_t>(bytes.size());
  if (program.plans.empty() || program.plans[0].chains.empty()) {
    return bad_input("{}: the program has no instructions", label);
  }
  THIMBLE_CHECK(Reader(program, label, part, allowed).run(&facts));
  return facts;
}

}  // namespace thimble::tools
