// SPDX-License-Identifier: Apache-2.0
#pragma once
// compile_delegate(): compiles a whole model to one delegate of the part's first engine, for
// programs that another compiler writes. The model is one that PyTorch quantized; inputs and
// outputs of the delegate are those of the model, in this order, as int8 and in the memory order
// of the export.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/compile.h"
#include "engine/engine.h"

namespace thimble::driver {

struct DelegateProgram {
  engine::Delegate delegate;
  ir::Graph graph;  // in the engine's arithmetic; the reference evaluator runs it
  std::vector<IoReport> inputs, outputs;
};

/// `options.target` names the part; `io` is int8. Returns a not-supported error that lists all
/// operators that the engine does not run, with source lines.
[[nodiscard]] Result<DelegateProgram> compile_delegate(const std::filesystem::path& model,
                                                       const CompileOptions& options);

}  // namespace thimble::driver
