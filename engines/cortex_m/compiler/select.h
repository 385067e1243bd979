#pragma once
// select_calls: one KernelCall for each operator that does work, with its constants in the bytes of
// the dialect (abi/native_params.h, or ExecuTorch's layouts) and its scratch sized for the
// instruction set. Of several forms the one for what is optimized (forms.h); the other dialect has
// one each.

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
[[nodiscard]] Status select_calls(Lowered* lowered, const Core& target, const Options& options);
}
