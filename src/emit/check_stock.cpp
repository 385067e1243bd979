// SPDX-License-Identifier: Apache-2.0
#include "emit/check_stock.h"

#include <algorithm>
#include <string_view>

#include "abi/pte_ops.h"
#include "emit/check_arguments.h"

namespace thimble::emit {

namespace pte = formats::pte;

namespace {

Status check_call(const pte::ExecutionPlan& plan, const pte::KernelCall& instruction) {
  const std::string name =
      pte::full_name(plan.operators[static_cast<size_t>(instruction.op_index)]);
  // The first row of a name is the current signature; those of earlier releases follow.
  const auto* const info = std::ranges::find(abi::kPteOps, name, &abi::PteOpInfo::name);
  const bool known = info != std::end(abi::kPteOps);
  if (!known || std::string_view(info->name).starts_with("thimble::")) {
    return unsupported("{} is not an operator of ExecuTorch", name);
  }
  const Status fits = check_arguments(plan, instruction.args, *info);
  return fits.ok() ? ok() : unsupported("{}", fits.error().message);
}

}  // namespace

Status check_stock(const pte::Program& program) {
  for (const pte::ExecutionPlan& plan : program.plans) {
    for (const pte::Chain& chain : plan.chains) {
      for (const pte::Instruction& instruction : chain.instructions) {
        const auto* const call = std::get_if<pte::KernelCall>(&instruction);
        if (call != nullptr) THIMBLE_CHECK(check_call(plan, *call));
      }
    }
  }
  return ok();
}

}  // namespace thimble::emit
