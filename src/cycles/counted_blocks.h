// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycles of executed code: the blocks and edges that firmware/qemu_plugin/insn_count.c counted.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cycles/core_timing.h"
#include "cycles/instruction.h"

namespace thimble::cycles {

/// A scope of the program: kind ("run", "op") and index, which is 0 for every kind but "op".
using Scope = std::pair<std::string, int>;

struct Edge {
  Scope scope;
  size_t from = 0;  // 0: the scope starts with `to`
  size_t to = 0;
  int64_t count = 0;
};
struct CountedBlocks {
  std::vector<std::vector<Insn>> blocks;  // by number; the first one is empty
  std::vector<Edge> edges;
};

/// Reads the lines `block` and `edge` of the counter's output and skips all others. `label` names
/// the file in messages.
[[nodiscard]] Result<CountedBlocks> parse_counted_blocks(std::string_view text,
                                                         std::string_view label);

/// Returns the cycles of each scope, without those of scopes inside it and without wait states.
/// `name`: that of a core_timing(); an unknown one gives an empty map.
[[nodiscard]] std::map<Scope, int64_t> scope_cycles(const CountedBlocks& counted,
                                                    std::string_view name);

/// Returns the cycles of an edge once: of its second block, and of the branch to it.
[[nodiscard]] int64_t edge_cycles(const CoreTiming& timing, const CountedBlocks& counted,
                                  const Edge& edge);

}  // namespace thimble::cycles
