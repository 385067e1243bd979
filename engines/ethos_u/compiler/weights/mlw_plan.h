// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses cuts, palettes and modes for a stretch of weights.

#include <vector>

#include "engines/ethos_u/compiler/weights/mlw_trellis.h"

namespace thimble::engine::ethos_u::mlw {

struct Plan {
  std::vector<Palette> palettes;
  std::vector<Segment> segments;  // cover the stretch; neighbours with equal `palette` share it
};

[[nodiscard]] Plan make_plan(const Symbol* symbols, size_t count);

}  // namespace thimble::engine::ethos_u::mlw
