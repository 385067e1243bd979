#pragma once
// The operations, one file each. Each returns a fault of its own or the memory's.

#include "engines/ethos_u/sim/exec/output.h"
#include "engines/ethos_u/sim/exec/scratch.h"
#include "engines/ethos_u/sim/execute.h"

namespace thimble::ethos_u::sim {

/// What one operation works with.
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

/// Workspace of the above, beside what they keep.
[[nodiscard]] size_t conv_scratch(const KernelOperation& operation);

/// Accumulators before the first product: nothing, IFM2, or what the operation before left.
class Accumulators {
 public:
  explicit Accumulators(const Context& context);
  /// Adds what channels [c, c + n) of a position begin with.
  bool add_initial(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* values);
  /// True if the operation outputs; else the values were put aside, and there is nothing to write.
  bool keeps(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values);
  /// A fault if there is nothing to continue or no room to keep.
  [[nodiscard]] Fault begin();
  [[nodiscard]] uint32_t bits() const { return bits_; }

 private:
  const Context& context_;
  Reader second_;
  uint32_t bits_ = 32;
};

/// Resolves ranges in their regions; a length of 0 is an empty stream.
[[nodiscard]] Fault streams_of(Memory& memory, const Range* ranges, uint32_t count, Bytes* streams);
[[nodiscard]] inline Fault bad_weights(WeightStatus status) {
  return fault_of(FaultKind::kBadWeights, to_text(status));
}

/// Rows and columns that windows see, in the grid after upscaling.
struct Grid {
  int64_t height, width;
};
[[nodiscard]] Grid grid_of(const KernelOperation& operation);

/// Where a position of the grid lies in the map. False: padding or an inserted zero.
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
