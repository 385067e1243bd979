#pragma once
// What the MLW bit stream can say, and what it costs.
//
// A stream is slices. A slice has a header, an index per weight and, with zero runs, the number of
// zeros behind each weight. Indices mean entries of a palette first, then the folded weights
// (magnitude << 1 | sign) from `direct` on. They are Golomb-Rice coded: a quotient in unary, whose
// steps of two share a bit, and a remainder.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace thimble::engine::ethos_u::mlw {

inline constexpr int kFolded = 512;  // folded weights
inline constexpr int kMaxPalette = 32;
inline constexpr int kMaxSlice = 32768;  // indices in a slice
inline constexpr int kHeaderBits = 23;   // of a slice that keeps the palette
inline constexpr int kPaletteBits = 13;  // more with a palette, and its entries
inline constexpr int kEndBits = 3;
inline constexpr int kUnaryBits = 12;    // of a chunk
inline constexpr int kUncodable = 3000;  // bits; more than any way around it

[[nodiscard]] constexpr uint16_t fold(int weight) {
  return static_cast<uint16_t>(weight < 0 ? -weight * 2 + 1 : weight * 2);
}

/// How weights map to indices, until another slice brings another.
struct Palette {
  bool zero_runs = false;
  int size = 0;    // 0, 2..32
  int bits = 2;    // of an entry; without entries: of an uncompressed index
  int direct = 0;  // first folded weight behind the palette
  std::array<uint16_t, kMaxPalette> entries = {};

  bool operator==(const Palette&) const = default;
  [[nodiscard]] int header_bits() const { return kHeaderBits + kPaletteBits + size * bits; }
  /// Bits of an index without Golomb-Rice.
  [[nodiscard]] int width() const;
  /// Index of each folded weight; -1 if there is none of at most nine bits.
  [[nodiscard]] std::array<int16_t, kFolded> indices() const;
  /// One of them.
  [[nodiscard]] int index(int folded) const;
};

/// How a slice codes indices and zero runs.
struct Mode {
  uint8_t divisor = 0;        // bits of a remainder, 0..5
  bool truncated = false;     // quotients are 0..2, and 2 needs no end
  bool uncompressed = false;  // Palette::width() bits
  uint8_t zero_divisor = 0;   // 0..3

  bool operator==(const Mode&) const = default;
};

inline constexpr int kWeightModes = 13;
/// Six divisors, the same truncated, uncompressed.
[[nodiscard]] constexpr Mode weight_mode(int i) {
  if (i == 12) return {.uncompressed = true};
  return {.divisor = static_cast<uint8_t>(i % 6), .truncated = i >= 6};
}

/// Bits of an index, or kUncodable.
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

/// Indices, counted: their bits in any mode.
class IndexCount {
 public:
  /// Index -1: there is none, so no mode can be used.
  void add(int index, int64_t times);
  /// With the unused end of the last chunk; kNeverBits if an index has no code.
  [[nodiscard]] int64_t bits(const Mode& mode, int width) const;
  [[nodiscard]] int largest() const { return largest_; }

 private:
  static constexpr size_t kDivisors = 6;
  std::array<int64_t, kDivisors> quotients_ = {};  // sum of index >> divisor
  std::array<int64_t, kDivisors> twos_ = {};       // steps of two in these
  std::array<int64_t, kDivisors> above_ = {};      // indices with a quotient that is not 0
  int64_t count_ = 0;
  int largest_ = 0;
  bool never_ = false;
};

/// Bits of the unary codes in a chunk of zero runs.
[[nodiscard]] constexpr int zero_unary_bits(const Mode& mode) {
  return mode.zero_divisor == 3 ? 8 : kUnaryBits;
}

/// Weights of a stretch, counted.
struct Histogram {
  std::array<uint32_t, kFolded> folded = {};
  /// Zeros by their place in their run, counted from 1, modulo 8.
  std::array<uint32_t, 8> run_place = {};
  uint32_t count = 0;

  void add(const Histogram& other);
  [[nodiscard]] uint32_t used() const { return count - folded[0]; }
};

/// A weight in one number: its fold, or 512 + place in the run of zeros modulo 8.
using Symbol = uint16_t;
inline constexpr int kSymbols = kFolded + 8;
[[nodiscard]] std::vector<Symbol> symbols_of(const int16_t* weights, size_t count);
void count_symbols(const Symbol* symbols, size_t count, Histogram* histogram);

/// Bits of one symbol; with zero runs a weight brings the end of the run behind it.
class SymbolCost {
 public:
  SymbolCost(const Palette& palette, Symbol symbol);
  /// At most kUncodable.
  [[nodiscard]] uint16_t bits(const Mode& mode) const;

 private:
  bool zero_runs_;
  int place_;  // in a run of zeros, modulo 8; -1 for a weight
  int index_, width_;
};

/// Bits of the runs of zeros of a histogram, with the unused end of the last chunk.
[[nodiscard]] int64_t zero_run_bits(const Histogram& histogram, int divisor, bool new_palette);

/// A palette and the mode that goes with it best, and the bits without headers.
struct Choice {
  Palette palette;
  Mode mode;
  int64_t bits = std::numeric_limits<int64_t>::max();
};

/// Cheapest palette for a stretch in one slice, header included in the comparison.
[[nodiscard]] Choice best_choice(const Histogram& histogram, bool zero_runs);

}  // namespace thimble::engine::ethos_u::mlw
