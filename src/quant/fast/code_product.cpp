// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/code_product.h"

#include <algorithm>
#include <cstdlib>

#include "base/rounding.h"
#include "quant/fast/code_panel.h"
#include "quant/fast/convolution_layout.h"
#include "quant/fast/pair_lanes.h"

namespace thimble::quant {
namespace {

constexpr int64_t kRows = 4;                // of weights at a time
constexpr int64_t kTileBytes = 128 * 1024;  // of the panels of one tile

/// Copies codes without zero point: a difference has at most 9 bits for int8, and int16 has the
/// zero point 0.
template <typename Code>
void widen_codes(const Code* codes, int64_t count, int32_t zero_point, int16_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(codes[i] - zero_point);
}

/// Copies rows of weights as pairs of terms. An odd last term has a second weight 0.
void pair_weights(const int8_t* w, int64_t rows, int64_t terms, WeightPair* to) {
  for (int64_t row = 0; row < rows; ++row, w += terms) {
    int64_t term = 0;
    for (; term + 1 < terms; term += 2) *to++ = {w[term], w[term + 1]};
    if (term < terms) *to++ = {w[term], 0};
  }
}

/// sums[row][0 to 7] = rows of weights * panel.
template <int64_t kCount>
void multiply_code_panel(const WeightPair* w, int64_t pairs, const int16_t* panel, int32_t* sums,
                         int64_t pitch) {
  PairLanes lanes[kCount][2];
  for (int64_t pair = 0; pair < pairs; ++pair, panel += kPanelElements) {
    for (int64_t row = 0; row < kCount; ++row) {
      lanes[row][0].add(panel, w[row * pairs + pair]);
      lanes[row][1].add(panel + kPanelPositions, w[row * pairs + pair]);
    }
  }
  for (int64_t row = 0; row < kCount; ++row) {
    lanes[row][0].store(sums + row * pitch);
    lanes[row][1].store(sums + row * pitch + kPanelPositions / 2);
  }
}

/// The panels of one tile of positions.
class Tile {
 public:
  /// Memory for tiles of up to positions() positions. Uses scratch slots 0 and 1.
  Tile(int64_t terms, int64_t positions, Scratch& scratch)
      : pairs_((terms + 1) / 2),
        positions_(std::clamp(kTileBytes / (2 * kPanelPositions * 2 * pairs_), int64_t{1},
                              round_up(positions, kPanelPositions) / kPanelPositions) *
                   kPanelPositions) {
    panels_ = scratch.get<int16_t>(0, static_cast<size_t>((2 * pairs_ + 2) * positions_));
    rows_ = panels_ + 2 * pairs_ * positions_;
    sums_ = scratch.get<int32_t>(1, static_cast<size_t>(kAvx2Rows * positions_));
  }
  [[nodiscard]] int64_t positions() const { return positions_; }

  /// Sets `count` columns. row_of(term, to) writes the values of a term.
  template <typename RowOf>
  void fill(int64_t terms, int64_t count, RowOf row_of) {
    count_ = count;
    std::fill(rows_, rows_ + 2 * positions_, int16_t{0});
    for (int64_t pair = 0; pair < pairs_; ++pair) {
      const int16_t* const even = rows_;
      int16_t* const odd = rows_ + positions_;
      row_of(2 * pair, rows_);
      if (2 * pair + 1 < terms) {
        row_of(2 * pair + 1, odd);
      } else {
        std::fill(odd, odd + count, int16_t{0});
      }
      for (int64_t first = 0; first < count; first += kPanelPositions) {
        int16_t* to = panels_ + first * 2 * pairs_ + pair * kPanelElements;
        for (int64_t i = 0; i < kPanelPositions; ++i) {
          to[2 * i] = even[first + i];
          to[2 * i + 1] = odd[first + i];
        }
      }
    }
  }

  /// Calls take(row, sums of the tile) for each row of weights.
  template <typename Take>
  void multiply(const WeightPair* w, int64_t rows, const Take& take) {
    for (int64_t row = 0; row < rows;) {
      const bool avx2 = has_avx2_panel() && row + kAvx2Rows <= rows;
      const int64_t together = avx2 ? kAvx2Rows : row + kRows <= rows ? kRows : 1;
      for (int64_t first = 0; first < count_; first += kPanelPositions) {
        const int16_t* const panel = panels_ + first * 2 * pairs_;
        if (avx2) {
          multiply_code_panel_avx2(w, pairs_, panel, sums_ + first, positions_);
        } else if (together == kRows) {
          multiply_code_panel<kRows>(w, pairs_, panel, sums_ + first, positions_);
        } else {
          multiply_code_panel<1>(w, pairs_, panel, sums_ + first, positions_);
        }
      }
      for (int64_t i = 0; i < together; ++i, ++row, w += pairs_) {
        take(row, std::span(sums_ + i * positions_, static_cast<size_t>(count_)));
      }
    }
  }

