// SPDX-License-Identifier: Apache-2.0
#pragma once
// A compiled program as a list of calls, for other compilers that write the file themselves.

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/progress.h"
#include "base/result.h"
#include "capi/session.h"

namespace thimble::capi {

struct ProgramCalls {
  /// `values`: types by number. `inputs`, `outputs`: numbers. `calls`: operator with its signature
  /// (abi/pte_ops.def), arguments, result and source line, in execution order. `views`: operators
  /// that only move data and call no kernel of the core, by the number of their result.
  /// `constants`: types of the constants.
  std::string json;
  std::vector<Bytes> constants;
};
/// Compiles a model for a core with the operators of ExecuTorch (`--compat executorch`).
/// `thimble_operators`: also with Thimble's, where ExecuTorch has no kernel.
[[nodiscard]] Result<ProgramCalls> program_calls(const ModelSource& source,
                                                 const std::string& target, const Words& options,
                                                 bool thimble_operators,
                                                 const ProgressFunction& progress);

}  // namespace thimble::capi
