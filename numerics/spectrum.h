// SPDX-License-Identifier: Apache-2.0
#pragma once
// The integer Fourier transform of log_mel: docs/numerics.md, "Log-mel spectrum". Freestanding.

#include <cstdint>

namespace thimble::numerics {

// Sizes of the transform.
inline constexpr int32_t kTransformMin = 64;
inline constexpr int32_t kTransformMax = 2048;
constexpr bool is_transform_size(int64_t n) {
  return n >= kTransformMin && n <= kTransformMax && (n & (n - 1)) == 0;
}

inline constexpr int32_t kHopMax = 65535;             // samples from one frame to the next
inline constexpr int32_t kWindowShift = 17;           // from a sample times its window to 29 bits
inline constexpr int32_t kLogMelShiftMax = 31;        // floor and eps are at most 2^62
inline constexpr int32_t kLogMelOffsetMax = 1 << 30;  // added to a logarithm in Q16

struct Complex {
  int32_t re, im;
};

/// A twiddle factor cos - i * sin in Q31.
struct Twiddle {
  int32_t cos, sin;
};

/// Replaces a, b by u = (a + b * w) / 2, each part rounded to nearest, halves up, and v = a - u.
inline void butterfly(Complex& a, Complex& b, Twiddle w) {
  const int64_t re = (static_cast<int64_t>(b.re) * w.cos + static_cast<int64_t>(b.im) * w.sin) +
                     static_cast<int64_t>(a.re + 1) * (int64_t{1} << 31);
  const int64_t im = (static_cast<int64_t>(b.im) * w.cos - static_cast<int64_t>(b.re) * w.sin) +
                     static_cast<int64_t>(a.im + 1) * (int64_t{1} << 31);
  const Complex u = {static_cast<int32_t>(re >> 32), static_cast<int32_t>(im >> 32)};
  b = {a.re - u.re, a.im - u.im};
  a = u;
}
/// butterfly() with w = 1.
inline void butterfly_one(Complex& a, Complex& b) {
  const Complex u = {(a.re + b.re + 1) >> 1, (a.im + b.im + 1) >> 1};
  b = {a.re - u.re, a.im - u.im};
  a = u;
}
/// butterfly() with w = -i.
inline void butterfly_minus_i(Complex& a, Complex& b) {
  const Complex u = {(a.re + b.im + 1) >> 1, (a.im - b.re + 1) >> 1};
  b = {a.re - u.re, a.im - u.im};
  a = u;
}

}  // namespace thimble::numerics
