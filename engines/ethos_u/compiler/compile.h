#pragma once
// From the program of a partition to what the driver runs: command stream, constants, memory.
//
//   Result<NpuBlob> blob = compile(program, options);
//
// Regions of the stream: 0 constants (weights, scales, tables), 1 arena, 2 fast scratch (only in
// Dedicated_Sram). Inputs and outputs lie in the arena. The same input gives the same bytes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/isa/system.h"
#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::MemoryMode;
using thimble::ethos_u::System;

enum class Optimise : uint8_t {
  /// Fewest cycles under the budget. Without one: with as much SRAM as the feature maps need.
  kPerformance,
  /// Least SRAM that does not cost too much: the arena at most half as slow again as the fastest
  /// schedule, the fast scratch of Dedicated_Sram, of which any size will do, a tenth.
  kSize,
};

struct ScheduleOptions {
  MemoryMode mode = MemoryMode::kSharedSram;
  /// Bytes of SRAM that may be used: of the arena, or of the fast scratch in Dedicated_Sram.
  std::optional<int64_t> sram_bytes;
  /// Bytes of SRAM that there are; none: not known.
  std::optional<int64_t> memory_bytes;
  Optimise optimise = Optimise::kPerformance;
  const System* system = nullptr;  // null: default_system()
};

/// What the schedule says of one operation.
struct OpReport {
  int op = -1;     // of NpuProgram::ops
  int ir_op = -1;  // NpuOp::ir_op
  int64_t block_height = 0, block_width = 0, block_depth = 0;
  bool part_kernel_first = false;
  int64_t stripes = 1;       // kernels along the height
  int64_t slices = 1;        // kernels along the depth, each with weights of its own
  int cascade = -1;          // operations of one number run stripe by stripe together
  int64_t weight_bytes = 0;  // encoded, with scales
  bool weights_buffered = false;
  int64_t sram_bytes = 0;  // live while it runs
  int64_t cycles = 0;      // estimated; all stripes
};

struct NpuBlob {
  std::vector<std::byte> commands;  // driver payload (COP1)
  std::vector<std::byte> weights;   // region 0
  int64_t scratch_bytes = 0;        // region 1
  int64_t fast_scratch_bytes = 0;   // region 2
  struct Io {
    std::array<int64_t, 4> shape{1, 1, 1, 1};  // NHWC
    int elem_bytes = 1;
    int64_t offset = 0;
    int region = 1;
  };
  std::vector<Io> inputs, outputs;  // as NpuProgram lists them
  int64_t cycles = 0;               // estimated
  std::vector<OpReport> report;     // one per operation, in their order

  /// What counts against the budget.
  [[nodiscard]] int64_t sram_bytes(MemoryMode mode) const {
    return mode == MemoryMode::kDedicatedSram ? fast_scratch_bytes : scratch_bytes;
  }
};

[[nodiscard]] Result<NpuBlob> compile(const NpuProgram& program, const ScheduleOptions& options);

/// Schedules none of which is worse than another in both numbers, from least SRAM to most.
struct ParetoPoint {
  int64_t sram_bytes = 0;
  int64_t cycles = 0;
};
[[nodiscard]] Result<std::vector<ParetoPoint>> pareto(const NpuProgram& program,
                                                      const ScheduleOptions& options);

}  // namespace thimble::engine::ethos_u
