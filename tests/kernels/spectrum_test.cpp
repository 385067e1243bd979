// SPDX-License-Identifier: Apache-2.0
// log_mel, compared with the reference evaluator: every size of the transform, samples and windows
// of the largest magnitude, silence, and terms from 0 to 2^62.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/kernels/direct.h"

namespace thimble::kernels::test {
namespace {

using ir::DType;
using ir::OpKind;

Operand sine_table(int64_t n) {
  ir::Tensor table = ir::zeros(DType::kI32, {n / 4});
  const auto to = table.data<int32_t>();
  for (size_t k = 0; k < to.size(); ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    to[k] = static_cast<int32_t>(std::nearbyint(std::sin(angle) * 0x1p31));
  }
  return {std::move(table), true};
}

struct Bands {
  Operand bands, weights;
};
/// Bands of random bins; the first has all bins, the second none.
Bands random_bands(Random& random, int64_t n, int64_t count) {
  const auto bins = static_cast<int32_t>(n / 2 + 1);
  Bands result;
  result.bands = {ir::zeros(DType::kI32, {count, 2}), true};
  const auto bands = result.bands.tensor.data<int32_t>();
  int64_t total = 0;
  for (size_t m = 0; m < static_cast<size_t>(count); ++m) {
    const int32_t first = m == 0 ? 0 : uniform(random, 0, bins);
    bands[2 * m] = first;
    bands[2 * m + 1] = m == 0 ? bins : m == 1 ? 0 : uniform(random, 0, bins - first);
    total += bands[2 * m + 1];
  }
  result.weights = {ir::zeros(DType::kI16, {total}), true};
  const bool largest = random() % 4 == 0;
  for (int16_t& weight : result.weights.tensor.data<int16_t>()) {
    weight = largest ? INT16_MAX : static_cast<int16_t>(uniform(random, 0, INT16_MAX));
  }
  return result;
}

ir::Attrs random_attrs(Random& random) {
  const bool wide = random() % 2 == 0;
  const auto term = [&] { return random() % 3 == 0 ? 0 : uniform(random, 0, INT32_MAX); };
  return {{ir::attr::hop, int64_t{uniform(random, 1, 700)}},
          {ir::attr::int_floor, int64_t{term()}},
          {ir::attr::floor_shift, int64_t{uniform(random, 0, 31)}},
          {ir::attr::int_eps, int64_t{term()}},
          {ir::attr::eps_shift, int64_t{uniform(random, 0, 31)}},
          {ir::attr::offset, int64_t{uniform(random, -(1 << 21), 1 << 21)}},
          {ir::attr::y_zp, int64_t{wide ? 0 : uniform(random, -128, 127)}},
          {ir::attr::mult, int64_t{uniform(random, 1 << 30, INT32_MAX)}},
          {ir::attr::shift, int64_t{wide ? uniform(random, -8, -3) : uniform(random, -16, -11)}},
          {ir::attr::min, int64_t{wide ? -30000 : -120}},
          {ir::attr::max, int64_t{wide ? 30000 : 120}},
          {ir::attr::wide, int64_t{wide ? 1 : 0}}};
}

void expect_equal(Random& random, int64_t n, Operand x, Operand window) {
  Bands bands = random_bands(random, n, uniform(random, 2, 9));
  ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qlog_mel, random_attrs(random),
                                        {std::move(x), std::move(window), sine_table(n),
                                         std::move(bands.bands), std::move(bands.weights)}));
}

/// Samples of the largest magnitude with random signs.
Operand extreme_samples(Random& random, int64_t count) {
  ir::Tensor tensor = ir::zeros(DType::kI16, {count});
  for (int16_t& each : tensor.data<int16_t>()) each = random() % 2 == 0 ? INT16_MIN : INT16_MAX;
  return {std::move(tensor)};
}
Operand extreme_window(Random& random, int64_t count) {
  ir::Tensor tensor = ir::zeros(DType::kI32, {count});
  for (int32_t& each : tensor.data<int32_t>()) each = random() % 2 == 0 ? INT32_MIN : INT32_MAX;
  return {std::move(tensor), true};
}

TEST(LogMel, RandomSamples) {
  Random random(1);
  for (int repeat = 0; repeat < 40; ++repeat) {
    const int64_t n = int64_t{64} << (random() % 6);
    const ir::Shape shape = {uniform(random, 1, 2), n + uniform(random, 0, 900)};
    Operand x = {random_tensor(random, DType::kI16, shape)};
    const int quiet = static_cast<int>(random() % 16);
    for (int16_t& each : x.tensor.data<int16_t>()) each = static_cast<int16_t>(each >> quiet);
    expect_equal(random, n, std::move(x), {random_i32(random, {n}, INT32_MIN, INT32_MAX), true});
  }
}

TEST(LogMel, ExtremeSamples) {
  Random random(2);
  for (int64_t n = 64; n <= 2048; n *= 2) {
    for (int repeat = 0; repeat < 4; ++repeat) {
      expect_equal(random, n, extreme_samples(random, n + 3), extreme_window(random, n));
      // A constant and a tone of half the sampling rate: one bin has all the power.
      Operand tone = {ir::zeros(DType::kI16, {n})};
      Operand window = {ir::zeros(DType::kI32, {n}), true};
      const auto samples = tone.tensor.data<int16_t>();
      for (size_t i = 0; i < samples.size(); ++i) {
        samples[i] = repeat % 2 == 0 || i % 2 == 0 ? INT16_MIN : INT16_MAX;
      }
      std::ranges::fill(window.tensor.data<int32_t>(), INT32_MIN);
      expect_equal(random, n, std::move(tone), std::move(window));
      expect_equal(random, n, {ir::zeros(DType::kI16, {n})}, extreme_window(random, n));
    }
  }
}

}  // namespace
}  // namespace thimble::kernels::test
