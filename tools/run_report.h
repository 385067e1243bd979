// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report of `thimble run`: the outputs, and with a profile instructions, cycles and times.

#include <string>
#include <vector>

#include "tools/model.h"
#include "tools/output.h"

namespace thimble::tools {

struct RunResult {
  bool zeros = false;  // the inputs are zeros: --profile without --input
  Model model;
  Outcome outcome;
  std::vector<ir::Tensor> outputs;  // of several calls: along the first axis
  std::string etdump_unit;          // of the times in the ETDump, if one was written
  Bytes saved_state;                // with --load-state or --save-state
};

/// `y = [0.98, 0.01, ...]`, with the first values.
[[nodiscard]] std::string values_text(const hostrun::Port& port, const ir::Tensor& tensor);
/// Prints the profile and the memory. `profile`: also the time of an inference, or how to get it.
void print_facts(const RunResult& result, bool profile);
[[nodiscard]] Json to_json(const RunResult& result);

}  // namespace thimble::tools
