// SPDX-License-Identifier: Apache-2.0
// thimble::power_spectrum.f32: |DFT|^2 of the frames of a signal, each multiplied by a window.
//
// All steps are in double: the power of a quiet bin next to a loud one is accurate too, and its
// logarithm follows. A frame of an even number n of real samples is transformed as n / 2 complex
// numbers. The transforms of a power of two are joined by butterflies; the odd factor that remains
// is transformed by its definition, so n may be any number, but a power of two is the fastest.
//
// Operands: x [..., L], window [n], hop, scratch, y [..., T, n / 2 + 1]; contiguous.

#include "abi/ops/float.h"
#include "abi/params/spectrum.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/args/packed.h"
#include "kernels/define_kernel.h"
#include "numerics/float_math.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kSamplesMax = 1 << 16;  // of a frame

Status check_contiguous(const Tensor& t) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kF32));
  return is_contiguous(t) ? Status::kOk : Status::kBadDimOrder;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& window = tensor(call, 1);
  const Tensor& y = tensor(call, 4);
  THIMBLE_RETURN_IF_ERROR(check_contiguous(x));
  THIMBLE_RETURN_IF_ERROR(check_contiguous(window));
  THIMBLE_RETURN_IF_ERROR(check_contiguous(y));
  if (window.rank != 1 || x.rank == 0 || y.rank != x.rank + 1) return Status::kBadShape;
  const int32_t n = window.sizes[0], length = x.sizes[x.rank - 1];
  const int64_t hop = call.args[2].integer;
  if (n > kSamplesMax || n > length) return Status::kBadShape;
  if (hop < 1 || hop > INT32_MAX - length) return Status::kBadParameter;
  for (uint32_t d = 0; d + 1 < x.rank; ++d) {
    if (x.sizes[d] != y.sizes[d]) return Status::kBadShape;
  }
  const int64_t frames = (length - n) / hop + 1;
  if (y.sizes[y.rank - 2] != frames || y.sizes[y.rank - 1] != n / 2 + 1) return Status::kBadShape;
  return check_scratch(tensor(call, 3), abi::float_spectrum_scratch_bytes(n), alignof(double));
}

struct Complex {
  double re, im;
};
Complex product(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// The transform of frames of n samples. The scratch has `count` numbers, as many powers of
/// e^(-2 pi i / n), and `odd` numbers.
class Transform {
 public:
  Transform(int32_t n, Complex* scratch)
      : n_(n), count_(n % 2 == 0 ? n / 2 : n), z_(scratch), twiddles_(scratch + count_) {
    while (odd_ % 2 == 0) {
      odd_ /= 2;
      ++stages_;
    }
    const double angle = 2 * numerics::kPi / n;
    const Complex one_step = {numerics::sine(angle, 1), -numerics::sine(angle, 0)};
    twiddles_[0] = {1, 0};
    for (int32_t k = 1; k < count_; ++k) twiddles_[k] = product(twiddles_[k - 1], one_step);
  }

  void run(const float* x, const float* window, float* y) {
    load(x, window);
    if (odd_ > 1) transform_odd();
    for (int32_t half = odd_; half < count_; half *= 2) join(half);
    write_powers(y);
  }

 private:
  /// e^(-2 pi i k / n) for k below n.
  Complex twiddle(int32_t k) const {
    if (k < count_) return twiddles_[k];
    return {-twiddles_[k - count_].re, -twiddles_[k - count_].im};
  }

  /// Elements with the same remainder modulo 2^stages are one block; blocks are in the order of the
  /// reversed bits of their remainder.
  void load(const float* x, const float* window) {
    const auto sample = [&](int32_t i) {
      return static_cast<double>(x[i]) * static_cast<double>(window[i]);
    };
    for (int32_t i = 0; i < count_; ++i) {
      int32_t block = 0;
      for (int32_t bit = 0; bit < stages_; ++bit) block = 2 * block + (i >> bit & 1);
      const bool is_pair = count_ != n_;
      z_[block * odd_ + (i >> stages_)] =
          is_pair ? Complex{sample(2 * i), sample(2 * i + 1)} : Complex{sample(i), 0};
    }
  }

  void transform_odd() {
    Complex* const copy = twiddles_ + count_;
    const int32_t step = n_ / odd_;
    for (Complex* block = z_; block < z_ + count_; block += odd_) {
      memcpy(copy, block, sizeof(Complex) * static_cast<uint32_t>(odd_));
      for (int32_t k = 0; k < odd_; ++k) {
        Complex sum = {0, 0};
        for (int32_t i = 0, at = 0; i < odd_; ++i) {
          const Complex term = product(copy[i], twiddle(at * step));
          sum = {sum.re + term.re, sum.im + term.im};
          at += k;
          if (at >= odd_) at -= odd_;
        }
        block[k] = sum;
      }
    }
  }

  /// Joins pairs of transforms of `half` numbers.
  void join(int32_t half) {
    const int32_t step = n_ / (2 * half);
    for (int32_t j = 0; j < half; ++j) {
      const Complex w = twiddle(j * step);
      for (Complex* a = z_ + j; a < z_ + count_; a += 2 * half) {
        const Complex b = product(a[half], w);
        a[half] = {a->re - b.re, a->im - b.im};
        *a = {a->re + b.re, a->im + b.im};
      }
    }
  }

  void write_powers(float* y) const {
    for (int32_t k = 0; k <= n_ / 2; ++k) {
      Complex bin = z_[k == count_ ? 0 : k];
      if (count_ != n_) {
        // The even samples are the real parts, the odd ones the imaginary parts.
        const Complex other = z_[k == 0 ? 0 : count_ - k];
        const Complex even = {bin.re + other.re, bin.im - other.im};
        const Complex odd = product({bin.im + other.im, other.re - bin.re},
                                    k == count_ ? Complex{-1, 0} : twiddles_[k]);
        bin = {0.5 * (even.re + odd.re), 0.5 * (even.im + odd.im)};
      }
      y[k] = static_cast<float>(bin.re * bin.re + bin.im * bin.im);
    }
  }

  int32_t n_, count_, odd_ = count_, stages_ = 0;
  Complex *z_, *twiddles_;
};

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& window = tensor(call, 1);
  const int32_t n = window.sizes[0], length = x.sizes[x.rank - 1];
  const auto hop = static_cast<int32_t>(call.args[2].integer);
  Transform transform(n, static_cast<Complex*>(tensor(call, 3).data));
  float* y = mutable_floats(tensor(call, 4));
  for (int32_t row = 0, samples = elements(x); row < samples; row += length) {
    for (int32_t first = 0; first <= length - n; first += hop, y += n / 2 + 1) {
      transform.run(floats(x) + row + first, floats(window), y);
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_power_spectrum_f32, check, run);

}  // namespace thimble::kernels
