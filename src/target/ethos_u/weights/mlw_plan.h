#pragma once
// Chooses cuts, palettes and modes for a stretch of weights.

#include <vector>

#include "target/ethos_u/weights/mlw_trellis.h"

namespace thimble::target::ethos_u::mlw {

struct Plan {
  std::vector<Palette> palettes;
  std::vector<Segment> segments;  // cover the stretch; neighbours with equal `palette` share it
};

[[nodiscard]] Plan make_plan(const Symbol* symbols, size_t count);

}  // namespace thimble::target::ethos_u::mlw
