// SPDX-License-Identifier: Apache-2.0
#pragma once
// The operations, one file each. Each returns a fault of the operation or of the memory.

#include "engines/ethos_u/sim/exec/output.h"
#include "engines/ethos_u/sim/exec/scratch.h"
#include "engines/ethos_u/sim/execute.h"

namespace thimble::ethos_u::sim {

/// Inputs of one operation.
struct Context {
  const Config& config;
  const KernelOperation& operation;
  Memory& memory;
  Workspace& workspace;
};

[[nodiscard]] Fault execute_conv(const Context& context);  // CONV, static weights
[[nodiscard]] Fault execute_depthwise(const Context& context);
[[nodiscard]] Fault execute_matmul(const Context& context);  // CONV, weights are IFM2
[[nodiscard]] Fault execute_pool(const Context& context);
[[nodiscard]] Fault execute_elementwise(const Context& context);
[[nodiscard]] Fault execute_resize(const Context& context);

/// Returns the workspace that the functions above need, without chaining buffers and kept
/// accumulators.
[[nodiscard]] size_t conv_scratch(const KernelOperation& operation);

/// Initial and kept accumulators. The initial values are 0, IFM2, or the accumulators that the
/// previous operation kept.
class Accumulators {
 public:
  explicit Accumulators(const Context& context);
  /// Adds the initial values of channels [c, c + n) of a position.
  bool add_initial(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* values);
  /// Keeps the values and returns true if the operation has no output. Otherwise returns false, and
  /// the values must be written.
  bool keeps(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values);
  /// Returns a fault if no accumulators exist to continue, or if memory for keeping them is
  /// missing.
  [[nodiscard]] Fault begin();
  [[nodiscard]] uint32_t bits() const { return bits_; }

 private:
  const Context& context_;
  Reader second_;
  uint32_t bits_ = 32;
};

/// Resolves ranges in their regions; length 0 gives an empty stream.
[[nodiscard]] Fault streams_of(Memory& memory, const Range* ranges, uint32_t count, Bytes* streams);
[[nodiscard]] inline Fault bad_weights(WeightStatus status) {
  return fault_of(FaultKind::kBadWeights, to_text(status));
}

/// Size of the upscaled grid on which kernel windows are placed.
struct Grid {
  int64_t height, width;
};
[[nodiscard]] Grid grid_of(const KernelOperation& operation);

/// Maps a position of the grid to a position of the map. Returns false for padding and for an
/// inserted zero.
[[nodiscard]] inline bool in_map(const KernelOperation& operation, const Grid& grid, int64_t y,
                                 int64_t x, uint32_t* map_y, uint32_t* map_x) {
  if (y < 0 || x < 0 || y >= grid.height || x >= grid.width) return false;
  if (operation.upscale == Upscale::kZeros && ((y | x) & 1) != 0) return false;
  const unsigned half = operation.upscale == Upscale::kNone ? 0 : 1;
  *map_y = static_cast<uint32_t>(y >> half);
  *map_x = static_cast<uint32_t>(x >> half);
  return true;
}

}  // namespace thimble::ethos_u::sim
