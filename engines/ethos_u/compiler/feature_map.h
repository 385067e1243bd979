// SPDX-License-Identifier: Apache-2.0
#pragma once
// An operand as described by registers: tiles, strides, and the memory it accesses.

#include <array>
#include <cstdint>
#include <vector>

#include "engines/ethos_u/compiler/plan.h"

namespace thimble::engine::ethos_u {

struct FeatureMap {
  uint8_t region = 0;
  Format format = Format::kNhwc;
  int64_t height = 0, width = 0, depth = 0;
  int64_t height0 = 0;  // rows before the rolling buffer wraps
  std::array<int64_t, 4> base{};
  int64_t stride_y = 0, stride_x = 0, stride_c = 0;  // bytes
};

/// A range of bytes that an operation reads or writes; `internal` refers to the LUT memory.
struct Access {
  uint8_t region = 0;
  bool internal = false;
  bool write = false;
  int64_t begin = 0, end = 0;
};

/// Maps `rows` and `channels` of an operand to registers.
[[nodiscard]] FeatureMap map_operand(const NpuProgram& program, const Schedule& schedule,
                                     const Operand& operand, IndexRange rows, IndexRange channels);

/// Adds the range from the first to the last byte of the operand, as at most two accesses.
void add_accesses(const FeatureMap& map, int bytes, bool write, std::vector<Access>* accesses);

/// Returns true if the operand is the whole tensor or a brick-aligned range of channels, with the
/// tensor's strides.
[[nodiscard]] bool is_natural(const NpuTensor& tensor, const Operand& operand);

}  // namespace thimble::engine::ethos_u
