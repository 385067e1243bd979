// SPDX-License-Identifier: Apache-2.0
// add, mul and quantized_activation, compared with docs/numerics.md: every pair of small broadcast
// shapes in random dimension orders; stock calls; in-place calls.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "abi/params/arithmetic.h"
#include "tests/kernels/conv_case.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

abi::AddParams random_add(Random& random) {
  const auto mult = [&] { return uniform(random, 1 << 30, INT32_MAX); };
  abi::AddParams p = {};
  p.a_offset = uniform(random, -127, 128);
  p.b_offset = uniform(random, -127, 128);
  p.y_offset = uniform(random, -128, 127);
  p.a_mult = mult();
  p.b_mult = mult();
  p.y_mult = mult();
  p.a_shift = uniform(random, -6, 0);
  p.b_shift = uniform(random, -6, 0);
  p.y_shift = uniform(random, -21, -15);
  p.min = uniform(random, -128, -60);
  p.max = uniform(random, 60, 127);
  p.b_negate = uniform(random, 0, 1);
  return p;
}

abi::MulParams random_mul(Random& random) {
  return {uniform(random, -127, 128), uniform(random, -127, 128),
          uniform(random, -128, 127), uniform(random, 1 << 30, INT32_MAX),
          uniform(random, -10, -4),   uniform(random, -128, -60),
          uniform(random, 60, 127)};
}

int8_t expected(const abi::AddParams& p, int8_t a, int8_t b) {
  const int64_t b_value = p.b_negate != 0 ? -(b + p.b_offset) : b + p.b_offset;
  const int64_t sum = requantized((a + p.a_offset) * (1 << 20), p.a_mult, p.a_shift) +
                      requantized(b_value * (1 << 20), p.b_mult, p.b_shift);
  return clamped(requantized(sum, p.y_mult, p.y_shift) + p.y_offset, p.min, p.max);
}

int8_t expected(const abi::MulParams& p, int8_t a, int8_t b) {
  const int64_t product = int64_t{a + p.a_offset} * (b + p.b_offset);
  return clamped(requantized(product, p.mult, p.shift) + p.y_offset, p.min, p.max);
}

/// Returns the element of `v` that an output index reads under numpy's broadcast rules.
int8_t broadcast_at(Value& v, const Sizes& index) {
  Sizes own(v.sizes.size());
  for (size_t d = 0; d < own.size(); ++d) {
    own[d] = v.sizes[d] == 1 ? 0 : index[index.size() - own.size() + d];
  }
  return v.i8(own);
}

template <class Params>
void expect_right(Invocation call, const Params& params, size_t b_arg) {
  ASSERT_NO_FATAL_FAILURE(call.run());
  Value& y = call.out();
  for (Sizes i; next(y.sizes, i);) {
    const int8_t a = broadcast_at(call.value(0), i);
    const int8_t b = broadcast_at(call.value(b_arg), i);
    ASSERT_EQ(y.i8(i), expected(params, a, b)) << call.kernel->name;
  }
  call.record_equal();
}

template <class Params>
Invocation native(PteOp op, const Params& params, Value a, Value b, Value y) {
  std::vector<uint8_t> bytes;
  append(bytes, &params, 1);
  Invocation call(op);
  call.add(std::move(a)).add(std::move(b)).add(constant_bytes(bytes)).add(std::move(y));
  return call;
}

Invocation stock_add(const abi::AddParams& p, Value a, Value b, Value y) {
  Invocation call(PteOp::cortex_m_quantized_add);
  call.add(std::move(a)).add(int64_t{-p.a_offset}).add(int64_t{p.a_mult}).add(int64_t{p.a_shift});
  call.add(std::move(b)).add(int64_t{-p.b_offset}).add(int64_t{p.b_mult}).add(int64_t{p.b_shift});
  call.add(int64_t{p.y_offset}).add(int64_t{p.y_mult}).add(int64_t{p.y_shift});
  call.add(int64_t{p.min}).add(int64_t{p.max}).add(std::move(y));
  return call;
}

Invocation stock_mul(const abi::MulParams& p, Value a, Value b, Value y) {
  Invocation call(PteOp::cortex_m_quantized_mul);
  call.add(std::move(a)).add(int64_t{-p.a_offset});
  call.add(std::move(b)).add(int64_t{-p.b_offset});
  call.add(int64_t{p.y_offset}).add(int64_t{p.mult}).add(int64_t{p.shift}).add(std::move(y));
  return call;
}

