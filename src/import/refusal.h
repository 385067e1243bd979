// SPDX-License-Identifier: Apache-2.0
#pragma once
// Unsupported operators, collected over the whole graph so that one message reports all of them.

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace thimble::import_pt2 {

struct Refusal {
  ir::Source source;
  std::string reason;   // "mode reflect"; empty if aten.def has no row
  bool counts = false;  // reported even if no output depends on it, because it changes state
};

/// Returns one paragraph per operator and reason, followed by the source lines:
///   aten.pad.default is not supported: mode reflect
///     net.py:12      x = F.pad(x, (1, 1), 'reflect')    in module features.0
[[nodiscard]] std::string describe(const std::vector<const Refusal*>& refusals);

/// Returns what to do about a weight of a tensor subclass, which the archive holds as a Python
/// object; empty for other operators.
[[nodiscard]] std::string_view subclass_refusal(std::string_view target);

}  // namespace thimble::import_pt2
