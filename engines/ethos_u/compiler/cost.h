// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cost of a kernel in cycles: MAC array, output stage, memories.
//
// Computed per block as published for Vela (docs/ethos-u.md, "Cycles"). The MAC array and the
// output stage work on neighboring blocks in parallel, so the slower one counts. An operation
// takes at least as long as each memory needs for its reads and writes. Weights are read again for
// every block along height and width. IFM blocks overlap by the extent of the kernel. This is the
// compiler's model; the simulator's timeline is independent, and a test compares the two.

#include <cstdint>
#include <map>
#include <optional>

#include "engines/ethos_u/compiler/block.h"
#include "engines/ethos_u/compiler/plan.h"
#include "engines/ethos_u/isa/system.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::System;

enum class Memory : uint8_t { kSram, kExternal };

/// Memory and format of a kernel's operands.
struct OperandStorage {
  Memory ifm = Memory::kSram, ifm2 = Memory::kSram, ofm = Memory::kSram;
  Format ifm_format = Format::kNhwc, ifm2_format = Format::kNhwc, ofm_format = Format::kNhwc;
  Memory weights = Memory::kExternal;
  int64_t weight_bytes = 0;  // encoded, including scales; of the kernel's channels
  auto operator<=>(const OperandStorage&) const = default;
  /// False: the pixels of the operand are not adjacent in memory (NHWC).
  bool ifm_dense = true, ofm_dense = true;
};

struct KernelCost {
  double compute = 0;   // cycles with unlimited memory bandwidth
  double exposed = 0;   // of the first read and the last block, which no other kernel overlaps
  double sram = 0;      // busy cycles of the SRAM
  double external = 0;  // busy cycles of the external memory
  /// U65 and U85: Vela's estimate of reads of the external memory that wait for its latency:
  /// feature maps, including narrow rows and overlaps. U85: also weights and scale records, for
  /// every plane of blocks. It is used to compare blocks and schedules and is not part of cycles().
  double latency_penalty = 0;
  [[nodiscard]] double cycles() const;
};

[[nodiscard]] KernelCost kernel_cost(const Config& config, const System& system,
                                     const OpShape& shape, const Block& block,
                                     const OperandStorage& storage);

/// Returns the cycles of a copy that overlaps with no kernel.
[[nodiscard]] double copy_cycles(const System& system, Memory from, Memory to, int64_t bytes);

/// U85: returns the cycles of a copy from the external memory if they are limited by its latency
/// and the bursts that may be outstanding; 0 on the others.
[[nodiscard]] double waiting_copy_cycles(const Config& config, const System& system, int64_t bytes);

struct Choice {
  Block block;
  KernelCost cost;
};
/// Finds the block of least cost. Its depth is at most `depth_limit` if possible. Returns nullopt
/// if no block is legal. `order`: true allows only part-kernel-first, false only depth-first.
[[nodiscard]] std::optional<Choice> choose_block(const Config& config, const System& system,
                                                 const OpShape& shape,
                                                 const OperandStorage& storage,
                                                 int64_t depth_limit = 1 << 20,
                                                 std::optional<bool> order = std::nullopt);

}  // namespace thimble::engine::ethos_u