Value random_in_any_order(Random& random, const Sizes& sizes) {
  return random_codes(random, sizes, random_order(random, sizes.size()));
}

void expect_all_forms(Random& random, const Sizes& a, const Sizes& b, const Sizes& y) {
  const auto value = [&](const Sizes& sizes) { return random_in_any_order(random, sizes); };
  abi::AddParams add = random_add(random);
  expect_right(native(PteOp::thimble_add, add, value(a), value(b), value(y)), add, 1);
  add.b_negate = 0;
  expect_right(stock_add(add, value(a), value(b), value(y)), add, 4);
  abi::MulParams mul = random_mul(random);
  expect_right(native(PteOp::thimble_mul, mul, value(a), value(b), value(y)), mul, 1);
  mul.min = -128;
  mul.max = 127;
  expect_right(stock_mul(mul, value(a), value(b), value(y)), mul, 2);
}

TEST(Elementwise, AllSmallBroadcasts) {
  Random random(1);
  // Rank 3: each dimension has extent 1..3 in y; each operand has that extent or 1.
  for (Sizes extent; next({3, 3, 3}, extent);) {
    for (Sizes keep; next({2, 2, 2, 2, 2, 2}, keep);) {
      Sizes y, a, b;
      for (size_t d = 0; d < 3; ++d) {
        const int32_t size = extent[d] + 1;
        a.push_back(keep[d] == 0 ? size : 1);
        b.push_back(keep[3 + d] == 0 ? size : 1);
        y.push_back(std::max(a[d], b[d]));
      }
      ASSERT_NO_FATAL_FAILURE(expect_all_forms(random, a, b, y));
      if (a[0] == 1) {
        ASSERT_NO_FATAL_FAILURE(expect_all_forms(random, {a[1], a[2]}, b, y));
      }
    }
  }
}

TEST(Elementwise, AllPairsOfInt8Values) {
  Random random(2);
  for (int i = 0; i < 20; ++i) {
    Value a = make(DType::kI8, {256, 1});
    Value b = make(DType::kI8, {1, 256});
    for (int code = 0; code < 256; ++code) {
      a.as<int8_t>()[code] = b.as<int8_t>()[code] = static_cast<int8_t>(code - 128);
    }
    const abi::AddParams add = random_add(random);
    Invocation call =
        native(PteOp::thimble_add, add, std::move(a), std::move(b), make(DType::kI8, {256, 256}));
    ASSERT_NO_FATAL_FAILURE(expect_right(std::move(call), add, 1));
  }
}

TEST(Elementwise, ScalarsRankSixAndChannelBroadcast) {
  Random random(3);
  expect_all_forms(random, {}, {}, {});
  expect_all_forms(random, {}, {2, 3}, {2, 3});
  expect_all_forms(random, {2, 1, 3, 1, 2, 3}, {2, 3, 1, 2, 3}, {2, 2, 3, 1, 2, 3});
  abi::AddParams add = random_add(random);
  add.b_negate = 0;
  expect_right(stock_add(add, random_codes(random, {2, 5, 3, 4}, kNhwc),
                         random_codes(random, {1, 5, 1, 1}), make(DType::kI8, {2, 5, 3, 4}, kNhwc)),
               add, 4);
}

TEST(Elementwise, AddOfNegatedOperandEqualsSubtraction) {
  // A stock file subtracts b by adding the value -1-b with zero point -1-b_zp.
  Random random(4);
  abi::AddParams add = random_add(random);
  add.b_negate = 1;
  Value a = random_codes(random, {300});
  Value b = random_codes(random, {300});
  Value a2 = make(DType::kI8, {300});
  Value b2 = make(DType::kI8, {300});
  std::memcpy(a2.data.get(), a.data.get(), 300);
  for (int i = 0; i < 300; ++i) b2.as<int8_t>()[i] = static_cast<int8_t>(-1 - b.as<int8_t>()[i]);
  Invocation minus =
      native(PteOp::thimble_add, add, std::move(a), std::move(b), make(DType::kI8, {300}));
  add.b_negate = 0;
  add.b_offset = 1 - add.b_offset;
  Invocation plus = stock_add(add, std::move(a2), std::move(b2), make(DType::kI8, {300}));
  minus.run();
  plus.run();
  EXPECT_EQ(std::memcmp(minus.out().data.get(), plus.out().data.get(), 300), 0);
}

