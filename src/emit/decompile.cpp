// SPDX-License-Identifier: Apache-2.0
#include "emit/decompile.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "abi/pte_ops.h"
#include "emit/decompile_call.h"
#include "emit/state_entry.h"
#include "formats/pte/records.h"

namespace thimble::emit {

namespace pte = formats::pte;
using ir::ValueId;

namespace {

class Decompiler {
 public:
  Decompiler(const pte::Program& program, const pte::ExecutionPlan& plan)
      : program_(program), plan_(plan), memory_(program, plan, &graph_) {}

  Result<Decompiled> run() {
    graph_.name = plan_.name;
    THIMBLE_CHECK(add_states());
    for (const int32_t input : plan_.inputs) THIMBLE_CHECK(memory_.add_input(input));
    if (plan_.chains.empty()) return bad_input("plan {} has no chain", plan_.name);
    for (const pte::Instruction& instruction : plan_.chains[0].instructions) {
      const auto* call = std::get_if<pte::KernelCall>(&instruction);
      if (call == nullptr) {
        if (!std::holds_alternative<pte::DelegateCall>(instruction)) {
          return bad_input("plan {}: instruction {} is not a kernel call", plan_.name,
                           &instruction - plan_.chains[0].instructions.data());
        }
        return bad_input(
            "plan {}: has delegate calls, which are not supported; compile with --emit pte,ir and "
            "run the .ir",
            plan_.name);
      }
      THIMBLE_CHECK(decompile_call(*call));
    }
    for (const int32_t output : plan_.outputs) {
      THIMBLE_TRY(const ValueId value, memory_.read(output));
      graph_.add_output(value);
    }
    for (size_t i = 0; i < states_.size(); ++i) {
      THIMBLE_TRY(const ValueId next, memory_.read(states_[i]));
      graph_.set_next(i, next);
    }
    return Decompiled{std::move(graph_), std::move(results_)};
  }

  /// Decompiles each call, whether or not all others can be decompiled.
  DecompiledCalls calls() {
    DecompiledCalls found;
    (void)add_states();
    for (const int32_t input : plan_.inputs) (void)memory_.add_input(input);
    if (plan_.chains.empty()) return found;
    std::vector<std::pair<const pte::KernelCall*, ValueId>> results;
    for (const pte::Instruction& instruction : plan_.chains[0].instructions) {
      found.call_of.emplace_back();
      if (const auto* delegate = std::get_if<pte::DelegateCall>(&instruction)) {
        for (const int32_t argument : delegate->args) (void)memory_.add_input(argument);
      }
      const auto* call = std::get_if<pte::KernelCall>(&instruction);
      if (call == nullptr || call->args.empty()) continue;
      const size_t before = results_.size();
      if (!decompile_call(*call).ok()) {
        (void)memory_.add_input(call->args.back());  // its result, for the calls that read it
        continue;
      }
      if (results_.size() == before) continue;
      found.call_of.back() = results.size();
      results.emplace_back(call, results_.back());
    }
    const std::vector<int> producers = graph_.producers();
    for (const auto& [call, value] : results) {
      engine::KernelCall row;
      const std::string name = pte::full_name(plan_.operators[static_cast<size_t>(call->op_index)]);
      row.op = static_cast<abi::PteOp>(find_operator(name, call->args.size()) -
                                       std::begin(abi::kPteOps));
      row.out = value;
      row.ir_op = producers[static_cast<size_t>(value)];
      found.lowered.calls.push_back(std::move(row));
    }
    found.lowered.graph = std::move(graph_);
    // A call whose result is an input of the graph has no operator.
    for (std::optional<size_t>& call : found.call_of) {
      if (call && found.lowered.calls[*call].ir_op < 0) call.reset();
    }
    return found;
  }

  /// Decompiles only the calls that quantize an input. Returns the results' types, by input.
  std::vector<std::optional<ir::Type>> quantized_inputs() {
    std::vector<std::optional<ir::Type>> types(plan_.inputs.size());
    for (const int32_t input : plan_.inputs) {
      if (!memory_.add_input(input).ok()) return types;
    }
    if (plan_.chains.empty()) return types;
    for (const pte::Instruction& instruction : plan_.chains[0].instructions) {
      const auto* call = std::get_if<pte::KernelCall>(&instruction);
      if (call == nullptr || call->args.empty()) continue;
      const auto input = std::ranges::find(plan_.inputs, call->args[0]);
      if (input == plan_.inputs.end()) continue;
      const size_t before = graph_.ops().size();
      if (!decompile_call(*call).ok() || graph_.ops().size() == before) continue;
      const ir::Op& op = graph_.ops().back();
      if (op.kind != ir::OpKind::quantize) continue;
      types[static_cast<size_t>(input - plan_.inputs.begin())] = graph_.type(op.output);
    }
    return types;
  }

