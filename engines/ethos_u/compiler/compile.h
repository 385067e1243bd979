// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compiles the program of a partition to what the driver runs: command stream, constants, memory.
//
//   Result<NpuBlob> blob = compile(program, options);
//
// Regions of the stream: 0 constants (weights, scales, tables), 1 arena, 2 fast scratch (only in
// Dedicated_Sram). Inputs and outputs are in the arena. The output is deterministic.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/npu_op.h"
#include "engines/ethos_u/isa/system.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::MemoryMode;
using thimble::ethos_u::System;

enum class Optimise : uint8_t {
  /// Fewest cycles within the budget. Without a budget: the least SRAM that costs at most 2 % more
  /// cycles than the fastest schedule in `memory_bytes`, or in the SRAM that whole feature maps
  /// need.
  kPerformance,
  /// Least SRAM at a limited cost in cycles: for the arena at most 50 % above the fastest schedule,
  /// for the fast scratch of Dedicated_Sram, which may have any size, at most 10 %.
  kSize,
};

struct ScheduleOptions {
  MemoryMode mode = MemoryMode::kSharedSram;
  /// Budget in bytes of SRAM: of the arena, or of the fast scratch in Dedicated_Sram.
  std::optional<int64_t> sram_bytes;
  /// Available SRAM in bytes; nullopt if unknown.
  std::optional<int64_t> memory_bytes;
  Optimise optimise = Optimise::kPerformance;
  const System* system = nullptr;  // null: default_system()
  /// True: without a budget, schedules are compared with the fastest one in the SRAM that whole
  /// feature maps need. False: with the fastest one in `memory_bytes`.
  bool in_feature_maps = true;
};

/// Report of one operation of the schedule.
struct OpReport {
  int op = -1;                  // index in NpuProgram::ops
  int ir_op = -1;               // NpuOp::ir_op
  int cascade = -1;             // operations with the same number form a cascade
  int64_t cycles = 0;           // estimated, sum of all kernels
  std::vector<uint32_t> words;  // of its kernels and DMAs in the command stream
};

/// A schedule of the Pareto front of SRAM and cycles. Points are sorted by ascending SRAM.
struct ParetoPoint {
  int64_t sram_bytes = 0;
  int64_t cycles = 0;
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
  std::vector<Io> inputs, outputs;  // in the order of NpuProgram
  int64_t cycles = 0;               // estimated
  int64_t timeline_cycles = 0;      // of the stream on the simulator's timeline
  /// Without a budget: the schedules with the least SRAM and the fewest cycles on the timeline.
  ParetoPoint smallest, fastest;
  std::vector<OpReport> report;  // one per operation, in order

  /// Returns the bytes that count against the budget.
  [[nodiscard]] int64_t sram_bytes(MemoryMode mode) const {
    return mode == MemoryMode::kDedicatedSram ? fast_scratch_bytes : scratch_bytes;
  }
};

[[nodiscard]] Result<NpuBlob> compile(const NpuProgram& program, const ScheduleOptions& options);

[[nodiscard]] Result<std::vector<ParetoPoint>> pareto(const NpuProgram& program,
                                                      const ScheduleOptions& options);

}  // namespace thimble::engine::ethos_u