TEST(Elementwise, InPlace) {
  Random random(5);
  for (const bool over_b : {false, true}) {
    for (const bool broadcast : {false, true}) {
      const Sizes small = broadcast ? Sizes{1, 4, 1, 1} : Sizes{2, 4, 3, 3};
      abi::AddParams add = random_add(random);
      Value a = random_codes(random, over_b ? small : Sizes{2, 4, 3, 3}, kNhwc);
      Value b = random_codes(random, over_b ? Sizes{2, 4, 3, 3} : small, kNhwc);
      Invocation call = native(PteOp::thimble_add, add, std::move(a), std::move(b),
                               make(DType::kI8, {2, 4, 3, 3}, kNhwc));
      call.run();
      const std::vector<uint8_t> y(call.out().data.get(), call.out().data.get() + call.out().bytes);
      call.value_of.back() = call.value_of[over_b ? 1 : 0];
      call.run();
      EXPECT_EQ(std::memcmp(call.out().data.get(), y.data(), y.size()), 0);
    }
  }
}

Invocation activation(Random& random, Order order) {
  Invocation call(PteOp::cortex_m_quantized_activation);
  call.add(random_codes(random, {2, 3, 5, 4}, order)).add(random_codes(random, {256}));
  call.add(make(DType::kI8, {2, 3, 5, 4}, order));
  return call;
}

TEST(Activation, TableLookupAndInPlace) {
  Random random(6);
  for (const Order& order : {contiguous(4), kNhwc}) {
    Invocation call = activation(random, order);
    call.run();
    const std::vector<int8_t> y(call.out().as<int8_t>(), call.out().as<int8_t>() + 120);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(y[i], call.value(1).as<int8_t>()[call.value(0).as<int8_t>()[i] + 128]);
    }
    call.record_equal();
    call.value_of.back() = call.value_of[0];
    call.run();
    EXPECT_EQ(std::memcmp(call.out().data.get(), y.data(), y.size()), 0);
  }
}

TEST(Elementwise, RefusesInvalidArguments) {
  Random random(7);
  const auto status = [&](auto change) {
    const abi::AddParams p = random_add(random);
    Invocation call = stock_add(p, random_codes(random, {2, 3}), random_codes(random, {1, 3}),
                                make(DType::kI8, {2, 3}));
    change(call);
    return call.check();
  };
  EXPECT_EQ(status([](Invocation&) {}), Status::kOk);
  for (const size_t zero_point : {1U, 5U, 8U}) {
    for (const int64_t bad : {int64_t{128}, int64_t{-129}, int64_t{INT32_MIN}, INT64_MAX}) {
      EXPECT_EQ(status([&](Invocation& i) { i.args[zero_point].integer = bad; }),
                Status::kBadParameter);
    }
  }
  for (const size_t shift : {3U, 7U, 10U}) {
    EXPECT_EQ(status([&](Invocation& i) { i.args[shift].integer = 31; }), Status::kBadParameter);
    EXPECT_EQ(status([&](Invocation& i) { i.args[shift].integer = -32; }), Status::kBadParameter);
    // An input's multiplier may be negative (subtraction), but INT32_MIN has no negation.
    const int64_t mult = shift == 10 ? -1 : INT32_MIN;
    EXPECT_EQ(status([&](Invocation& i) { i.args[shift - 1].integer = mult; }),
              Status::kBadParameter);
    EXPECT_EQ(status([&](Invocation& i) { i.args[2].integer = -5; }), Status::kOk);
  }
  EXPECT_EQ(status([](Invocation& i) { i.args[11].integer = 128; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) {
              i.value(4) = make(DType::kI8, {3, 3});
            }),
            Status::kBadShape);
  EXPECT_EQ(status([](Invocation& i) {
              i.value(4) = make(DType::kI8, {1, 2, 3});
            }),
            Status::kBadShape);
  EXPECT_EQ(status([](Invocation& i) { i.out() = make(DType::kI8, {2, 4}); }), Status::kBadShape);
  EXPECT_EQ(status([](Invocation& i) { i.out() = make(DType::kI16, {2, 3}); }), Status::kBadDType);
  EXPECT_EQ(status([](Invocation& i) { i.value(0).null = true; }), Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& i) { i.value(0).bytes = 5; }), Status::kBadShape);
  EXPECT_EQ(status([](Invocation& i) { i.value(0).order = {0, 0}; }), Status::kBadDimOrder);
  EXPECT_EQ(status([](Invocation& i) { i.value(0).order = {0, 2}; }), Status::kBadDimOrder);

  Invocation table = activation(random, kNhwc);
  table.value(1) = make(DType::kI8, {255});
  EXPECT_EQ(table.check(), Status::kBadShape);
  table = activation(random, kNhwc);
  table.out().order = contiguous(4);
  EXPECT_EQ(table.check(), Status::kBadDimOrder);
}

