#pragma once
// One kernel as register writes. What order of registers is free, the operation comes last.

#include "base/result.h"
#include "engines/ethos_u/compiler/feature_map.h"
#include "engines/ethos_u/compiler/stream.h"

namespace thimble::engine::ethos_u {

/// One kernel of a schedule: an operation, or rows and channels of it.
struct Kernel {
  const NpuProgram* program = nullptr;
  const Schedule* schedule = nullptr;
  const NpuOp* op = nullptr;
  const OpPlan* plan = nullptr;
  Span rows, channels;
  int slice = 0;
  int table_slot = 0;  // in units of 256 bytes
  InputRows input;
  FeatureMap ifm, ifm2, ofm;
  bool has_ifm2 = false;
};
[[nodiscard]] Kernel kernel_of(const NpuProgram& program, const Schedule& schedule,
                               const Step& step);
[[nodiscard]] std::vector<Access> accesses_of(const Kernel& kernel);

/// Writes what differs from before; not the operation itself, nor BLOCKDEP.
[[nodiscard]] Status write_registers(const Kernel& kernel, CommandStream* stream);
void write_operation(const Kernel& kernel, CommandStream* stream);

/// Where weights and scales of the kernel's slice are read: region and address of the slice.
struct SlicePlace {
  uint8_t region = 0;
  int64_t address = 0;
};
[[nodiscard]] SlicePlace slice_place(const WeightPlan& weights, int slice);

/// Bytes from one unit of ACTIVATION's table to the next, and of the whole table.
[[nodiscard]] int64_t table_bytes(const Table& table);
/// Where a slot lies, as DMA sees the internal memory.
[[nodiscard]] int64_t table_address(const Config& config, int slot);

}  // namespace thimble::engine::ethos_u
