// SPDX-License-Identifier: Apache-2.0
// A state is a palette with a mode. Sixteen modes of a palette are evaluated in parallel. The bits
// of a cell of sixteen symbols in all states are sums of table rows; this dominates the cost for
// long stretches. A change of state costs the bits of the required header.

#include "engines/ethos_u/compiler/weights/mlw_trellis.h"

#include <algorithm>
#include <numeric>

namespace thimble::engine::ethos_u::mlw {
namespace {

constexpr size_t kLanes = 16;  // modes per palette
constexpr int32_t kFar = 1 << 29;

enum class From : uint8_t { kSame, kPalette, kAny };

struct ValueGroup {
  std::array<Mode, kLanes> modes;
  std::array<bool, kLanes> used = {};
  int change = 0;  // bits to change from another mode of the palette
  int enter = 0;   // bits to change from another palette
};

void modes_with_runs(const Histogram& histogram, const Palette& palette, ValueGroup* group) {
  const auto bits = mode_bits(histogram, palette);
  std::array<int, kWeightModes> order;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&bits](int a, int b) {
    return bits[static_cast<size_t>(a)] < bits[static_cast<size_t>(b)];
  });
  for (size_t lane = 0; lane < kLanes; ++lane) {
    group->modes[lane] = weight_mode(order[lane / 4]);
    group->modes[lane].zero_divisor = static_cast<uint8_t>(lane % 4);
    group->used[lane] = true;
  }
}

ValueGroup group_of(const Histogram& histogram, const Palette& palette) {
  ValueGroup group;
  if (palette.zero_runs) {
    modes_with_runs(histogram, palette, &group);
  } else {
    for (size_t lane = 0; lane < kWeightModes; ++lane) {
      group.modes[lane] = weight_mode(static_cast<int>(lane));
      group.used[lane] = true;
    }
  }
  const int ends = end_bits(palette, {});
  group.change = kHeaderBits + ends;
  group.enter = palette.header_bits() + ends;
  return group;
}

/// Returns the bits of all symbols of the histogram in all states, one row per symbol.
std::vector<uint16_t> table_of(const Histogram& histogram, const std::vector<Palette>& palettes,
                               const std::vector<ValueGroup>& groups) {
  const size_t states = palettes.size() * kLanes;
  std::vector<uint16_t> table(kSymbols * states, kUncodable);
  for (size_t symbol = 0; symbol < kSymbols; ++symbol) {
    const bool zero = symbol == 0 || symbol >= kFolded;
    if (histogram.folded[zero ? 0 : symbol] == 0) continue;
    uint16_t* row = table.data() + symbol * states;
    for (size_t group = 0; group < groups.size(); ++group) {
      const SymbolCost cost(palettes[group], static_cast<Symbol>(symbol));
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const size_t state = group * kLanes + lane;
        if (groups[group].used[lane]) row[state] = cost.bits(groups[group].modes[lane]);
      }
    }
  }
  return table;
}

class Trellis {
 public:
  Trellis(const Histogram& histogram, const std::vector<Palette>& palettes) {
    for (const Palette& palette : palettes) groups_.push_back(group_of(histogram, palette));
    table_ = table_of(histogram, palettes, groups_);
    states_ = palettes.size() * kLanes;
    path_.assign(states_, kFar);
    cell_.assign(states_, 0);
    for (size_t state = 0; state < states_; ++state) path_[state] = groups_[state / kLanes].enter;
  }

  std::vector<Segment> run(const Symbol* symbols, size_t count) {
    const size_t cells = (count + kCell - 1) / kCell;
    from_.assign(cells * states_, From::kSame);
    palette_best_.assign(cells * groups_.size(), 0);
    any_best_.assign(cells, 0);
    for (size_t cell = 0; cell < cells; ++cell) {
      if (cell > 0) change(cell);
      const size_t begin = cell * kCell;
      add(symbols + begin, std::min(kCell, count - begin));
    }
    return trace(cells, count);
  }

