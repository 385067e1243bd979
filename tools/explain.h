// SPDX-License-Identifier: Apache-2.0
#pragma once
// Describes a `.pte` of any writer, method by method: operators and whether there are kernels for
// them, delegates with their inputs and outputs, and states that are kept between runs.

#include <string>

#include "formats/pte/program.h"
#include "tools/output.h"

namespace thimble::tools {

/// Description of a program: one set of facts, as text and as JSON.
struct Explanation {
  std::string text;  // lines
  Json methods;
};
[[nodiscard]] Explanation explain(const formats::pte::Program& program);

}  // namespace thimble::tools
