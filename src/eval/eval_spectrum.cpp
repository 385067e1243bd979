// SPDX-License-Identifier: Apache-2.0
// Power spectra and mel filters: docs/numerics.md, "Log-mel spectrum".

#include <algorithm>
#include <array>
#include <cmath>

#include "eval/call.h"
#include "eval/spectrum.h"

namespace thimble::eval {
namespace {

constexpr MathFunctions kMath = {std::cos, std::sin, std::log};

/// Calls visit(index of the frame, index of its first sample) for each frame.
template <typename Visit>
void for_each_frame(const Call& call, Visit visit) {
  const auto length = static_cast<size_t>(call.shape(0).back());
  const auto n = static_cast<size_t>(call.shape(1)[0]);
  const auto hop = static_cast<size_t>(call.get(ir::attr::hop));
  const auto samples = static_cast<size_t>(ir::element_count(call.shape(0)));
  size_t frame = 0;
  for (size_t row = 0; row < samples; row += length) {
    for (size_t first = 0; first + n <= length; first += hop) visit(frame++, row + first);
  }
}

// The integer transform, step by step as docs/numerics.md states it.

struct Complex {
  int64_t re = 0, im = 0;
};

class IntegerTransform {
 public:
  explicit IntegerTransform(const Call& call)
      : window_(call.input<int32_t>(1)), sine_(call.input<int32_t>(2)) {}

  /// Returns the powers of the bins 0 to n / 2.
  [[nodiscard]] std::vector<int64_t> powers(std::span<const int16_t> x) const {
    const size_t half = window_.size() / 2;
    std::vector<Complex> z(half);
    for (size_t i = 0; i < half; ++i) {
      z[i] = {windowed(x, 2 * i), windowed(x, 2 * i + 1)};
    }
    z = transform(z);
    std::vector<int64_t> result(half + 1);
    for (size_t k = 0; k <= half / 2; ++k) {
      const Complex a = z[k], b = z[(half - k) % half];
      const Complex sum{a.re + b.re, a.im - b.im};
      const Complex difference{a.im + b.im, b.re - a.re};  // -i * (a - conjugate of b)
      const Complex u = half_sum(sum, difference, k);
      result[k] = power(u);
      result[half - k] = power({sum.re - u.re, sum.im - u.im});
    }
    return result;
  }

 private:
  [[nodiscard]] int64_t windowed(std::span<const int16_t> x, size_t i) const {
    return floor_divide(int64_t{x[i]} * window_[i], pow2(17));
  }

  /// sin(2 pi k / n) in Q31 for 0 <= k <= n / 2.
  [[nodiscard]] int64_t sine(size_t k) const {
    const size_t quarter = window_.size() / 4;
    if (k > quarter) k = 2 * quarter - k;
    return k == quarter ? pow2(31) : sine_[k];
  }
  [[nodiscard]] int64_t cosine(size_t k) const {
    const size_t quarter = window_.size() / 4;
    return k <= quarter ? sine(quarter - k) : -sine(k - quarter);
  }

  /// (a + b * e^(-2 pi i k / n)) / 2, rounded to nearest, halves up.
  [[nodiscard]] Complex half_sum(const Complex& a, const Complex& b, size_t k) const {
    const int64_t c = cosine(k), s = sine(k);
    return {floor_divide((a.re + 1) * pow2(31) + b.re * c + b.im * s, pow2(32)),
            floor_divide((a.im + 1) * pow2(31) + b.im * c - b.re * s, pow2(32))};
  }

  [[nodiscard]] std::vector<Complex> transform(const std::vector<Complex>& z) const {
    if (z.size() == 1) return z;
    const size_t half = z.size() / 2;
    std::vector<Complex> even(half), odd(half), result(z.size());
    for (size_t i = 0; i < half; ++i) {
      even[i] = z[2 * i];
      odd[i] = z[2 * i + 1];
    }
    even = transform(even);
    odd = transform(odd);
    for (size_t j = 0; j < half; ++j) {
      const Complex u = half_sum(even[j], odd[j], j * (window_.size() / z.size()));
      result[j] = u;
      result[half + j] = {even[j].re - u.re, even[j].im - u.im};
    }
    return result;
  }

  [[nodiscard]] static int64_t power(const Complex& x) { return x.re * x.re + x.im * x.im; }

  std::span<const int32_t> window_;
  std::span<const int32_t> sine_;
};

/// A sum of up to 96 bits, in digits of 32 bits.
class WideSum {
 public:
  void add(uint64_t value, uint64_t factor) {  // factor below 2^31
    const uint64_t low = (value % kBase) * factor + digits_[0];
    digits_[0] = low % kBase;
    const uint64_t middle = (value / kBase) * factor + low / kBase + digits_[1];
    digits_[1] = middle % kBase;
    digits_[2] += middle / kBase;
  }
  [[nodiscard]] bool operator<(const WideSum& other) const {
    for (size_t i = 3; i-- > 0;) {
      if (digits_[i] != other.digits_[i]) return digits_[i] < other.digits_[i];
    }
    return false;
  }
  [[nodiscard]] bool is_zero() const { return digits_ == decltype(digits_){}; }

