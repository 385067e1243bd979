// SPDX-License-Identifier: Apache-2.0
// softmax and log_softmax read their rows from the right bytes. (The arithmetic of a row is tested
// in tests/unit/numerics_functions_test.cpp.) log_softmax is compared with docs/numerics.md.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "abi/params/softmax.h"
#include "numerics/log2.h"
#include "numerics/multiplier.h"
#include "numerics/softmax.h"
#include "tests/kernels/conv_case.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

Invocation softmax(Random& random, const Sizes& sizes, int64_t dim, Order order = {}) {
  const numerics::Multiplier m = numerics::quantize_multiplier(0.07 * 0x1p26);
  const int64_t diff_min = -static_cast<int64_t>(31 * 0x1p26 / std::exp2(m.shift));
  Invocation call(PteOp::cortex_m_softmax);
  call.add(random_codes(random, sizes, order)).add(dim).add(int64_t{3}).add(int64_t{-128});
  call.add(int64_t{m.mult}).add(int64_t{m.shift}).add(diff_min);
  call.add(make(DType::kI8, sizes, order));
  return call;
}

void expect_rows(Invocation& call, size_t dim) {
  ASSERT_NO_FATAL_FAILURE(call.run());
  const numerics::Softmax rows = {static_cast<int32_t>(call.args[4].integer),
                                  static_cast<int32_t>(call.args[5].integer),
                                  static_cast<int32_t>(call.args[6].integer)};
  Value& x = call.value(0);
  Sizes outer = x.sizes;
  const int32_t length = outer[dim];
  outer[dim] = 1;
  for (Sizes i; next(outer, i);) {
    std::vector<int8_t> row, y(static_cast<size_t>(length));
    for (Sizes at = i; at[dim] < length; ++at[dim]) row.push_back(x.i8(at));
    rows.row(row.data(), length, y.data());
    for (Sizes at = i; at[dim] < length; ++at[dim]) {
      ASSERT_EQ(call.out().i8(at), y[static_cast<size_t>(at[dim])]);
    }
  }
  call.record_equal();
}

TEST(Softmax, AnyDimensionThatIsInnermostInMemory) {
  Random random(1);
  for (const int64_t dim : {1, -1}) {
    Invocation call = softmax(random, {3, 10}, dim);
    expect_rows(call, 1);
  }
  Invocation channels = softmax(random, {2, 5, 3, 4}, 1, kNhwc);
  expect_rows(channels, 1);
  Invocation one = softmax(random, {2, 5, 1, 1}, 1);
  expect_rows(one, 1);
  Invocation singles = softmax(random, {2, 1, 3}, 1);
  expect_rows(singles, 1);
  Invocation lone = softmax(random, {1000}, 0);
  expect_rows(lone, 0);
  lone.value_of.back() = lone.value_of[0];  // in place
  lone.run();
}

TEST(Softmax, RefusesInvalidArguments) {
  Random random(2);
  const auto status = [&](size_t arg, int64_t integer) {
    Invocation call = softmax(random, {3, 10}, 1);
    call.args[arg].integer = integer;
    return call.check();
  };
  EXPECT_EQ(status(1, 1), Status::kOk);
  EXPECT_EQ(status(1, 0), Status::kBadDimOrder);
  EXPECT_EQ(status(1, 2), Status::kBadShape);
  EXPECT_EQ(status(1, -3), Status::kBadShape);
  EXPECT_EQ(status(1, INT32_MIN), Status::kBadShape);
  EXPECT_EQ(status(2, 128), Status::kBadParameter);
  EXPECT_EQ(status(3, -127), Status::kBadParameter);
  EXPECT_EQ(status(4, -1), Status::kBadParameter);
  EXPECT_EQ(status(5, -1), Status::kBadParameter);
  EXPECT_EQ(status(5, 32), Status::kBadParameter);
  EXPECT_EQ(status(6, 1), Status::kBadParameter);
  EXPECT_EQ(softmax(random, {}, -1).check(), Status::kBadShape);
  Invocation call = softmax(random, {3, 10}, 1);
  call.out() = make(DType::kI8, {10, 3});
  EXPECT_EQ(call.check(), Status::kBadShape);
}