 private:
  void add(const Symbol* symbols, size_t count) {
    std::fill(cell_.begin(), cell_.end(), uint16_t{0});
    for (size_t i = 0; i < count; ++i) {
      const uint16_t* row = table_.data() + symbols[i] * states_;
      for (size_t first = 0; first < states_; first += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) {
          cell_[first + lane] = static_cast<uint16_t>(cell_[first + lane] + row[first + lane]);
        }
      }
    }
    for (size_t state = 0; state < states_; ++state) path_[state] += cell_[state];
  }

  void change(size_t cell) {
    int32_t any = kFar;
    for (size_t group = 0; group < groups_.size(); ++group) {
      const int32_t* path = path_.data() + group * kLanes;
      size_t best = 0;
      for (size_t lane = 1; lane < kLanes; ++lane) {
        if (path[lane] < path[best]) best = lane;
      }
      palette_best_[cell * groups_.size() + group] = static_cast<uint8_t>(best);
      if (path[best] < any) {
        any = path[best];
        any_best_[cell] = static_cast<uint16_t>(group * kLanes + best);
      }
    }
    for (size_t group = 0; group < groups_.size(); ++group) {
      int32_t* path = path_.data() + group * kLanes;
      From* from = from_.data() + cell * states_ + group * kLanes;
      const int32_t near =
          path[palette_best_[cell * groups_.size() + group]] + groups_[group].change;
      const int32_t far = any + groups_[group].enter;
      const int32_t other = std::min(near, far);
      const From other_from = near <= far ? From::kPalette : From::kAny;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        from[lane] = path[lane] <= other ? From::kSame : other_from;
        path[lane] = std::min(path[lane], other);
      }
    }
  }

  std::vector<Segment> trace(size_t cells, size_t count) const {
    std::vector<Segment> segments;
    size_t state = 0;
    for (size_t i = 1; i < states_; ++i) {
      if (path_[i] < path_[state]) state = i;
    }
    size_t end = count;
    for (size_t cell = cells; cell-- > 0;) {
      const From from = cell == 0 ? From::kAny : from_[cell * states_ + state];
      if (from == From::kSame) continue;
      const size_t group = state / kLanes;
      segments.push_back(
          {cell * kCell, end, static_cast<int>(group), groups_[group].modes[state % kLanes]});
      end = cell * kCell;
      state = from == From::kAny ? any_best_[cell]
                                 : group * kLanes + palette_best_[cell * groups_.size() + group];
    }
    std::reverse(segments.begin(), segments.end());
    return segments;
  }

  std::vector<ValueGroup> groups_;
  size_t states_ = 0;
  std::vector<uint16_t> table_, cell_;
  std::vector<int32_t> path_;
  std::vector<From> from_;
  std::vector<uint8_t> palette_best_;
  std::vector<uint16_t> any_best_;
};

}  // namespace

std::vector<Segment> cheapest_path(const Symbol* symbols, size_t count, const Histogram& histogram,
                                   const std::vector<Palette>& palettes) {
  return Trellis(histogram, palettes).run(symbols, count);
}

int end_bits(const Palette& palette, const Mode& mode) {
  return (mode.uncompressed ? 0 : kUnaryBits / 2) + (palette.zero_runs ? kUnaryBits / 2 : 0);
}

std::array<int64_t, kWeightModes> mode_bits(const Histogram& histogram, const Palette& palette) {
  const auto index = palette.indices();
  IndexCount indices;
  for (size_t folded = palette.zero_runs ? 1 : 0; folded < kFolded; ++folded) {
    if (histogram.folded[folded] > 0) indices.add(index[folded], histogram.folded[folded]);
  }
  const int width = palette.width();
  std::array<int64_t, kWeightModes> bits;
  for (int i = 0; i < kWeightModes; ++i) {
    bits[static_cast<size_t>(i)] = indices.bits(weight_mode(i), width);
  }
  return bits;
}

int64_t best_mode(const Histogram& histogram, const Palette& palette, bool new_palette,
                  Mode* mode) {
  const auto all = mode_bits(histogram, palette);
  const auto best = std::min_element(all.begin(), all.end());
  *mode = weight_mode(static_cast<int>(best - all.begin()));
  const int64_t coded = palette.zero_runs ? histogram.used() : histogram.count;
  const int64_t slices = std::max<int64_t>(1, (coded + kMaxSlice - 1) / kMaxSlice);
  const int64_t headers = (new_palette ? palette.header_bits() : kHeaderBits) +
                          (slices - 1) * (kHeaderBits + end_bits(palette, *mode));
  if (!palette.zero_runs) return *best + headers;
  int64_t runs = kNeverBits;
  for (int divisor = 0; divisor < 4; ++divisor) {
    const int64_t one = zero_run_bits(histogram, divisor, new_palette);
    if (one < runs) {
      runs = one;
      mode->zero_divisor = static_cast<uint8_t>(divisor);
    }
  }
  return *best + headers + runs;
}

}  // namespace thimble::engine::ethos_u::mlw
