// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime_work.h"

#include "abi/pte_op.h"
#include "formats/pte/records.h"

namespace thimble::driver {
namespace {

namespace pte = formats::pte;
using engine::CallForm;
using engine::RuntimeTerms;

void add_argument(const pte::EValue& value, RuntimeTerms* terms) {
  if (const auto* const tensor = std::get_if<pte::Tensor>(&value)) {
    ++terms->tensors;
    terms->sizes += static_cast<int64_t>(tensor->sizes.size());
    return;
  }
  ++terms->numbers;
  if (const auto* const list = std::get_if<pte::IntList>(&value)) {
    terms->items += static_cast<int64_t>(list->items.size());
  }
}

}  // namespace

engine::RuntimeWork runtime_work(const pte::Program& program) {
  engine::RuntimeWork work;
  const bool records = pte::has_records(program);
  work.of(records ? CallForm::kAddresses : CallForm::kFlatbuffer).runs = 1;
  const pte::ExecutionPlan& plan = program.plans[0];
  for (const pte::Instruction& instruction : plan.chains[0].instructions) {
    const auto* const call = std::get_if<pte::KernelCall>(&instruction);
    const abi::PteOpInfo* op = nullptr;
    if (call != nullptr && !call->args.empty()) {
      const pte::Operator& name = plan.operators[static_cast<size_t>(call->op_index)];
      op = pte::find_operator(pte::full_name(name), call->args.size() - 1);
    }
    const bool addresses = records && op != nullptr && engine::needs_addresses_only(*op);
    RuntimeTerms& terms = work.of(addresses ? CallForm::kAddresses
                                  : records ? CallForm::kRecords
                                            : CallForm::kFlatbuffer);
    ++terms.calls;
    if (op == nullptr) continue;
    // The last argument repeats the result.
    for (size_t i = 0; i + 1 < call->args.size(); ++i) {
      add_argument(plan.values[static_cast<size_t>(call->args[i])], &terms);
    }
  }
  return work;
}

}  // namespace thimble::driver
