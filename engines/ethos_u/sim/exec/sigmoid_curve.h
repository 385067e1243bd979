// SPDX-License-Identifier: Apache-2.0
#pragma once
// TANH and SIGMOID of 16 bits. The curve is built into the hardware: sigmoid(i / 24) for i in
// 0..255 with 16 fractional bits. On the U85 the same curve is read from the LUT memory. Arguments
// have 12288 = 3 * 4096 units per 1.0 and are not clamped first. docs/ethos-u.md describes how this
// was found.

#include <stdint.h>
#include <string.h>

namespace thimble::ethos_u::sim {

/// Returns e^-x for x >= 0: a series for x / 2^k, squared k times.
constexpr double exp_minus(double x) {
  double scaled = x;
  int halvings = 0;
  while (scaled > 0.0625) {
    scaled /= 2;
    ++halvings;
  }
  double sum = 1, term = 1;
  for (int i = 1; i < 12; ++i) {
    term *= -scaled / i;
    sum += term;
  }
  for (; halvings > 0; --halvings) sum *= sum;
  return sum;
}

struct SigmoidCurve {
  uint16_t at[256];
};
/// Bit i: entry i is one larger than the rounded sigmoid, as if the hardware's table had been
/// computed with less precision.
inline constexpr uint32_t kLarger[8] = {0xFA7BD110, 0xC0467BAE, 0x20440005, 0x00110090,
                                        0x00000080, 0x00000000, 0x00000000, 0x80000000};
constexpr SigmoidCurve make_sigmoid_curve() {
  SigmoidCurve curve{};
  for (unsigned i = 0; i < 256; ++i) {
    const double value = 65536.0 / (1.0 + exp_minus(i / 24.0)) + 0.5;
    curve.at[i] =
        static_cast<uint16_t>(static_cast<uint32_t>(value) + (kLarger[i / 32] >> i % 32 & 1));
  }
  return curve;
}
inline constexpr SigmoidCurve kSigmoidCurve = make_sigmoid_curve();

/// Return entry i of the curve's positive half, as the 16 bits of the sigmoid.
struct BuiltInCurve {
  [[nodiscard]] int32_t operator()(uint32_t i) const { return kSigmoidCurve.at[i]; }
};
struct TableCurve {
  const uint8_t* table;
  [[nodiscard]] int32_t operator()(uint32_t i) const {
    int16_t base;
    memcpy(&base, table + 4 * (256 + i), 2);
    return base + 0x8000;
  }
};

/// Interpolates the curve at |value| between entries that are 2^bits apart. Returns `beyond` after
/// the last entry.
template <typename Curve>
int64_t interpolated(int64_t value, int bits, int64_t beyond, const Curve& curve) {
  const auto size = static_cast<uint64_t>(value < 0 ? -value : value);
  const uint64_t index = size >> bits;
  if (index >= 255) return beyond;
  const auto i = static_cast<uint32_t>(index);
  const uint64_t rest = size & ((uint64_t{1} << bits) - 1);
  return (int64_t{curve(i)} << bits) + static_cast<int64_t>(rest) * (curve(i + 1) - curve(i));
}

template <typename Curve>
int64_t sigmoid_of(int64_t value, const Curve& curve) {
  int64_t result = interpolated(value, 9, 0x7FFF << 10, curve);
  result = value >= 0 ? result + 512 : (int64_t{1} << 25) - result + 511;
  return result >> 10;
}

template <typename Curve>
int64_t tanh_of(int64_t value, const Curve& curve) {
  int64_t result = interpolated(value, 8, 0xFFFF << 8, curve);
  constexpr int64_t kOne = int64_t{1} << 23;
  result = value >= 0 ? result - kOne + 128 : -result + kOne + 127;
  return result >> 8;
}

}  // namespace thimble::ethos_u::sim