  /// log2 in Q16 of the upper 32 bits, truncated as log2_fixed() truncates it.
  [[nodiscard]] int64_t log2_q16() const {
    WideSum rest = *this;
    int64_t whole = 31;
    for (; rest.digits_[1] != 0 || rest.digits_[2] != 0; ++whole) rest.halve();
    uint64_t mantissa = rest.digits_[0], fraction = 0;
    for (; mantissa < kBase / 2; mantissa *= 2) --whole;
    for (int bit = 0; bit < 16; ++bit) {
      mantissa = mantissa * mantissa / (kBase / 2);
      fraction *= 2;
      if (mantissa >= kBase) {
        mantissa /= 2;
        ++fraction;
      }
    }
    return whole * pow2(16) + static_cast<int64_t>(fraction);
  }

 private:
  static constexpr uint64_t kBase = uint64_t{1} << 32;

  void halve() {
    for (size_t i = 0; i < 3; ++i) {
      const uint64_t next = i < 2 ? digits_[i + 1] : 0;
      digits_[i] = digits_[i] / 2 + next % 2 * (kBase / 2);
    }
  }

  std::array<uint64_t, 3> digits_{};
};

}  // namespace

void log_mel(const Call& call, const MathFunctions& math) {
  const auto x = call.input<float>(0);
  const auto mel = call.input<float>(2);
  const auto result = call.result<float>();
  const auto filters = static_cast<size_t>(call.shape(2)[0]);
  const double floor = call.get(ir::attr::floor), eps = call.get(ir::attr::eps);
  PowerSpectrum spectrum(call.input<float>(1), math);
  for_each_frame(call, [&](size_t frame, size_t first) {
    const auto powers = spectrum.of(&x[first]);
    for (size_t m = 0; m < filters; ++m) {
      double sum = 0;
      for (size_t k = 0; k < powers.size(); ++k) {
        sum += powers[k] * static_cast<double>(mel[m * powers.size() + k]);
      }
      const double logarithm = math.log(std::max(sum, floor) + eps);
      result[frame * filters + m] = static_cast<float>(call.get(ir::attr::scale) * logarithm +
                                                       call.get(ir::attr::float_offset));
    }
  });
}

void eval_log_mel(const Call& call) {
  log_mel(call, kMath);
}

void eval_power_spectrum(const Call& call) {
  const auto x = call.input<float>(0);
  const auto result = call.result<float>();
  PowerSpectrum spectrum(call.input<float>(1), kMath);
  for_each_frame(call, [&](size_t frame, size_t first) {
    const auto powers = spectrum.of(&x[first]);
    for (size_t k = 0; k < powers.size(); ++k) {
      result[frame * powers.size() + k] = static_cast<float>(powers[k]);
    }
  });
}

void eval_qlog_mel(const Call& call) {
  const auto x = call.input<int16_t>(0);
  const auto bands = call.input<int32_t>(3);
  const auto weights = call.input<int16_t>(4);
  const size_t filters = bands.size() / 2;
  const size_t n = call.input<int32_t>(1).size();
  const auto term = [&](ir::AttrKey<int64_t> mantissa, ir::AttrKey<int64_t> shift) {
    return static_cast<uint64_t>(call.get(mantissa) * pow2(call.get(shift)));
  };
  WideSum floor;
  floor.add(term(ir::attr::int_floor, ir::attr::floor_shift), 1);
  const IntegerTransform transform(call);
  const auto store = clamped_store(call);
  for_each_frame(call, [&](size_t frame, size_t first) {
    const std::vector<int64_t> powers = transform.powers(x.subspan(first, n));
    size_t weight = 0;
    for (size_t m = 0; m < filters; ++m) {
      WideSum sum;
      for (int32_t i = 0; i < bands[2 * m + 1]; ++i) {
        const int64_t bin = powers[static_cast<size_t>(bands[2 * m] + i)];
        sum.add(static_cast<uint64_t>(bin), static_cast<uint64_t>(weights[weight++]));
      }
      if (sum < floor) sum = floor;
      sum.add(term(ir::attr::int_eps, ir::attr::eps_shift), 1);
      if (sum.is_zero()) sum.add(1, 1);
      const int64_t scaled =
          requantize(sum.log2_q16() + call.get(ir::attr::offset), call.get(ir::attr::mult),
                     call.get(ir::attr::shift), Rounding::kDouble);
      store(frame * filters + m, scaled + call.get(ir::attr::y_zp));
    }
  });
}

}  // namespace thimble::eval
