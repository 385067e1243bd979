// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks that a file uses only ExecuTorch's own operators.

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::emit {

/// Succeeds if every kernel call of every plan calls an operator of ExecuTorch 1.5 with its current
/// number and kinds of arguments. Other instructions are not checked. Otherwise an `unsupported`
/// error that names the call.
[[nodiscard]] Status check_stock(const formats::pte::Program& program);

}  // namespace thimble::emit
