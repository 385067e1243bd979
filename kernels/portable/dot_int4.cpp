#include "kernels/portable/dot_int4.h"

#include "kernels/isa.h"

#if !THIMBLE_HAS_DSP

namespace thimble::kernels {
namespace {

/// Adds the products with a byte of weights.
inline void add_int4_pair(int32_t x, uint8_t byte, uint32_t& low, uint32_t& both) {
  both += static_cast<uint32_t>(x * static_cast<int8_t>(byte));
  low += static_cast<uint32_t>(x * (byte & 15));
}

}  // namespace

Int4Operand int4_operand(const int8_t* x, int32_t n, int32_t offset) {
  int32_t sum = n * offset;
  for (int32_t i = 0; i < n; ++i) sum += x[i];
  return {x, n, offset, 8 * static_cast<uint32_t>(sum)};
}

[[gnu::noinline]] void multiply_int4(const Int4Operand& operand, const uint8_t* pair,
                                     uint32_t (&sums)[2]) {
  uint32_t low = 0, both = 0;
  const int8_t* const end = operand.x + operand.n;
  for (const int8_t* x = operand.x; x != end; ++x)
    add_int4_pair(*x + operand.offset, *pair++, low, both);
  sums[0] = low - operand.eight_sums;
  sums[1] = int4_high_sum(both, low);
}

[[gnu::noinline]] void multiply_int4(const Int4Operand& operand, const uint8_t* pairs,
                                     uint32_t (&sums)[4]) {
  uint32_t low = 0, both = 0, low1 = 0, both1 = 0;
  const uint8_t* second = pairs + operand.n;
  const int8_t* const end = operand.x + operand.n;
  for (const int8_t* x = operand.x; x != end; ++x) {
    const int32_t value = *x + operand.offset;
    add_int4_pair(value, *pairs++, low, both);
    add_int4_pair(value, *second++, low1, both1);
  }
  sums[0] = low - operand.eight_sums;
  sums[1] = int4_high_sum(both, low);
  sums[2] = low1 - operand.eight_sums;
  sums[3] = int4_high_sum(both1, low1);
}

}  // namespace thimble::kernels

#endif
