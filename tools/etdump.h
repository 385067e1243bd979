// SPDX-License-Identifier: Apache-2.0
#pragma once
// `run --etdump`: the trace of a run as an ETDump (formats/etdump/etdump.h).

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "tools/model.h"

namespace thimble::tools {

struct Etdump {
  Bytes file;
  Bytes tensors;     // the debug buffer, with OpenOptions::trace_tensors
  std::string unit;  // of all times: "ns" or "cycles"
};

/// On the host, one run per call, with measured times. On a board, one run with the modelled cycles
/// of a mean call: in nanoseconds if the clocks are known (--target PART), else in cycles. Events
/// of an NPU's operations are estimates. Integer tensors are written as float32 if the file has
/// their scales (compile --names).
[[nodiscard]] Result<Etdump> etdump_of(const Model& model, const Outcome& outcome);

}  // namespace thimble::tools
