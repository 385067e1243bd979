// SPDX-License-Identifier: Apache-2.0
#pragma once
// The elements of the MLW bit stream and their cost in bits.
//
// A stream is a sequence of slices. A slice has a header, an index per weight and, with zero runs,
// the number of zeros after each weight. Low indices select palette entries; higher indices select
// folded weights (magnitude << 1 | sign) from `direct` on. Indices are Golomb-Rice coded: a unary
// quotient, in which one bit can count 2, and a remainder.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace thimble::engine::ethos_u::mlw {

inline constexpr int kFolded = 512;  // number of folded weights
inline constexpr int kMaxPalette = 32;
inline constexpr int kMaxSlice = 32768;  // maximum number of indices in a slice
inline constexpr int kHeaderBits = 23;   // of a slice that keeps the palette
inline constexpr int kPaletteBits = 13;  // additional bits of a new palette, without its entries
inline constexpr int kEndBits = 3;
inline constexpr int kUnaryBits = 12;    // per chunk
inline constexpr int kUncodable = 3000;  // bits; more than any alternative

[[nodiscard]] constexpr uint16_t fold(int weight) {
  return static_cast<uint16_t>(weight < 0 ? -weight * 2 + 1 : weight * 2);
}

/// Mapping of weights to indices. It is valid until a slice defines a new palette.
struct Palette {
  bool zero_runs = false;
  int size = 0;    // 0, 2..32
  int bits = 2;    // bits of an entry; if size = 0, of an uncompressed index
  int direct = 0;  // first folded weight after the palette
  std::array<uint16_t, kMaxPalette> entries = {};

  bool operator==(const Palette&) const = default;
  [[nodiscard]] int header_bits() const { return kHeaderBits + kPaletteBits + size * bits; }
  /// Returns the bits of an uncompressed index.
  [[nodiscard]] int width() const;
  /// Returns the index of each folded weight; -1 if it has no index of at most nine bits.
  [[nodiscard]] std::array<int16_t, kFolded> indices() const;
  /// Returns the index of one folded weight.
  [[nodiscard]] int index(int folded) const;
};

/// Coding of indices and zero runs in a slice.
struct Mode {
  uint8_t divisor = 0;        // bits of a remainder, 0..5
  bool truncated = false;     // quotients are 0..2; 2 needs no end bit
  bool uncompressed = false;  // indices of Palette::width() bits
  uint8_t zero_divisor = 0;   // 0..3

  bool operator==(const Mode&) const = default;
};

inline constexpr int kWeightModes = 13;
/// Returns weight mode i: six divisors, six divisors truncated, uncompressed.
[[nodiscard]] constexpr Mode weight_mode(int i) {
  if (i == 12) return {.uncompressed = true};
  return {.divisor = static_cast<uint8_t>(i % 6), .truncated = i >= 6};
}

/// Returns the bits of an index, or kUncodable.
[[nodiscard]] constexpr int index_bits(const Mode& mode, int width, int index) {
  if (index < 0) return kUncodable;
  if (mode.uncompressed) return index >> width == 0 ? width : kUncodable;
  const int quotient = index >> mode.divisor;
  if (mode.truncated) {
    return quotient > 2 ? kUncodable : mode.divisor + (quotient == 0 ? 1 : 2);
  }
  return quotient > 31 ? kUncodable : mode.divisor + quotient + 1;
}

inline constexpr int64_t kNeverBits = int64_t{1} << 50;

/// Sums over indices from which the bits in any mode can be computed.
class IndexCount {
 public:
  /// Index -1 means that a weight has no index; no mode can be used then.
  void add(int index, int64_t times);
  /// Returns the bits including the unused end of the last chunk; kNeverBits if an index has no
  /// code.
  [[nodiscard]] int64_t bits(const Mode& mode, int width) const;
  [[nodiscard]] int largest() const { return largest_; }

 private:
  static constexpr size_t kDivisors = 6;
  std::array<int64_t, kDivisors> quotients_ = {};  // sum of index >> divisor
  std::array<int64_t, kDivisors> twos_ = {};       // number of steps of two in these
  std::array<int64_t, kDivisors> above_ = {};      // number of indices with a nonzero quotient
  int64_t count_ = 0;
  int largest_ = 0;
  bool never_ = false;
};

/// Returns the unary bits of zero runs in a chunk.
[[nodiscard]] constexpr int zero_unary_bits(const Mode& mode) {
  return mode.zero_divisor == 3 ? 8 : kUnaryBits;
}

/// Histogram of the weights of a stretch.
struct Histogram {
  std::array<uint32_t, kFolded> folded = {};
  /// Zeros by position in their run, counted from 1, modulo 8.
  std::array<uint32_t, 8> run_place = {};
  uint32_t count = 0;

  void add(const Histogram& other);
  [[nodiscard]] uint32_t used() const { return count - folded[0]; }
};

/// A weight as one number: its folded value, or 512 + position in the zero run modulo 8.
using Symbol = uint16_t;
inline constexpr int kSymbols = kFolded + 8;
[[nodiscard]] std::vector<Symbol> symbols_of(const int16_t* weights, size_t count);
void count_symbols(const Symbol* symbols, size_t count, Histogram* histogram);

/// Bits of one symbol. With zero runs, a weight includes the end of the run that follows it.
class SymbolCost {
 public:
  SymbolCost(const Palette& palette, Symbol symbol);
  /// Returns at most kUncodable.
  [[nodiscard]] uint16_t bits(const Mode& mode) const;

 private:
  bool zero_runs_;
  int place_;  // position in a zero run, modulo 8; -1 for a weight
  int index_, width_;
};

/// Returns the bits of a histogram's zero runs, including the unused end of the last chunk.
[[nodiscard]] int64_t zero_run_bits(const Histogram& histogram, int divisor, bool new_palette);

/// A palette, its best mode, and the bits without headers.
struct Choice {
  Palette palette;
  Mode mode;
  int64_t bits = std::numeric_limits<int64_t>::max();
};

/// Returns the cheapest palette for a stretch in one slice. The comparison includes the header.
[[nodiscard]] Choice best_choice(const Histogram& histogram, bool zero_runs);

}  // namespace thimble::engine::ethos_u::mlw