 private:
  /// Adds the ranges of the arena that survive a run. A range without a tensor is ignored.
  Status add_states() {
    THIMBLE_TRY(const std::vector<StateContent> states, read_states(program_));
    for (const StateContent& state : states) {
      const int32_t index = tensor_at(state);
      if (index < 0) continue;
      const Bytes filled(state.content.empty() ? state.bytes : 0,
                         static_cast<std::byte>(state.fill));
      THIMBLE_CHECK(memory_.add_state(index, state.content.empty() ? filled : state.content));
      states_.push_back(index);
    }
    return ok();
  }

  /// Index of the first tensor that covers exactly this range of the arena; -1 if none does.
  int32_t tensor_at(const StateContent& state) const {
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      const auto* tensor = std::get_if<pte::Tensor>(&plan_.values[i]);
      if (tensor == nullptr || !tensor->allocation) continue;
      const bool here = tensor->allocation->offset == state.offset;
      if (here && pte::data_bytes(*tensor) == state.bytes) return static_cast<int32_t>(i);
    }
    return -1;
  }

  Status decompile_call(const pte::KernelCall& instruction) {
    const std::string name =
        pte::full_name(plan_.operators[static_cast<size_t>(instruction.op_index)]);
    const auto* const info = find_operator(name, instruction.args.size());
    if (info == std::end(abi::kPteOps)) return unsupported("operator {} is unknown", name);
    const auto op = static_cast<abi::PteOp>(info - std::begin(abi::kPteOps));
    DecompilerCall call(plan_, instruction.args, &memory_, &graph_);
    THIMBLE_CHECK(call.check(*info));
    if (info->arguments[std::string_view(info->arguments).find_first_of("ow")] == 'w') {
      const Status split = decompile_split(&call);
      return split.ok() ? ok() : prefixed(name, split.error());
    }
    const bool native = std::string_view(info->name).starts_with("thimble::");
    Result<ValueId> decompiled = native ? decompile_native(op, &call) : decompile_stock(op, &call);
    if (!decompiled.ok()) return prefixed(name, decompiled.error());
    THIMBLE_TRY(const ir::Type out, call.out_type());
    const ir::Type& type = graph_.type(*decompiled);
    if (type.shape != out.shape || type.dtype != out.dtype) {
      return bad_input("{}: its out tensor is declared as {} {}, the operator gives {} {}", name,
                       ir::dtype_name(out.dtype), out.shape, ir::dtype_name(type.dtype),
                       type.shape);
    }
    graph_.value(*decompiled).type.dim_order = out.dim_order;
    results_.push_back(*decompiled);
    return memory_.write(call.out(), *decompiled);
  }

  /// Row of the operator with this name and number of arguments (return value included); if none
  /// has this number, the first row of the name.
  static const abi::PteOpInfo* find_operator(std::string_view name, size_t arguments) {
    const auto* const row = arguments == 0 ? nullptr : pte::find_operator(name, arguments - 1);
    return row != nullptr ? row : std::ranges::find(abi::kPteOps, name, &abi::PteOpInfo::name);
  }

  const pte::Program& program_;
  const pte::ExecutionPlan& plan_;
  ir::Graph graph_;
  std::vector<ValueId> results_;
  DecompilerMemory memory_;
  std::vector<int32_t> states_;  // tensor indices, in the order of the graph's states
};

}  // namespace

Result<Decompiled> decompile_with_results(const pte::Program& program) {
  if (program.plans.empty()) return bad_input("the program has no plan");
  THIMBLE_CHECK(pte::check_kernel_layout(program, "the program"));
  // The tables are read here, but a runtime executes the records: both must agree.
  THIMBLE_CHECK(pte::check_records(program, "the program"));
  const auto forward = std::ranges::find(program.plans, "forward", &pte::ExecutionPlan::name);
  return Decompiler(program, forward == program.plans.end() ? program.plans[0] : *forward).run();
}

DecompiledCalls decompile_calls(const pte::Program& program) {
  if (program.plans.empty() || !pte::check_kernel_layout(program, "").ok()) return {};
  return Decompiler(program, program.plans[0]).calls();
}

std::vector<std::optional<ir::Type>> quantized_inputs(const pte::Program& program) {
  if (program.plans.empty() || !pte::check_kernel_layout(program, "").ok()) return {};
  return Decompiler(program, program.plans[0]).quantized_inputs();
}

Result<ir::Graph> decompile(const pte::Program& program) {
  THIMBLE_TRY(Decompiled decompiled, decompile_with_results(program));
  return std::move(decompiled.graph);
}

}  // namespace thimble::emit
