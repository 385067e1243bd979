#pragma once
// Where to change palette and mode: the cheapest path through the symbols when the palettes to
// choose from are given.

#include <cstdint>
#include <vector>

#include "engines/ethos_u/compiler/weights/mlw_code.h"

namespace thimble::engine::ethos_u::mlw {

/// Symbols [begin, end) of a stretch, all coded with one palette and mode.
struct Segment {
  size_t begin = 0, end = 0;
  int palette = 0;  // index in the list of palettes
  Mode mode;
};

/// Bits that a change of the mode costs beside the headers: the unused end of the last chunks, on
/// average.
[[nodiscard]] int end_bits(const Palette& palette, const Mode& mode);

/// Cuts lie at multiples of kCell. `histogram` is that of the whole stretch: it says which modes of
/// a palette with zero runs are worth a try.
inline constexpr size_t kCell = 16;
[[nodiscard]] std::vector<Segment> cheapest_path(const Symbol* symbols, size_t count,
                                                 const Histogram& histogram,
                                                 const std::vector<Palette>& palettes);

/// Bits of a histogram in each of the weight modes, zero runs apart, with the unused end of the
/// last chunk; kNeverBits if it cannot be.
[[nodiscard]] std::array<int64_t, kWeightModes> mode_bits(const Histogram& histogram,
                                                          const Palette& palette);
/// The cheapest mode of slices for a histogram, and their bits, headers included.
[[nodiscard]] int64_t best_mode(const Histogram& histogram, const Palette& palette,
                                bool new_palette, Mode* mode);

}  // namespace thimble::engine::ethos_u::mlw
