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

/// A region of the program: kind ("run", "op") and index, which is 0 for every kind but "op".
using Region = std::pair<std::string, int>;

struct Edge {
  Region region;
  size_t from = 0;  // 0: the region starts with `to`
  size_t to = 0;
  int64_t count = 0;
};
struct Trace {
  std::vector<std::vector<Insn>> blocks;  // by number; the first one is empty
  std::vector<Edge> edges;
};

/// Reads the lines `block` and `edge` of the counter's output and skips all others. `label` names
/// the file in messages.
[[nodiscard]] Result<Trace> parse_trace(std::string_view text, std::string_view label);

/// Returns the cycles of each region on a core, without those of regions inside it and without wait
/// states; empty for a core without a model.
[[nodiscard]] std::map<Region, int64_t> region_cycles(const Trace& trace, std::string_view core);

/// Returns the cycles of an edge once: of its second block, and of the branch to it.
[[nodiscard]] int64_t edge_cycles(const CoreTiming& timing, const Trace& trace, const Edge& edge);

}  // namespace thimble::cycles
