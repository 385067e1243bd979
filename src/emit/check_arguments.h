// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks the arguments of a kernel call in a `.pte` against its operator's signature.

#include <cstdint>
#include <vector>

#include "abi/pte_op.h"
#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::emit {

/// Checks the number of arguments, and that each has the kind of its letter.
[[nodiscard]] Status check_arguments(const formats::pte::ExecutionPlan& plan,
                                     const std::vector<int32_t>& args, const abi::PteOpInfo& info);

}  // namespace thimble::emit
