#pragma once
// What the importer cannot take, collected over the whole graph so that the user sees all of it.

#include <string>
#include <vector>

#include "ir/graph.h"

namespace thimble::import_pt2 {

struct Refusal {
  ir::Source source;
  std::string reason;   // "mode reflect"; empty: no row in aten.def
  bool counts = false;  // even if no output needs it: it changes state
};

/// One paragraph per operator and reason, with the user's lines below:
///   aten.pad.default is not supported: mode reflect
///     net.py:12      x = F.pad(x, (1, 1), 'reflect')    in module features.0
[[nodiscard]] std::string describe(const std::vector<const Refusal*>& refusals);

}  // namespace thimble::import_pt2