 private:
  int64_t pairs_, positions_, count_ = 0;
  int16_t* panels_;
  int16_t* rows_;  // two rows of values
  int32_t* sums_;
};

/// Multiplies the rows of `x`, [terms][positions] with this pitch, with all rows of weights.
/// load(term, first, count, to) writes values of a term.
template <typename Load, typename Take>
void multiply_rows(Tile& tile, const WeightPair* w, int64_t rows, int64_t terms, int64_t positions,
                   const Load& load, const Take& take) {
  for (int64_t first = 0; first < positions; first += tile.positions()) {
    const int64_t count = std::min(tile.positions(), positions - first);
    tile.fill(terms, count, [&](int64_t term, int16_t* to) { load(term, first, count, to); });
    tile.multiply(w, rows, [&](int64_t row, std::span<int32_t> sums) { take(row, first, sums); });
  }
}

template <typename Code>
void pointwise_codes(const Convolution& c, const Code* x, int32_t zero_point, const WeightPair* w,
                     Scratch& scratch, int64_t image, const TakeSums& take) {
  const int64_t plane = c.in_h * c.in_w;
  Tile tile(c.in_channels, plane, scratch);
  multiply_rows(
      tile, w, c.out_channels, c.in_channels, plane,
      [&](int64_t term, int64_t first, int64_t count, int16_t* to) {
        widen_codes(x + term * plane + first, count, zero_point, to);
      },
      [&](int64_t row, int64_t first, std::span<int32_t> sums) { take(image, row, first, sums); });
}

/// Uses scratch slot 3 for the image without zero point, because padding has the value 0, and for a
/// part of the patch matrix.
template <typename Code>
void codes_by_patches(const Convolution& c, const Code* x, int32_t zero_point, const WeightPair* w,
                      Scratch& scratch, int64_t image, const TakeSums& take) {
  const int64_t plane = c.in_h * c.in_w;
  const int64_t taps = c.kernel_h * c.kernel_w;
  const int64_t outputs = c.out_channels / c.groups;
  const int64_t row_bytes = c.terms() * c.out_w * static_cast<int64_t>(sizeof(int16_t));
  const int64_t rows = std::clamp<int64_t>(kPatchBytes / row_bytes, 1, c.out_h);
  const int64_t columns_max = rows * c.out_w;
  int16_t* const values =
      scratch.get<int16_t>(3, static_cast<size_t>(c.in_channels * plane + columns_max));
  int16_t* const patch_row = values + c.in_channels * plane;
  widen_codes(x, c.in_channels * plane, zero_point, values);
  Tile tile(c.terms(), columns_max, scratch);
  for (int64_t group = 0; group < c.groups; ++group) {
    const int64_t first_channel = group * (c.in_channels / c.groups);
    for (int64_t first = 0; first < c.out_h; first += rows) {
      const int64_t last = std::min(first + rows, c.out_h);
      multiply_rows(
          tile, w + group * outputs * ((c.terms() + 1) / 2), outputs, c.terms(),
          (last - first) * c.out_w,
          [&](int64_t term, int64_t position, int64_t count, int16_t* to) {
            const int64_t tap = term % taps;
            fill_patch_row(c, values + (first_channel + term / taps) * plane, tap / c.kernel_w,
                           tap % c.kernel_w, first, last, patch_row);
            std::copy_n(patch_row + position, count, to);
          },
          [&](int64_t row, int64_t position, std::span<int32_t> sums) {
            take(image, group * outputs + row, first * c.out_w + position, sums);
          });
    }
  }
}

/// Sums of one output channel at all positions of a pitch. Taps are read in pairs.
void filter_codes(const Convolution& c, const PhasePlan& plan, const int16_t* phases,
                  const WeightPair* w, const std::vector<int64_t>& offsets, int32_t* sums) {
  constexpr int64_t kLanes = 4;
  const int64_t positions = (c.out_h - 1) * plan.pitch + c.out_w;
  for (int64_t i = 0; i < positions; i += kPhaseLanes) {
    PairLanes lanes[kPhaseLanes / kLanes];
    for (size_t tap = 0; tap < offsets.size(); tap += 2) {
      const int16_t* const even = phases + offsets[tap] + i;
      const int16_t* const odd = phases + offsets[std::min(tap + 1, offsets.size() - 1)] + i;
      for (int64_t k = 0; k < kPhaseLanes / kLanes; ++k) {
        lanes[k].add_rows(even + k * kLanes, odd + k * kLanes, w[tap / 2]);
      }
    }
    for (int64_t k = 0; k < kPhaseLanes / kLanes; ++k) lanes[k].store(sums + i + k * kLanes);
  }
}

template <typename Code>
void codes_by_phases(const Convolution& c, const Code* x, int32_t zero_point, const WeightPair* w,
                     Scratch& scratch, int64_t image, const TakeSums& take) {
  const PhasePlan plan(c);
  const int64_t outputs = c.out_channels / c.groups;
  const int64_t pairs = (c.kernel_h * c.kernel_w + 1) / 2;
  const int64_t in_plane = c.in_h * c.in_w;
  int16_t* const plane = scratch.get<int16_t>(
      0, static_cast<size_t>(in_plane + plan.phase_size * c.stride_h * c.stride_w));
  int16_t* const phases = plane + in_plane;
  int32_t* const sums =
      scratch.get<int32_t>(1, static_cast<size_t>(c.out_h * plan.pitch + kPhaseLanes));
  const std::vector<int64_t> offsets = plan.tap_offsets(c);
  for (int64_t channel = 0; channel < c.in_channels; ++channel) {
    widen_codes(x + channel * in_plane, in_plane, zero_point, plane);
    split_phases(c, plan, plane, phases);
    for (int64_t o = channel * outputs; o < (channel + 1) * outputs; ++o) {
      filter_codes(c, plan, phases, w + o * pairs, offsets, sums);
      for (int64_t oh = 1; oh < c.out_h; ++oh) {
        std::copy_n(sums + oh * plan.pitch, c.out_w, sums + oh * c.out_w);
      }
      take(image, o, 0, std::span(sums, static_cast<size_t>(c.out_h * c.out_w)));
    }
  }
}

}  // namespace

int32_t dot(const int16_t* a, const int16_t* b, int64_t terms) {
  int32_t sum = 0;
  for (int64_t k = 0; k < terms; ++k) sum += int32_t{a[k]} * int32_t{b[k]};
  return sum;
}

bool sums_fit_int32(std::span<const int8_t> w, int64_t outputs, int64_t magnitude) {
  const size_t terms = w.size() / static_cast<size_t>(outputs);
  for (size_t first = 0; first < w.size(); first += terms) {
    int64_t sum = 0;
    for (size_t i = first; i < first + terms; ++i) sum += std::abs(int32_t{w[i]});
    if (sum * magnitude > INT32_MAX) return false;
  }
  return true;
}

template <typename Code>
void convolve_codes(const Convolution& c, const Code* x, int32_t zero_point, const int8_t* w,
                    Scratch& scratch, const TakeSums& take) {
  WeightPair* const pairs =
      scratch.get<WeightPair>(2, static_cast<size_t>(c.out_channels * ((c.terms() + 1) / 2)));
  pair_weights(w, c.out_channels, c.terms(), pairs);
  for (int64_t n = 0; n < c.batch; ++n, x += c.in_channels * c.in_h * c.in_w) {
    if (c.pointwise()) {
      pointwise_codes(c, x, zero_point, pairs, scratch, n, take);
    } else if (c.depthwise()) {
      codes_by_phases(c, x, zero_point, pairs, scratch, n, take);
    } else {
      codes_by_patches(c, x, zero_point, pairs, scratch, n, take);
    }
  }
}

template <typename Code>
void multiply_codes(const Code* x, int32_t zero_point, const int8_t* w, int64_t rows, int64_t in,
                    int64_t out, Scratch& scratch, const TakeSums& take) {
  const int64_t terms = round_up(in, kDotTerms);
  int16_t* const values = scratch.get<int16_t>(0, static_cast<size_t>(rows * terms));
  int16_t* const weights = scratch.get<int16_t>(1, static_cast<size_t>(terms));
  int32_t* const sums = scratch.get<int32_t>(2, static_cast<size_t>(rows));
  std::fill(values, values + rows * terms, int16_t{0});
  std::fill(weights, weights + terms, int16_t{0});
  for (int64_t i = 0; i < rows; ++i) widen_codes(x + i * in, in, zero_point, values + i * terms);
  for (int64_t o = 0; o < out; ++o) {
    widen_codes(w + o * in, in, 0, weights);
    for (int64_t i = 0; i < rows; ++i) sums[i] = dot(values + i * terms, weights, terms);
    take(0, o, 0, std::span(sums, static_cast<size_t>(rows)));
  }
}

template void convolve_codes(const Convolution&, const int8_t*, int32_t, const int8_t*, Scratch&,
                             const TakeSums&);
template void convolve_codes(const Convolution&, const int16_t*, int32_t, const int8_t*, Scratch&,
                             const TakeSums&);
template void multiply_codes(const int8_t*, int32_t, const int8_t*, int64_t, int64_t, int64_t,
                             Scratch&, const TakeSums&);
template void multiply_codes(const int16_t*, int32_t, const int8_t*, int64_t, int64_t, int64_t,
                             Scratch&, const TakeSums&);

}  // namespace thimble::quant
