// SPDX-License-Identifier: Apache-2.0
#pragma once
// Four int32 sums of products of pairs: sum[i] += a[2i] * b[2i] + a[2i+1] * b[2i+1], for int16 a
// and b. One instruction of SSE2 (pmaddwd) multiplies and adds pairs. The caller bounds the sums:
// they do not overflow.

#include <cstdint>
#include <cstring>

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#endif

namespace thimble::quant {

/// The weights of a pair of terms, as int16 in memory.
struct WeightPair {
  int16_t even, odd;
};

/// For any machine.
class PlainPairLanes {
 public:
  /// Adds the products of four pairs at `values` with one pair of weights.
  void add(const int16_t* values, const WeightPair& w) {
    for (int i = 0; i < 4; ++i) sums_[i] += values[2 * i] * w.even + values[2 * i + 1] * w.odd;
  }
  /// Same for pairs from two rows: (even[i], odd[i]) for four i.
  void add_rows(const int16_t* even, const int16_t* odd, const WeightPair& w) {
    for (int i = 0; i < 4; ++i) sums_[i] += even[i] * w.even + odd[i] * w.odd;
  }
  void store(int32_t* to) const { std::memcpy(to, sums_, sizeof(sums_)); }

 private:
  int32_t sums_[4] = {};
};

#if defined(__SSE2__) || defined(_M_X64)
class Sse2PairLanes {
 public:
  void add(const int16_t* values, const WeightPair& w) {
    add_products(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)), w);
  }
  void add_rows(const int16_t* even, const int16_t* odd, const WeightPair& w) {
    const auto load = [](const int16_t* from) {
      return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    };
    add_products(_mm_unpacklo_epi16(load(even), load(odd)), w);
  }
  void store(int32_t* to) const { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), sums_); }

 private:
  void add_products(__m128i pairs, const WeightPair& w) {
    int32_t both = 0;
    std::memcpy(&both, &w, sizeof(both));
    sums_ = _mm_add_epi32(sums_, _mm_madd_epi16(pairs, _mm_set1_epi32(both)));
  }
  __m128i sums_ = _mm_setzero_si128();
};
using PairLanes = Sse2PairLanes;
#else
using PairLanes = PlainPairLanes;
#endif

}  // namespace thimble::quant
