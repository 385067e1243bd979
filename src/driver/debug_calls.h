// SPDX-License-Identifier: Apache-2.0
#pragma once
// The debug handles of a compiled program: which nodes of the export each instruction computes.

#include <span>
#include <vector>

#include "driver/compile.h"
#include "driver/op_rows.h"
#include "emit/debug_handles.h"
#include "engine/engine.h"

namespace thimble::driver {

/// Requires report.source_ops, which OpProvenance fills. `rows` are those of report.ops.
[[nodiscard]] std::vector<emit::DebugCall> debug_calls(const engine::Lowered& lowered,
                                                       std::span<const RowOp> rows,
                                                       const CompileReport& report);

}  // namespace thimble::driver
