#pragma once
// What a `.pte` of any writer holds, method by method: operators and whether there are kernels for
// them, delegates with what goes in and out, state that is kept between calls.

#include <string>

#include "formats/pte/program.h"
#include "tools/output.h"

namespace thimble::tools {

/// The same facts twice: for people and for scripts.
struct Explanation {
  std::string text;  // lines
  Json methods;
};
[[nodiscard]] Explanation explain(const formats::pte::Program& program);

}  // namespace thimble::tools
