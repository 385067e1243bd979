// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds where to change palette and mode: the cheapest path through the symbols for a given list of
// palettes.

#include <cstdint>
#include <vector>

#include "engines/ethos_u/compiler/weights/mlw_code.h"

namespace thimble::engine::ethos_u::mlw {

/// Symbols [begin, end) of a stretch, coded with one palette and mode.
struct Segment {
  size_t begin = 0, end = 0;
  int palette = 0;  // index in the list of palettes
  Mode mode;
};

/// Returns the average cost in bits of a mode change other than headers: the unused end of the last
/// chunks.
[[nodiscard]] int end_bits(const Palette& palette, const Mode& mode);

/// Cuts are at multiples of kCell. `histogram` is that of the whole stretch. It determines which
/// modes are tried for a palette with zero runs.
inline constexpr size_t kCell = 16;
[[nodiscard]] std::vector<Segment> cheapest_path(const Symbol* symbols, size_t count,
                                                 const Histogram& histogram,
                                                 const std::vector<Palette>& palettes);

/// Returns the bits of a histogram in each weight mode, without zero runs and including the unused
/// end of the last chunk; kNeverBits if a mode cannot be used.
[[nodiscard]] std::array<int64_t, kWeightModes> mode_bits(const Histogram& histogram,
                                                          const Palette& palette);
/// Finds the cheapest slice mode for a histogram and returns the bits including headers.
[[nodiscard]] int64_t best_mode(const Histogram& histogram, const Palette& palette,
                                bool new_palette, Mode* mode);

}  // namespace thimble::engine::ethos_u::mlw
