#pragma once
// What a kernel costs: cycles of the multipliers, of the output stage, of the memories.
//
// Per block, as published for Vela (docs/ethos-u.md, "Cycles"): the multipliers and the output
// stage work on neighbouring blocks at the same time, so the slower of the two counts, and an
// operation takes at least as long as each memory needs for what it reads and writes. Weights are
// read again for every block along height and width, IFM blocks overlap by what the kernel spans.
// This is the compiler's model; the simulator's timeline is another, and a test compares them.

#include <cstdint>
#include <map>
#include <optional>

#include "engines/ethos_u/isa/system.h"
#include "engines/ethos_u/compiler/block.h"
#include "engines/ethos_u/compiler/plan.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::System;

enum class Memory : uint8_t { kSram, kExternal };

/// Where a kernel's operands lie, and how.
struct Placement {
  Memory ifm = Memory::kSram, ifm2 = Memory::kSram, ofm = Memory::kSram;
  Format ifm_format = Format::kNhwc, ifm2_format = Format::kNhwc, ofm_format = Format::kNhwc;
  Memory weights = Memory::kExternal;
  int64_t weight_bytes = 0;  // encoded, with scales; of the kernel's channels
  auto operator<=>(const Placement&) const = default;
};

struct KernelCost {
  double compute = 0;   // cycles if the memories cost nothing
  double sram = 0;      // cycles that the SRAM is busy
  double external = 0;  // cycles that the external memory is busy
  /// U85: what Vela's estimate takes for reads of the external memory that wait for its latency: of
  /// maps, narrow rows and overlaps counted, and of scale records for every plane of blocks.
  /// Decides between blocks and schedules, is not in cycles().
  double charged = 0;
  [[nodiscard]] double cycles() const;
};

[[nodiscard]] KernelCost kernel_cost(const Config& config, const System& system,
                                     const OpShape& shape, const Block& block,
                                     const Placement& placement);

/// Cycles of a copy that nothing hides.
[[nodiscard]] double copy_cycles(const System& system, Memory from, Memory to, int64_t bytes);

/// The block of least cost, not deeper than `depth_limit` if that can be; nothing if none is legal.
/// `order`: only part-kernel-first, or only the other one.
struct Choice {
  Block block;
  KernelCost cost;
};
[[nodiscard]] std::optional<Choice> choose_block(const Config& config, const System& system,
                                                 const OpShape& shape, const Placement& placement,
                                                 int64_t depth_limit = 1 << 20,
                                                 std::optional<bool> order = std::nullopt);

}  // namespace thimble::engine::ethos_u
