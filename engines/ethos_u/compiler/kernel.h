// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels of a schedule, and the addresses that they use.

#include "engines/ethos_u/compiler/feature_map.h"

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
