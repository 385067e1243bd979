// Blocks of four by four, in four registers: a byte costs about 2 instructions of an M33, a loop
// over bytes 6 (tests/firmware/neutron_test.cpp). Little-endian, as all Cortex-M are.

#include "runtime/delegates/neutron/transpose.h"

#include <cstring>

namespace thimble::runtime::neutron {
namespace {

constexpr uint32_t kBlock = 4;

uint32_t load(const uint8_t* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}
void store(uint8_t* at, uint32_t word) {
  std::memcpy(at, &word, sizeof word);
}

void block(const uint8_t* from, uint8_t* to, uint32_t rows, uint32_t columns) {
  constexpr uint32_t kEven = 0x00FF00FF;
  constexpr uint32_t kOdd = 0xFF00FF00;
  constexpr uint32_t kLow = 0x0000FFFF;
  const uint32_t a = load(from);
  const uint32_t b = load(from + columns);
  const uint32_t c = load(from + 2 * columns);
  const uint32_t d = load(from + 3 * columns);
  // Pairs of bytes, then pairs of halves.
  const uint32_t ab_even = (a & kEven) | (b & kEven) << 8;
  const uint32_t ab_odd = (a & kOdd) >> 8 | (b & kOdd);
  const uint32_t cd_even = (c & kEven) | (d & kEven) << 8;
  const uint32_t cd_odd = (c & kOdd) >> 8 | (d & kOdd);
  store(to, (ab_even & kLow) | cd_even << 16);
  store(to + rows, (ab_odd & kLow) | cd_odd << 16);
  store(to + 2 * rows, ab_even >> 16 | (cd_even & ~kLow));
  store(to + 3 * rows, ab_odd >> 16 | (cd_odd & ~kLow));
}

void bytes(const uint8_t* from, uint8_t* to, uint32_t rows, uint32_t columns, uint32_t row_count,
           uint32_t column_count) {
  for (uint32_t r = 0; r < row_count; ++r) {
    for (uint32_t c = 0; c < column_count; ++c) to[c * rows + r] = from[r * columns + c];
  }
}

}  // namespace

void transpose(const uint8_t* from, uint8_t* to, uint32_t rows, uint32_t columns) {
  const uint32_t whole_rows = rows / kBlock * kBlock;
  const uint32_t whole_columns = columns / kBlock * kBlock;
  for (uint32_t r = 0; r < whole_rows; r += kBlock) {
    const uint8_t* const line = from + r * columns;
    for (uint32_t c = 0; c < whole_columns; c += kBlock) {
      block(line + c, to + c * rows + r, rows, columns);
    }
    bytes(line + whole_columns, to + whole_columns * rows + r, rows, columns, kBlock,
          columns - whole_columns);
  }
  bytes(from + whole_rows * columns, to + whole_rows, rows, columns, rows - whole_rows, columns);
}

}  // namespace thimble::runtime::neutron