TEST(Elementwise, MulRefusesEachInvalidParameter) {
  Random random(8);
  const auto status = [&](void (*change)(abi::MulParams&)) {
    abi::MulParams p = random_mul(random);
    change(p);
    const auto codes = [&] { return random_codes(random, {2, 3}); };
    return native(PteOp::thimble_mul, p, codes(), codes(), codes()).check();
  };
  using P = abi::MulParams;
  EXPECT_EQ(status([](P&) {}), Status::kOk);
  EXPECT_EQ(status([](P& p) { p.a_offset = 32768; }), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.b_offset = -32768; }), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.y_offset = 128; }), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.min = p.max + 1; }), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.mult = -1; }), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.shift = 31; }), Status::kBadParameter);
}

/// Every pair of int8 codes, and random int16 codes.
TEST(QuantizedDiv, Quotients) {
  struct Parameters {
    int32_t a_zp, b_zp, y_zp;
    double scale;
  };
  const Parameters cases[] = {
      {3, -4, 5, 20.0}, {0, 0, 0, 1.0}, {-128, 127, -1, 63.5}, {7, 1, 0, 0.03125}};
  Random random(11);
  for (const DType type : {DType::kI8, DType::kI16}) {
    const int32_t low = type == DType::kI8 ? -128 : -32768;
    for (const Parameters& p : cases) {
      Value a = make(type, {256, 256}), b = make(type, {256, 256});
      std::vector<std::pair<int32_t, int32_t>> pairs;
      for (int32_t i = 0; i < 256 * 256; ++i) {
        pairs.emplace_back(type == DType::kI8 ? i / 256 - 128 : uniform(random, -32768, 32767),
                           type == DType::kI8 ? i % 256 - 128 : uniform(random, -300, 300));
        const auto [above, below] = pairs.back();
        if (type == DType::kI8) {
          a.as<int8_t>()[i] = static_cast<int8_t>(above);
          b.as<int8_t>()[i] = static_cast<int8_t>(below);
        } else {
          a.as<int16_t>()[i] = static_cast<int16_t>(above);
          b.as<int16_t>()[i] = static_cast<int16_t>(below);
        }
      }
      Invocation call(PteOp::cortex_m_quantized_div);
      call.add(std::move(a)).add(int64_t{p.a_zp}).add(std::move(b)).add(int64_t{p.b_zp});
      call.add(int64_t{p.y_zp}).add(p.scale).add(make(type, {256, 256}));
      ASSERT_NO_FATAL_FAILURE(call.run());
      for (size_t i = 0; i < pairs.size(); ++i) {
        const auto [above, below] = pairs[i];
        float quotient = 0;
        if (below != p.b_zp)
          quotient = static_cast<float>(above - p.a_zp) / static_cast<float>(below - p.b_zp);
        const float code = std::round(quotient * static_cast<float>(p.scale));
        const auto expected =
            static_cast<int32_t>(std::clamp(code + static_cast<float>(p.y_zp),
                                            static_cast<float>(low), static_cast<float>(-low - 1)));
        const int32_t found =
            type == DType::kI8 ? call.out().as<int8_t>()[i] : call.out().as<int16_t>()[i];
        ASSERT_EQ(found, expected) << above << " / " << below << ", scale " << p.scale;
      }
      call.record_equal();
    }
  }
}

}  // namespace
}  // namespace thimble::kernels::test
