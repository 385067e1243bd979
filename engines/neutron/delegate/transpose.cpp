// SPDX-License-Identifier: Apache-2.0
// Transposes blocks of 4 x 4 bytes in registers; the remaining rows and columns are copied byte by
// byte, along the longer side. tests/firmware/neutron_test.cpp measures both. The code requires a
// little-endian machine, as all Cortex-M are.

#include "engines/neutron/delegate/transpose.h"

#include <string.h>

namespace thimble::runtime::neutron {
namespace {

constexpr uint32_t kBlock = 4;

inline uint32_t load(const uint8_t* at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}
inline void store(uint8_t* at, uint32_t word) {
  memcpy(at, &word, sizeof word);
}

/// Transposes four rows of `columns` bytes, a multiple of 4.
void transpose_four_rows(const uint8_t* from, uint8_t* to, uint32_t to_stride, uint32_t columns,
                         uint32_t from_stride) {
  constexpr uint32_t kEven = 0x00FF00FF;
  constexpr uint32_t kLow = 0x0000FFFF;
  const uint8_t* const third = from + 2 * from_stride;
  const uint32_t step = 3 * to_stride;
  for (uint32_t at = 0; at != columns; at += kBlock) {
    const uint32_t a = load(from + at);
    const uint32_t b = load(from + from_stride + at);
    const uint32_t c = load(third + at);
    const uint32_t d = load(third + from_stride + at);
    // Interleave bytes of row pairs, then half words.
    const uint32_t ab_even = (a & kEven) | (b & kEven) << 8;
    const uint32_t ab_odd = (a >> 8 & kEven) | (b & ~kEven);
    const uint32_t cd_even = (c & kEven) | (d & kEven) << 8;
    const uint32_t cd_odd = (c >> 8 & kEven) | (d & ~kEven);
    store(to, (ab_even & kLow) | cd_even << 16);
    store(to + to_stride, (ab_odd & kLow) | cd_odd << 16);
    store(to + 2 * to_stride, ab_even >> 16 | (cd_even & ~kLow));
    store(to + step, ab_odd >> 16 | (cd_odd & ~kLow));
    to += kBlock * to_stride;
  }
}

/// Copies contiguous bytes to bytes that are `step` apart. collect() is the inverse.
void spread(const uint8_t* from, uint8_t* to, uint32_t step, uint32_t count) {
  for (; count >= kBlock; count -= kBlock, from += kBlock, to += kBlock * step) {
    to[0] = from[0];
    to[step] = from[1];
    to[2 * step] = from[2];
    to[3 * step] = from[3];
  }
  for (; count != 0; --count, to += step) *to = *from++;
}
void collect(const uint8_t* from, uint32_t step, uint8_t* to, uint32_t count) {
  for (; count >= kBlock; count -= kBlock, from += kBlock * step, to += kBlock) {
    to[0] = from[0];
    to[1] = from[step];
    to[2] = from[2 * step];
    to[3] = from[3 * step];
  }
  for (; count != 0; --count, from += step) *to++ = *from;
}

}  // namespace

void transpose(const uint8_t* from, uint8_t* to, uint32_t rows, uint32_t columns) {
  const uint32_t whole_rows = rows / kBlock * kBlock;
  const uint32_t whole_columns = columns / kBlock * kBlock;
  for (uint32_t r = 0; r < whole_rows && whole_columns != 0; r += kBlock) {
    transpose_four_rows(from + r * columns, to + r, rows, whole_columns, columns);
  }
  for (uint32_t c = whole_columns; c < columns; ++c) {
    collect(from + c, columns, to + c * rows, whole_rows);
  }
  for (uint32_t r = whole_rows; r < rows; ++r) spread(from + r * columns, to + r, rows, columns);
}

}  // namespace thimble::runtime::neutron
