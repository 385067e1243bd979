// SPDX-License-Identifier: Apache-2.0
#include "driver/linked_size.h"

#include <algorithm>

#include "abi/pte_ops.h"
#include "base/rounding.h"
#include "emit/c/size.h"
#include "emit/state_entry.h"
#include "engine/linked_code.h"
#include "formats/pte/records.h"

namespace thimble::driver {
namespace {

namespace pte = formats::pte;

constexpr int64_t kWord = 4;
// Before the file and before the memory for the arena, which are 16-byte aligned. Everything else
// is aligned to 4.
constexpr int64_t kPaddingMax = 12;
constexpr int64_t kModelObjectBytes = 18 * kWord;  // thimble_model (runtime/include/thimble.h)
// The generated kernel table (src/hostrun/kernel_source.cpp): KernelTable and the function that
// returns it. A row of DelegateBackends is 7 words and an id. tests/sizes compares the sums with
// linked images.
constexpr int64_t kKernelTableBytes = 6 * kWord + 2 * kWord;
constexpr int64_t kDelegateTableBytes = 5 * kWord;
constexpr int64_t kDelegateIdBytes = 24;  // the longest id that a core's tables have, padded
constexpr int64_t kDelegateRowBytes = 7 * kWord + kDelegateIdBytes;

/// The row of abi/pte_ops.def of a call; null if no kernel exists.
const abi::PteOpInfo* op_of(const pte::ExecutionPlan& plan, const pte::KernelCall& call) {
  const pte::Operator& op = plan.operators[static_cast<size_t>(call.op_index)];
  return pte::find_operator(pte::full_name(op), call.args.size() - 1);
}

/// Adds the kernels and delegates of the program; returns false if a kernel has no row.
bool add_calls(const pte::ExecutionPlan& plan, engine::LinkRequest* request) {
  for (const pte::Instruction& instruction : plan.chains[0].instructions) {
    if (const auto* const call = std::get_if<pte::DelegateCall>(&instruction)) {
      const auto index = static_cast<size_t>(call->delegate_index);
      request->delegates.push_back(plan.delegates[index].id);
      continue;
    }
    const auto* const call = std::get_if<pte::KernelCall>(&instruction);
    if (call == nullptr) return false;
    const abi::PteOpInfo* const info = op_of(plan, *call);
    if (info == nullptr) return false;
    request->kernels.push_back(static_cast<abi::PteOp>(info - abi::kPteOps));
  }
  return true;
}

template <typename Item>
int64_t count_distinct(std::vector<Item> items) {
  std::ranges::sort(items);
  return std::unique(items.begin(), items.end()) - items.begin();  // clang 14 lacks ranges::unique
}

/// Returns what the core's tables give for the program; nothing if it is not known.
Result<std::optional<engine::LinkRequest>> request_for(const engine::Core& core,
                                                       const pte::Program& program) {
  engine::LinkRequest request;
  if (core.linked_code == nullptr || !add_calls(program.plans[0], &request)) {
    return std::optional<engine::LinkRequest>();
  }
  request.records = pte::has_records(program);
  THIMBLE_TRY(const std::vector<emit::StateContent> states, emit::read_states(program));
  request.states = !states.empty();
  return std::optional(std::move(request));
}

/// Adds all but the flash of the code, which C output and a `.pte` count differently.
void add_code(const engine::LinkedCode& code, LinkedSize* linked) {
  linked->static_bytes += code.ram_bytes;
  linked->stack_bytes += code.stack_bytes;
  linked->compiler = code.compiler;
  linked->needs_driver = code.needs_driver;
  linked->core = code.core;
}

/// Returns the bytes of `code` that the program without kernels would not need.
int64_t kernel_bytes(engine::LinkRequest request, const engine::LinkedCode& code,
                     const engine::Core& core) {
  request.kernels.clear();
  return code.flash_bytes - core.linked_code(request, core)->flash_bytes;
}

Result<std::optional<LinkedSize>> linked_c_size(const Compiled& compiled,
                                                const pte::Program& program) {
  const engine::Core& core = *compiled.part->cpu;
  THIMBLE_TRY(std::optional<engine::LinkRequest> request, request_for(core, program));
  if (!request) return std::optional<LinkedSize>();
  request->c_output = true;
  std::optional<engine::LinkedCode> code = core.linked_code(*request, core);
  if (!code) return std::optional<LinkedSize>();
  emit::c::Options options;
  options.owns_inputs = compiled.lowered.owns_inputs;
  if (compiled.part->has_memory_speeds()) {
    options.loaded.resize(compiled.part->memories.size());
  }
  // The size of the C depends on how its kernels are called, and the linked code on whether the C
  // copies bytes: the core is asked twice.
  THIMBLE_TRY(const emit::c::Size c, emit::c::size_of(program, code->addresses_only, options));
  request->copies = c.copies;
  request->fills = c.fills;
  code = core.linked_code(*request, core);
  if (!code) return std::optional<LinkedSize>();
  LinkedSize linked;
  linked.c_output = true;
  linked.kernel_bytes = kernel_bytes(*request, *code, core);
  linked.program_bytes = c.constant_bytes + c.table_bytes;
  linked.code_bytes = c.code_bytes + code->flash_bytes;
  linked.static_bytes = c.ram_bytes;
  linked.stack_bytes = c.stack_bytes;
  add_code(*code, &linked);
  return std::optional(std::move(linked));
}

}  // namespace

Result<std::optional<LinkedSize>> linked_size(const engine::Core& core, const pte::Program& program,
                                              int64_t pte_bytes) {
  return linked_size(core, std::span(&program, 1), std::span(&pte_bytes, 1));
}

Result<std::optional<LinkedSize>> linked_size(const engine::Core& core,
                                              std::span<const pte::Program> programs,
                                              std::span<const int64_t> pte_bytes) {
  engine::LinkRequest all;
  all.records = false;
  LinkedSize linked;
  for (size_t i = 0; i < programs.size(); ++i) {
    THIMBLE_TRY(const std::optional<engine::LinkRequest> request, request_for(core, programs[i]));
    if (!request) return std::optional<LinkedSize>();
    all.kernels.insert(all.kernels.end(), request->kernels.begin(), request->kernels.end());
    all.delegates.insert(all.delegates.end(), request->delegates.begin(), request->delegates.end());
    all.records = all.records || request->records;
    all.states = all.states || request->states;
    linked.program_bytes += pte_bytes[i];
    linked.code_bytes += round_up(pte_bytes[i], kWord) - pte_bytes[i] + kPaddingMax;
    linked.static_bytes += kModelObjectBytes + kPaddingMax;
  }
  const std::optional<engine::LinkedCode> code = core.linked_code(all, core);
  if (!code) return std::optional<LinkedSize>();
  linked.kernel_bytes = kernel_bytes(all, *code, core);
  linked.code_bytes += code->flash_bytes + kKernelTableBytes + kWord * count_distinct(all.kernels);
  const int64_t delegates = count_distinct(all.delegates);
  if (delegates > 0) linked.code_bytes += kDelegateTableBytes + kDelegateRowBytes * delegates;
  add_code(*code, &linked);
  return std::optional(std::move(linked));
}

Result<std::optional<LinkedSize>> linked_size(const Compiled& compiled, const pte::Program& program,
                                              int64_t pte_bytes, bool c_output) {
  if (c_output) return linked_c_size(compiled, program);
  return linked_size(*compiled.part->cpu, program, pte_bytes);
}

std::string built_with(const LinkedSize& linked) {
  return fmt::format("{}, kernels -O2, {} -Os, {}", linked.compiler,
                     linked.c_output ? "C" : "runtime", linked.core);
}

}  // namespace thimble::driver
