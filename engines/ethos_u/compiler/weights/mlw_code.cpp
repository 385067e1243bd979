// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/weights/mlw_code.h"

#include <algorithm>

namespace thimble::engine::ethos_u::mlw {

int Palette::width() const {
  if (size == 0) return bits;
  int width = 0;
  while (1 << width < size) ++width;
  return width;
}

int Palette::index(int folded) const {
  for (int i = 0; i < size; ++i) {
    if (entries[static_cast<size_t>(i)] == folded) return i;
  }
  const int at = folded - direct + size;
  return folded >= direct && at < kFolded ? at : -1;
}

std::array<int16_t, kFolded> Palette::indices() const {
  std::array<int16_t, kFolded> index;
  for (int folded = 0; folded < kFolded; ++folded) {
    const int at = folded - direct + size;
    index[static_cast<size_t>(folded)] =
        static_cast<int16_t>(folded >= direct && at < kFolded ? at : -1);
  }
  for (int i = size - 1; i >= 0; --i) {
    index[entries[static_cast<size_t>(i)]] = static_cast<int16_t>(i);
  }
  return index;
}

void IndexCount::add(int index, int64_t times) {
  never_ = never_ || index < 0;
  if (index < 0) return;
  for (size_t d = 0; d < kDivisors; ++d) {
    const int64_t quotient = index >> d;
    quotients_[d] += times * quotient;
    twos_[d] += times * (quotient >> 1);
    above_[d] += quotient != 0 ? times : 0;
  }
  count_ += times;
  largest_ = std::max(largest_, index);
}

int64_t IndexCount::bits(const Mode& mode, int width) const {
  if (never_) return kNeverBits;
  if (mode.uncompressed) return largest_ >> width == 0 ? count_ * width : kNeverBits;
  const size_t d = mode.divisor;
  const int quotient = largest_ >> d;
  if (quotient > (mode.truncated ? 2 : 31)) return kNeverBits;
  const int64_t unary = count_ + (mode.truncated ? 0 : twos_[d]);
  const int64_t rest = mode.truncated ? above_[d] : quotients_[d] - twos_[d];
  return (unary + kUnaryBits - 1) / kUnaryBits * kUnaryBits + rest + count_ * mode.divisor;
}

void Histogram::add(const Histogram& other) {
  for (size_t i = 0; i < folded.size(); ++i) folded[i] += other.folded[i];
  for (size_t i = 0; i < run_place.size(); ++i) run_place[i] += other.run_place[i];
  count += other.count;
}

std::vector<Symbol> symbols_of(const int16_t* weights, size_t count) {
  std::vector<Symbol> symbols(count);
  uint32_t run = 0;
  for (size_t i = 0; i < count; ++i) {
    run = weights[i] == 0 ? run + 1 : 0;
    symbols[i] = static_cast<Symbol>(run == 0 ? fold(weights[i]) : kFolded + run % 8);
  }
  return symbols;
}

void count_symbols(const Symbol* symbols, size_t count, Histogram* histogram) {
  for (size_t i = 0; i < count; ++i) {
    const Symbol symbol = symbols[i];
    if (symbol < kFolded) {
      ++histogram->folded[symbol];
    } else {
      ++histogram->run_place[symbol - kFolded];
      ++histogram->folded[0];
    }
  }
  histogram->count += static_cast<uint32_t>(count);
}

SymbolCost::SymbolCost(const Palette& palette, Symbol symbol)
    : zero_runs_(palette.zero_runs),
      place_(symbol < kFolded ? -1 : symbol - kFolded),
      index_(palette.index(symbol < kFolded ? symbol : 0)),
      width_(palette.width()) {}

uint16_t SymbolCost::bits(const Mode& mode) const {
  if (zero_runs_ && place_ >= 0) return place_ % (1 << mode.zero_divisor) == 0 ? 1 : 0;
  const int end_of_run = zero_runs_ ? 1 + mode.zero_divisor : 0;
  return static_cast<uint16_t>(std::min(index_bits(mode, width_, index_) + end_of_run, kUncodable));
}

int64_t zero_run_bits(const Histogram& histogram, int divisor, bool new_palette) {
  const int64_t runs = int64_t{histogram.used()} + (new_palette ? 1 : 0);
  int64_t unary = runs;
  for (size_t place = 0; place < 8; ++place) {
    if (place % (size_t{1} << divisor) == 0) unary += histogram.run_place[place];
  }
  const int64_t chunk = zero_unary_bits({.zero_divisor = static_cast<uint8_t>(divisor)});
  return (unary + chunk - 1) / chunk * chunk + runs * divisor;
}

}  // namespace thimble::engine::ethos_u::mlw
