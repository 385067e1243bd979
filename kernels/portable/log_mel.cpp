// SPDX-License-Identifier: Apache-2.0
// thimble::log_mel: the logarithm of a filter bank on the power spectrum of frames of samples;
// formula: docs/numerics.md, "Log-mel spectrum".
//
// A frame of n real samples is transformed as n / 2 complex numbers in 32 bits, in place, by
// decimation in time; each stage halves the numbers, so that nothing overflows for any input. One
// more stage separates the bins, whose powers replace them in the scratch.
//
// Operands: x int16 [..., L], window int32 [n], sine int32 [n / 4], bands int32 [M, 2], weights
// int16, parameters, scratch, y int8 or (wide) int16 [..., T, M].

#include "abi/ops/spectrum.h"
#include "abi/params/spectrum.h"
#include "kernels/args/packed.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"
#include "numerics/log2.h"
#include "numerics/spectrum.h"

namespace thimble::kernels {
namespace {

using abi::LogMelParams;
using numerics::Complex;

const LogMelParams& params_of(const Call& call) {
  return params<abi::op_info::thimble_log_mel>(tensor(call, 5));
}

bool are_output_bounds(const LogMelParams& p) {
  if (p.wide == 0) return is_code(p.y_zp) && are_bounds(p.min, p.max);
  return p.y_zp == 0 && p.min >= INT16_MIN && p.min <= p.max && p.max <= INT16_MAX;
}

bool are_terms(const LogMelParams& p) {
  constexpr uint32_t kMax = numerics::kLogMelShiftMax;
  return p.int_floor >= 0 && static_cast<uint32_t>(p.floor_shift) <= kMax && p.int_eps >= 0 &&
         static_cast<uint32_t>(p.eps_shift) <= kMax && p.offset >= -numerics::kLogMelOffsetMax &&
         p.offset <= numerics::kLogMelOffsetMax;
}

/// Checks that each band is inside the spectrum and that `weights` has one element for each of its
/// bins, none of them negative.
Status check_bands(const Tensor& bands, const Tensor& weights, int32_t bins) {
  const int32_t* const band = static_cast<const int32_t*>(bands.data);
  const int16_t* const weight = static_cast<const int16_t*>(weights.data);
  const int32_t count = elements(weights);
  int32_t total = 0;
  for (int32_t i = 0; i < elements(bands); i += 2) {
    const bool inside = band[i] >= 0 && band[i] <= bins && band[i + 1] >= 0 &&
                        band[i + 1] <= bins - band[i] && band[i + 1] <= count - total;
    if (!inside) return Status::kBadParameter;
    total += band[i + 1];
  }
  for (int32_t i = 0; i < count; ++i) {
    if (weight[i] < 0) return Status::kBadParameter;
  }
  return total == count ? Status::kOk : Status::kBadShape;
}

Status check_constants(const Call& call, int32_t n) {
  constexpr DType kTypes[] = {DType::kI32, DType::kI32, DType::kI32, DType::kI16};
  for (uint32_t i = 0; i < 4; ++i) {
    const Tensor& t = tensor(call, i + 1);
    THIMBLE_RETURN_IF_ERROR(check_tensor(t, kTypes[i]));
    if (t.is_null || !t.is_constant || t.data == nullptr) return Status::kBadParameter;
    if (!is_contiguous_but_for_ones(t)) return Status::kBadDimOrder;
  }
  const Tensor& bands = tensor(call, 3);
  const bool shapes = elements(tensor(call, 2)) == n / 4 && bands.rank == 2 && bands.sizes[1] == 2;
  if (!shapes) return Status::kBadShape;
  return check_bands(bands, tensor(call, 4), n / 2 + 1);
}

/// Checks that y is [..., T, M].
Status check_result(const Tensor& x, const Tensor& y, int32_t frames, int32_t bands) {
  if (y.rank != x.rank + 1) return Status::kBadShape;
  for (uint32_t d = 0; d + 1 < x.rank; ++d) {
    if (y.sizes[d] != x.sizes[d]) return Status::kBadShape;
  }
  const bool fits = y.sizes[y.rank - 2] == frames && y.sizes[y.rank - 1] == bands;
  return fits ? Status::kOk : Status::kBadShape;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& window = tensor(call, 1);
  const Tensor& scratch = tensor(call, 6);
  const Tensor& y = tensor(call, 7);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI16));
  THIMBLE_RETURN_IF_ERROR(check_tensor(window, DType::kI32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_log_mel>(tensor(call, 5)));
  const LogMelParams& p = params_of(call);
  if (y.dtype != (p.wide != 0 ? DType::kI16 : DType::kI8)) return Status::kBadDType;
  if (!is_contiguous_but_for_ones(x) || !is_contiguous_but_for_ones(y)) {
    return Status::kBadDimOrder;
  }
  const int32_t n = elements(window);
  if (x.rank == 0 || !numerics::is_transform_size(n) || x.sizes[x.rank - 1] < n) {
    return Status::kBadShape;
  }
  const bool fine = p.hop >= 1 && p.hop <= numerics::kHopMax && are_terms(p) &&
                    is_scale(p.mult, p.shift) && p.shift <= 0 && are_output_bounds(p);
  if (!fine) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_constants(call, n));
  THIMBLE_RETURN_IF_ERROR(check_scratch(scratch, abi::spectrum_scratch_bytes(n)));
  const int32_t frames = (x.sizes[x.rank - 1] - n) / p.hop + 1;
  return check_result(x, y, frames, tensor(call, 3).sizes[0]);
}

