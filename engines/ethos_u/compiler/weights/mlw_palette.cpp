// SPDX-License-Identifier: Apache-2.0
// Finds the cheapest palette of a histogram. Two families of palettes are tried at every size: the
// most frequent weights and the smallest weights. The smallest weights leave no gaps in the indices
// after the palette, and -0, which never occurs, needs no index.

#include <algorithm>

#include "engines/ethos_u/compiler/weights/mlw_code.h"

namespace thimble::engine::ethos_u::mlw {
namespace {

struct Value {
  int folded = 0;
  int64_t count = 0;
};

int bits_for(int value) {
  int bits = 2;
  while (value >> bits != 0) ++bits;
  return bits;
}

class Search {
 public:
  Search(const Histogram& histogram, bool zero_runs) {
    best_.palette.zero_runs = zero_runs;
    for (int folded = zero_runs ? 1 : 0; folded < kFolded; ++folded) {
      const uint32_t count = histogram.folded[static_cast<size_t>(folded)];
      if (count > 0) by_value_.push_back({folded, count});
    }
    by_count_ = by_value_;
    std::sort(by_count_.begin(), by_count_.end(), [](const Value& a, const Value& b) {
      return a.count > b.count || (a.count == b.count && a.folded < b.folded);
    });
  }

  Choice run() {
    for (const int size : {0, 2, 3, 4, 6, 8, 12, 16, 24, 32}) attempt(size, by_count_);
    for (const int size : {8, 16, 24, 30, 31}) attempt(size, by_value_);
    if (by_value_.size() < kMaxPalette) attempt(static_cast<int>(by_value_.size()), by_count_);
    return best_;
  }

 private:
  /// Evaluates a palette of the first `size` values of `order`.
  void attempt(int size, const std::vector<Value>& order) {
    if (size > static_cast<int>(order.size())) return;
    std::vector<Value> inside(order.begin(), order.begin() + size);
    std::sort(inside.begin(), inside.end(), [](const Value& a, const Value& b) {
      return a.count > b.count || (a.count == b.count && a.folded < b.folded);
    });
    std::array<bool, kFolded> taken = {};
    Palette palette;
    palette.zero_runs = best_.palette.zero_runs;
    int widest = 0;
    IndexCount cost;
    for (const Value& value : inside) {
      taken[static_cast<size_t>(value.folded)] = true;
      widest = std::max(widest, value.folded);
      cost.add(palette.size, value.count);
      palette.entries[static_cast<size_t>(palette.size++)] = static_cast<uint16_t>(value.folded);
    }
    if (palette.size == 1) palette.size = 2;  // size 1 has no code; the second entry is unused
    bool first = true;
    for (const Value& value : by_value_) {
      if (taken[static_cast<size_t>(value.folded)]) continue;
      if (first) palette.direct = std::min(value.folded, 31);
      first = false;
      const int index = value.folded - palette.direct + palette.size;
      if (index >= kFolded) return;
      cost.add(index, value.count);
    }
    palette.bits = bits_for(palette.size == 0 ? cost.largest() : widest);
    consider(palette, cost);
  }

  void consider(const Palette& palette, const IndexCount& cost) {
    const int width = palette.width();
    for (int i = 0; i < kWeightModes; ++i) {
      const Mode mode = weight_mode(i);
      const int64_t bits = cost.bits(mode, width);
      if (best_.bits == std::numeric_limits<int64_t>::max() ||
          bits + palette.header_bits() < best_.bits + best_.palette.header_bits()) {
        best_ = {palette, mode, bits};
      }
    }
  }

  std::vector<Value> by_value_, by_count_;
  Choice best_;
};

}  // namespace

Choice best_choice(const Histogram& histogram, bool zero_runs) {
  Choice choice = Search(histogram, zero_runs).run();
  if (!zero_runs) return choice;
  int64_t runs = std::numeric_limits<int64_t>::max();
  for (uint8_t divisor = 0; divisor < 4; ++divisor) {
    const int64_t bits = zero_run_bits(histogram, divisor, true);
    if (bits < runs) {
      runs = bits;
      choice.mode.zero_divisor = divisor;
    }
  }
  choice.bits += runs;
  return choice;
}

}  // namespace thimble::engine::ethos_u::mlw
