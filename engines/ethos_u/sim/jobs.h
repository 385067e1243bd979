// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which a kernel computes its blocks, and what each job reads.
//
// The OFM is computed block by block: channels first, then columns, then rows. A convolution reads
// the IFM of a block in slices of channels, and each slice is a job. For other operations each
// block is one job. BLOCKDEP counts jobs (docs/ethos-u.md, "Order and outstanding operations").

#include "engines/ethos_u/sim/footprint.h"

namespace thimble::ethos_u::sim {

class Jobs {
 public:
  Jobs(const Config& config, const KernelOperation& operation);

  [[nodiscard]] uint64_t blocks() const { return rows_ * columns_ * depths_; }
  [[nodiscard]] uint32_t jobs_per_block() const { return slices_; }
  [[nodiscard]] uint32_t slice_depth() const { return slice_depth_; }
  /// Returns a block of the OFM, clipped to the OFM.
  [[nodiscard]] Box block(uint64_t index) const;
  [[nodiscard]] uint64_t block_of(uint32_t y, uint32_t x, uint32_t c) const;
  /// Adds the bytes of the maps that job `index` reads.
  void reads(uint64_t index, Footprint* footprint) const;

 private:
  [[nodiscard]] Box ifm_box(const Box& block, uint32_t slice) const;
  [[nodiscard]] Box ifm2_box(const Box& block, uint32_t slice) const;

  const KernelOperation& operation_;
  uint64_t rows_, columns_, depths_;
  uint32_t slices_ = 1;
  uint32_t slice_depth_ = 0;
};

/// Returns the number of IFM channels in a slice of a convolution.
[[nodiscard]] uint32_t ifm_slice_depth(const Config& config, const KernelOperation& operation);

/// Returns the OFM microblock in use.
[[nodiscard]] Microblocks microblock_of(const Config& config, const KernelOperation& operation);

}  // namespace thimble::ethos_u::sim
