// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies by the DMA engine.

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/compiler/plan.h"
#include "engines/ethos_u/compiler/stream.h"

namespace thimble::engine::ethos_u {

/// A copy of counts[1] planes of counts[0] rows of `bytes` consecutive bytes.
struct Copy {
  uint8_t source_region = 0, destination_region = 0, index_region = 0;
  bool internal = false;  // destination is the LUT memory
  bool indexed = false;   // U85: rows of the source are selected by 32-bit indices (gather)
  int64_t source = 0, destination = 0, bytes = 0;
  std::array<int64_t, 2> counts{1, 1};
  std::array<int64_t, 2> source_strides{}, destination_strides{};
  int64_t index = 0, index_maximum = 0;

  [[nodiscard]] int64_t source_reach() const;
  [[nodiscard]] int64_t destination_reach() const;
};

void write_copy(const Config& config, const Copy& copy, CommandStream* stream);

/// Returns the copies that implement a kDma operation.
[[nodiscard]] Result<std::vector<Copy>> copies_of(const NpuProgram& program,
                                                  const Schedule& schedule, const NpuOp& op);

}  // namespace thimble::engine::ethos_u
