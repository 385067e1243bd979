// SPDX-License-Identifier: Apache-2.0
#pragma once
// The exact set of bytes that an operation accesses, without enumerating them.
//
// A span is a run of bytes repeated along up to three axes: a tile of a feature map (rows, columns,
// bricks), a DMA of two or three dimensions, a range of weights. Two spans are compared axis by
// axis. The number of steps is about the number of runs of the shorter span that overlap the other
// span's extent. No memory is allocated.

#include "engines/ethos_u/sim/memory.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

struct SpanAxis {
  int64_t stride = 0;  // not negative
  uint64_t count = 1;
};

struct Span {
  uint8_t region = 0;  // kTableRegion: the LUT memory
  int64_t first = 0;
  int64_t run = 0;  // bytes; 0: empty span
  SpanAxis axis[3];
};

/// Returns true if the two spans have a byte in common, and also after kSpanSteps comparisons. Only
/// maps that interleave in millions of runs reach that limit.
[[nodiscard]] bool overlap(const Span& a, const Span& b);
inline constexpr uint32_t kSpanSteps = 1U << 22;

/// A set of a few spans. The largest set needed: two maps of four tiles, each with whole bricks and
/// a partial brick at both ends, and weights and scales.
class Footprint {
 public:
  static constexpr unsigned kSpans = 2 * 4 * 3 + 4 + 2 + 2;
  void clear() { count_ = 0; }
  void add(const Span& span);
  void add_range(const Range& range);
  void add_bytes(uint8_t region, uint64_t address, uint64_t bytes);
  [[nodiscard]] bool overlaps(const Footprint& other) const;
  [[nodiscard]] unsigned count() const { return count_; }
  [[nodiscard]] const Span& span(unsigned index) const { return spans_[index]; }

 private:
  Span spans_[kSpans];
  unsigned count_ = 0;
};

/// Half-open box of a feature map, in elements.
struct Box {
  uint32_t y0 = 0, y1 = 0, x0 = 0, x1 = 0, c0 = 0, c1 = 0;
  [[nodiscard]] bool empty() const { return y0 >= y1 || x0 >= x1 || c0 >= c1; }
};
[[nodiscard]] inline Box whole(const FeatureMap& map) {
  return {0, map.height, 0, map.width, 0, map.depth};
}

/// Adds the bytes of a box of a map in memory. Adds nothing for a chained map.
void add_box(const FeatureMap& map, const Box& box, Footprint* footprint);

/// Maps a box of the OFM to the map in memory: reversed, then transposed.
[[nodiscard]] Box in_memory(const KernelOperation& operation, const Box& box);

/// All bytes that an operation reads and writes while it is outstanding.
struct Accesses {
  Footprint reads, writes;
};
void accesses_of(const Config& config, const KernelOperation& operation, Accesses* accesses);
void accesses_of(const Config& config, const DmaOperation& operation, Accesses* accesses);

/// Returns true if the activation reads the LUT memory; sets the address and size of the read.
[[nodiscard]] bool uses_table(const Config& config, const KernelOperation& operation,
                              uint32_t* address, uint32_t* bytes);
/// Returns true if the accumulators overwrite the LUTs: parts with 16 banks, operations without a
/// LUT.
[[nodiscard]] bool overwrites_tables(const Config& config, const KernelOperation& operation);

/// Converts an internal DMA address to an offset in the LUT memory.
[[nodiscard]] uint64_t table_offset(const Config& config, uint64_t address);

}  // namespace thimble::ethos_u::sim
