// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/exec/arithmetic.h"

namespace thimble::ethos_u::sim {

int64_t scale_wide(int64_t value, uint32_t multiplier, uint32_t shift, Rounding mode,
                   uint32_t double_round) {
  // value = high * 2^32 + low with 0 <= low < 2^32. The product is computed as high * 2^64 + low.
  const uint64_t low32 = static_cast<uint64_t>(value) & 0xFFFFFFFFU;
  const int64_t high32 = value >> 32;
  const uint64_t product_low = low32 * multiplier;
  const int64_t product_high = high32 * static_cast<int64_t>(multiplier);
  uint64_t low = product_low + (static_cast<uint64_t>(product_high) << 32);
  int64_t high = (product_high >> 32) + (low < product_low ? 1 : 0);
  const int64_t term = rounding_term(value < 0, shift, mode, double_round);
  const uint64_t before = low;
  low += static_cast<uint64_t>(term);
  high += (term < 0 ? -1 : 0) + (low < before ? 1 : 0);
  if (shift == 0) return static_cast<int64_t>(low);
  return static_cast<int64_t>(low >> shift | static_cast<uint64_t>(high) << (64 - shift));
}

}  // namespace thimble::ethos_u::sim