struct LogCase {
  abi::LogSoftmaxParams params;
  std::vector<int32_t> table;

  explicit LogCase(double scale) {
    const numerics::Multiplier s = numerics::quantize_multiplier(scale * 16);
    const numerics::Multiplier l = numerics::quantize_multiplier(std::log(2.0) * 16 / 65536);
    params = {s.mult, s.shift, l.mult, l.shift, 127};
    for (int k = 0; k < 256; ++k) {
      table.push_back(static_cast<int32_t>(std::lround(std::exp(-k * scale) * 0x1p20)));
    }
  }

  Invocation call(Random& random, const Sizes& sizes) const {
    std::vector<uint8_t> bytes;
    append(bytes, &params, 1);
    append(bytes, table.data(), table.size());
    Invocation result(PteOp::thimble_log_softmax);
    result.add(random_codes(random, sizes)).add(constant_bytes(bytes));
    result.add(make(DType::kI8, sizes));
    return result;
  }
};

TEST(LogSoftmax, EqualsDefinitionAndIsCloseToLogSoftmax) {
  Random random(3);
  for (const double scale : {0.01, 0.0625, 0.3}) {
    for (const int32_t length : {1, 2, 10, 500, abi::kMaxLogSoftmaxRow}) {
      const LogCase c(scale);
      Invocation call = c.call(random, {3, length});
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (int32_t row = 0; row < 3; ++row) {
        const int8_t* x = call.value(0).as<int8_t>() + row * length;
        const int8_t* y = call.out().as<int8_t>() + row * length;
        const int8_t maximum = *std::max_element(x, x + length);
        uint64_t sum = 0;
        double exact_sum = 0;
        for (int32_t i = 0; i < length; ++i) {
          sum += static_cast<uint64_t>(c.table[static_cast<size_t>(maximum - x[i])]);
          exact_sum += std::exp(scale * x[i]);
        }
        const int64_t log = numerics::log2_fixed(static_cast<uint32_t>(sum)) - 20 * 65536;
        for (int32_t i = 0; i < length; ++i) {
          const int64_t code =
              requantized(x[i] - maximum, c.params.scale_mult, c.params.scale_shift) -
              requantized(log, c.params.log_mult, c.params.log_shift) + 127;
          ASSERT_EQ(y[i], clamped(code, -128, 127));
          const double exact = (scale * x[i] - std::log(exact_sum)) * 16 + 127;
          ASSERT_NEAR(y[i], std::max(exact, -128.0), 1.6) << "scale " << scale;
        }
      }
      call.record_equal();
      const std::vector<uint8_t> y(call.out().data.get(), call.out().data.get() + 3 * length);
      call.value_of.back() = call.value_of[0];  // in place
      call.run();
      ASSERT_EQ(std::memcmp(call.out().data.get(), y.data(), y.size()), 0);
    }
  }
}

TEST(LogSoftmax, RefusesInvalidArguments) {
  Random random(4);
  const auto status = [&](auto change, const Sizes& sizes = {2, 5}) {
    LogCase c(0.1);
    change(c);
    return c.call(random, sizes).check();
  };
  EXPECT_EQ(status([](LogCase&) {}), Status::kOk);
  EXPECT_EQ(status([](LogCase&) {}, {1, abi::kMaxLogSoftmaxRow + 1}), Status::kBadShape);
  EXPECT_EQ(status([](LogCase&) {}, {}), Status::kBadShape);
  EXPECT_EQ(status([](LogCase& c) { c.table[0] = 0; }), Status::kBadParameter);
  EXPECT_EQ(status([](LogCase& c) { c.table[255] = (1 << 20) + 1; }), Status::kBadParameter);
  EXPECT_EQ(status([](LogCase& c) { c.table[255] = -1; }), Status::kBadParameter);
  EXPECT_EQ(status([](LogCase& c) { c.table.pop_back(); }), Status::kBadParameter);
  EXPECT_EQ(status([](LogCase& c) { c.params.log_shift = 31; }), Status::kBadParameter);
  EXPECT_EQ(status([](LogCase& c) { c.params.y_offset = 128; }), Status::kBadParameter);
}

}  // namespace
}  // namespace thimble::kernels::test
