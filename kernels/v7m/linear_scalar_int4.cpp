// SPDX-License-Identifier: Apache-2.0
#include "abi/ops/linear.h"
#include "kernels/isa.h"
#if THIMBLE_HAS_V7M
// linear_scalar_int4: words hold four values of x, or four weights of two channels each. SBFX
// extracts a weight; four channels share the values of x.

#include <string.h>

#include "kernels/args/int4.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/int4_scalar.h"

namespace thimble::kernels {
namespace {

inline uint32_t word_of_bytes(const void* at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}
template <uint32_t kBit>
inline int32_t weight_of(uint32_t pairs) {
  return static_cast<int32_t>(pairs << (28 - kBit)) >> 28;
}
/// Adds the products of byte `kByte` of x with those of two words of weights.
template <uint32_t kByte>
inline void add_products(uint32_t x, uint32_t first, uint32_t second, uint32_t (&sums)[4]) {
  const int32_t value = static_cast<int8_t>(x >> (8 * kByte));
  sums[0] += static_cast<uint32_t>(value * weight_of<8 * kByte>(first));
  sums[1] += static_cast<uint32_t>(value * weight_of<8 * kByte + 4>(first));
  sums[2] += static_cast<uint32_t>(value * weight_of<8 * kByte>(second));
  sums[3] += static_cast<uint32_t>(value * weight_of<8 * kByte + 4>(second));
}

void multiply_rows(const int8_t* x, const uint8_t* pairs, uint32_t step, uint32_t depth,
                   uint32_t (&sums)[4]) {
  uint32_t all[4] = {};
  const uint8_t* second = pairs + step;
  const int8_t* const fours = x + (depth & ~3U);
  for (; x != fours; x += 4, pairs += 4, second += 4) {
    const uint32_t codes = word_of_bytes(x);
    const uint32_t a = word_of_bytes(pairs);
    const uint32_t b = word_of_bytes(second);
    add_products<0>(codes, a, b, all);
    add_products<1>(codes, a, b, all);
    add_products<2>(codes, a, b, all);
    add_products<3>(codes, a, b, all);
  }
  for (const int8_t* const end = x + (depth & 3U); x != end; ++x, ++pairs, ++second) {
    add_products<0>(static_cast<uint8_t>(*x), *pairs, *second, all);
  }
  for (uint32_t k = 0; k < 4; ++k) sums[k] = all[k];
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v7m, thimble_linear_scalar_int4, check_linear_scalar_int4,
                           run_linear_int4<ScalarInt4<multiply_rows>>);

}  // namespace thimble::kernels
#endif
