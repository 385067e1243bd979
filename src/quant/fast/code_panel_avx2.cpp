// SPDX-License-Identifier: Apache-2.0
// The product of a panel with AVX2: one register has the eight columns, and twice as many rows
// share each load. Sums of integers are exact, so the machine does not change a result.

#include <cassert>
#include <cstring>

#include "quant/fast/code_panel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

namespace thimble::quant {

bool has_avx2_panel() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

__attribute__((target("avx2"))) void multiply_code_panel_avx2(const WeightPair* w, int64_t pairs,
                                                              const int16_t* panel, int32_t* sums,
                                                              int64_t pitch) {
  __m256i lanes[kAvx2Rows];
  for (__m256i& lane : lanes) lane = _mm256_setzero_si256();
  for (int64_t pair = 0; pair < pairs; ++pair, panel += kPanelElements) {
    const __m256i values = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel));
    for (int64_t row = 0; row < kAvx2Rows; ++row) {
      int32_t both = 0;
      std::memcpy(&both, &w[row * pairs + pair], sizeof(both));
      lanes[row] = _mm256_add_epi32(lanes[row], _mm256_madd_epi16(values, _mm256_set1_epi32(both)));
    }
  }
  for (int64_t row = 0; row < kAvx2Rows; ++row) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + row * pitch), lanes[row]);
  }
}

}  // namespace thimble::quant

#else

namespace thimble::quant {

bool has_avx2_panel() {
  return false;
}

void multiply_code_panel_avx2(const WeightPair*, int64_t, const int16_t*, int32_t*, int64_t) {
  assert(false && "called only if has_avx2_panel() returns true");
}

}  // namespace thimble::quant

#endif
