// SPDX-License-Identifier: Apache-2.0
#pragma once
// Short text of an NPU operation for reports: "CONV 3x3/2", "POOL MAX 2x2", "ADD".

#include <string>

#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

[[nodiscard]] std::string op_text(const NpuOp& op);

}  // namespace thimble::engine::ethos_u
