// SPDX-License-Identifier: Apache-2.0
#pragma once
// The schedule: the address of every buffer and the order of execution. schedule.h creates it,
// emit.h writes it as commands.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/index_range.h"
#include "engines/ethos_u/compiler/block.h"
#include "engines/ethos_u/compiler/npu_op.h"

namespace thimble::engine::ethos_u {

using thimble::ethos_u::Format;

inline constexpr uint8_t kConstantRegion = 0;
inline constexpr uint8_t kArenaRegion = 1;
inline constexpr uint8_t kFastRegion = 2;
inline constexpr int64_t kAlignment = 16;  // of every address chosen by the compiler

/// Format and address of a tensor. If `rows` is less than the tensor's height, the tensor is a
/// rolling buffer: row y is stored at y % rows.
struct TensorPlace {
  Format format = Format::kNhwc;
  uint8_t region = kArenaRegion;
  int64_t address = 0;
  int64_t rows = 0;
  int64_t bytes = 0;
};
[[nodiscard]] int64_t place_bytes(const NpuTensor& tensor, Format format, int64_t rows);

struct StreamRange {
  int64_t offset = 0;  // relative to the start of the slice
  int64_t bytes = 0;   // 0: no such stream
};
/// Weights and scales of a range of channels: a contiguous range of region 0.
struct SlicePlan {
  IndexRange channels;
  int64_t offset = 0;  // in region 0
  int64_t bytes = 0;
  std::array<StreamRange, 4> weights;
  std::array<StreamRange, 2> scales;
};
struct WeightPlan {
  std::vector<SlicePlan> slices;  // one kernel each; empty: the operation has no weights
  bool fast = false, sparse = false;
  /// Address to which each slice is copied before it is read; -1: it is read from region 0.
  std::vector<int64_t> address;
  uint8_t region = kArenaRegion;  // region of the addresses
};

struct OpPlan {
  Block block;
  WeightPlan weights;
  int64_t table_offset = -1;  // in region 0
  int cascade = -1;
};

struct Step {
  enum class Kind : uint8_t { kKernel, kWeightDma, kOpDma } kind = Kind::kKernel;
  int op = -1;
  IndexRange rows;  // of the OFM
  int slice = 0;    // index of the weight slice; it determines the channels of the OFM
  /// kWeightDma: the running kernel may still use the buffer; the copy waits for it.
  bool late = false;
};

struct Schedule {
  std::vector<TensorPlace> tensors;
  std::vector<OpPlan> ops;
  std::vector<Step> steps;
  std::vector<std::byte> constants;  // region 0
  int64_t arena_bytes = 0;
  int64_t fast_bytes = 0;
};

/// Rows of the operand `ifm` (or ifm2) that `rows` of the OFM need, clipped to the operand.
struct InputRows {
  IndexRange rows;
  int64_t pad_top = 0, pad_bottom = 0;
};
[[nodiscard]] InputRows input_rows(const NpuOp& op, IndexRange rows);
[[nodiscard]] IndexRange second_input_rows(const NpuOp& op, IndexRange rows);
/// Returns the right padding that the last column needs.
[[nodiscard]] int64_t pad_right(const NpuOp& op);

}  // namespace thimble::engine::ethos_u
