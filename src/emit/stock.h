#pragma once
// Whether a file keeps to ExecuTorch's own operators.

#include "base/result.h"
#include "formats/pte/program.h"

namespace thimble::emit {

/// Every instruction of every method calls an operator of ExecuTorch 1.5 by its name, with as many
/// arguments as it takes now and each of its kind. Else an `unsupported` error that names the call.
[[nodiscard]] Status check_stock(const formats::pte::Program& program);

}  // namespace thimble::emit
