#pragma once
// Checks that a file uses only ExecuTorch's own operators.

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::emit {

/// Succeeds if every instruction of every method calls an operator of ExecuTorch 1.5 with the
/// number and kinds of arguments that it has now. Else an `unsupported` error that names the call.
[[nodiscard]] Status check_stock(const formats::pte::Program& program);

}  // namespace thimble::emit