int32_t windowed(int32_t x, int32_t w) {
  return static_cast<int32_t>(
      (static_cast<int64_t>(x * (1 << (32 - numerics::kWindowShift))) * w) >> 32);
}

/// Writes the windowed samples as complex numbers, in the order of reversed bits of their index.
void load(const int16_t* x, const int32_t* window, Complex* z, int32_t count) {
  int32_t reversed = 0;
  for (int32_t i = 0; i < count; ++i, x += 2, window += 2) {
    z[reversed] = {windowed(x[0], window[0]), windowed(x[1], window[1])};
    int32_t bit = count >> 1;
    for (; (reversed & bit) != 0; bit >>= 1) reversed ^= bit;
    reversed |= bit;
  }
}

/// The stages of `count` complex numbers. sine[k] is that of k quarter turns / `quarter`.
void transform(Complex* z, int32_t count, const int32_t* sine, int32_t quarter) {
  for (Complex* a = z; a != z + count; a += 4) {
    numerics::butterfly_one(a[0], a[1]);
    numerics::butterfly_one(a[2], a[3]);
    numerics::butterfly_one(a[0], a[2]);
    numerics::butterfly_minus_i(a[1], a[3]);
  }
  for (int32_t half = 4; half < count; half *= 2) {
    const int32_t step = count / half;
    Complex* const end = z + count;
    for (Complex* a = z; a < end; a += 2 * half) numerics::butterfly_one(a[0], a[half]);
    for (int32_t j = 1; j < half / 2; ++j) {
      const numerics::Twiddle w = {sine[quarter - j * step], sine[j * step]};
      for (Complex* a = z + j; a < end; a += 2 * half) numerics::butterfly(a[0], a[half], w);
    }
    for (Complex* a = z + half / 2; a < end; a += 2 * half) {
      numerics::butterfly_minus_i(a[0], a[half]);
    }
    for (int32_t j = 1; j < half / 2; ++j) {
      const numerics::Twiddle w = {-sine[j * step], sine[quarter - j * step]};
      for (Complex* a = z + half / 2 + j; a < end; a += 2 * half) {
        numerics::butterfly(a[0], a[half], w);
      }
    }
  }
}

/// Returns the power, with its lower half in `re` and its upper half in `im`.
Complex power(Complex x) {
  const uint64_t sum = static_cast<uint64_t>(static_cast<int64_t>(x.re) * x.re) +
                       static_cast<uint64_t>(static_cast<int64_t>(x.im) * x.im);
  return {static_cast<int32_t>(static_cast<uint32_t>(sum)), static_cast<int32_t>(sum >> 32)};
}

