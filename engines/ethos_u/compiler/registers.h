#pragma once
// Writes one kernel as register commands, followed by the operation. The order of the register
// writes is arbitrary.

#include "base/result.h"
#include "engines/ethos_u/compiler/feature_map.h"
#include "engines/ethos_u/compiler/stream.h"

namespace thimble::engine::ethos_u {

/// One kernel of a schedule: an operation, or some rows and channels of it.
struct Kernel {
  const NpuProgram* program = nullptr;
  const Schedule* schedule = nullptr;
  const NpuOp* op = nullptr;
  const OpPlan* plan = nullptr;
  IndexRange rows, channels;
  int slice = 0;
  int table_slot = 0;  // in units of 256 bytes
  InputRows input;
  FeatureMap ifm, ifm2, ofm;
  bool has_ifm2 = false;
};
[[nodiscard]] Kernel kernel_of(const NpuProgram& program, const Schedule& schedule,
                               const Step& step);
[[nodiscard]] std::vector<Access> accesses_of(const Kernel& kernel);

/// Writes the registers whose value changes. Writes neither the operation nor BLOCKDEP.
[[nodiscard]] Status write_registers(const Kernel& kernel, CommandStream* stream);
void write_operation(const Kernel& kernel, CommandStream* stream);

/// Region and address from which the kernel reads the weights and scales of its slice.
struct SlicePlace {
  uint8_t region = 0;
  int64_t address = 0;
};
[[nodiscard]] SlicePlace slice_place(const WeightPlan& weights, int slice);

/// Returns the size of a LUT in bytes.
[[nodiscard]] int64_t table_bytes(const Table& table);
/// Returns the internal-memory address of a LUT slot for DMA.
[[nodiscard]] int64_t table_address(const Config& config, int slot);

}  // namespace thimble::engine::ethos_u