/// Replaces the transform of `count` complex numbers by the powers of count + 1 bins.
void to_powers(Complex* z, int32_t count, const int32_t* sine) {
  const Complex first = z[0];
  z[0] = power({first.re + first.im, 0});
  z[count] = power({first.re - first.im, 0});
  const int32_t quarter = count / 2;
  for (int32_t k = 1; k < quarter; ++k) {
    const Complex a = z[k];
    const Complex b = z[count - k];
    Complex sum = {a.re + b.re, a.im - b.im};
    Complex difference = {a.im + b.im, b.re - a.re};
    numerics::butterfly(sum, difference, {sine[quarter - k], sine[k]});
    z[k] = power(sum);
    z[count - k] = power(difference);
  }
  z[quarter] = power(z[quarter]);
}

/// high * 2^32 + low
struct Sum {
  uint64_t high;
  uint32_t low;
};

Sum band_sum(const Complex* powers, const int16_t* weights, int32_t count) {
  uint64_t high = 0;
  uint64_t low = 0;
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t weight = static_cast<uint32_t>(weights[i]);
    low += static_cast<uint64_t>(static_cast<uint32_t>(powers[i].re)) * weight;
    high += static_cast<uint64_t>(static_cast<uint32_t>(powers[i].im)) * weight;
  }
  return {high + (low >> 32), static_cast<uint32_t>(low)};
}

/// Returns max(sum, floor) + eps, at least 1.
Sum bounded(Sum sum, uint64_t floor, uint64_t eps) {
  const uint64_t high = floor >> 32;
  const uint32_t low = static_cast<uint32_t>(floor);
  if (sum.high < high || (sum.high == high && sum.low < low)) sum = {high, low};
  const uint64_t carried = uint64_t{sum.low} + static_cast<uint32_t>(eps);
  sum = {sum.high + (eps >> 32) + (carried >> 32), static_cast<uint32_t>(carried)};
  if ((sum.high | sum.low) == 0) sum.low = 1;
  return sum;
}

int32_t log2_of(Sum sum) {
  int32_t shift = 0;
  uint64_t value = sum.low;
  if (sum.high >> 32 != 0) {
    value = sum.high;
    shift = 32;
  } else if (sum.high != 0) {
    value |= sum.high << 32;
  }
  const uint32_t upper = static_cast<uint32_t>(value >> 32);
  const int32_t bits = upper == 0 ? 0 : 32 - numerics::count_leading_zeros(upper);
  return numerics::log2_fixed(static_cast<uint32_t>(value >> bits)) + (shift + bits) * (1 << 16);
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 7);
  const LogMelParams p = params_of(call);
  const int32_t* const window = static_cast<const int32_t*>(tensor(call, 1).data);
  const int32_t* const sine = static_cast<const int32_t*>(tensor(call, 2).data);
  const int32_t* const bands = static_cast<const int32_t*>(tensor(call, 3).data);
  Complex* const z = static_cast<Complex*>(tensor(call, 6).data);
  const int32_t n = elements(tensor(call, 1));
  const int32_t filters = tensor(call, 3).sizes[0];
  const int32_t length = x.sizes[x.rank - 1];
  const int32_t samples = elements(x);
  const uint64_t floor = static_cast<uint64_t>(p.int_floor) << p.floor_shift;
  const uint64_t eps = static_cast<uint64_t>(p.int_eps) << p.eps_shift;
  int32_t at = 0;
  for (int32_t row = 0; row < samples; row += length) {
    for (int32_t first = 0; first <= length - n; first += p.hop) {
      load(static_cast<const int16_t*>(x.data) + row + first, window, z, n / 2);
      transform(z, n / 2, sine, n / 4);
      to_powers(z, n / 2, sine);
      const int16_t* weights = static_cast<const int16_t*>(tensor(call, 4).data);
      for (int32_t m = 0; m < filters; ++m, ++at) {
        const int32_t count = bands[2 * m + 1];
        const Sum sum = band_sum(z + bands[2 * m], weights, count);
        weights += count;
        const int32_t logarithm = log2_of(bounded(sum, floor, eps)) + p.offset;
        const int32_t code = numerics::requantize(logarithm, p.mult, p.shift) + p.y_zp;
        const int32_t clamped = numerics::clamp(code, p.min, p.max);
        if (p.wide != 0) {
          static_cast<int16_t*>(y.data)[at] = static_cast<int16_t>(clamped);
        } else {
          static_cast<int8_t*>(y.data)[at] = static_cast<int8_t>(clamped);
        }
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_log_mel, check, run);

}  // namespace thimble::kernels
