// SPDX-License-Identifier: Apache-2.0
// Values that a file may give for an argument of several types, and the value the kernel reads.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "abi/pte_format.h"
#include "kernels/kernels.h"

namespace thimble::kernels {
namespace {

using namespace abi::pte::value_tag;

Arg integer_arg(int64_t integer) {
  Arg arg;
  arg.integer = integer;
  return arg;
}
Arg number_arg(double number) {
  Arg arg;
  arg.number = number;
  return arg;
}
Arg items_arg(const void* data, uint32_t count) {
  Arg arg;
  arg.items = {static_cast<const uint8_t*>(data), count};
  return arg;
}

TEST(OpenArguments, NumbersOfAnyTypeAreReadAsDouble) {
  constexpr int64_t kExact = int64_t{1} << 53;
  const int64_t integers[] = {0,          1,           -1,          2,        -3,      255,
                              INT32_MAX,  INT32_MIN,   1LL << 52,   kExact,   -kExact, kExact - 1,
                              1 - kExact, 0x123456789, -0x98765432, 1LL << 40};
  for (const char letter : {'y', 'z'}) {
    for (const int64_t integer : integers) {
      Arg arg = integer_arg(integer);
      ASSERT_EQ(normalize_multi_type_arg(letter, kInt, arg), Status::kOk) << integer;
      EXPECT_EQ(arg.number, static_cast<double>(integer));
      EXPECT_FALSE(std::signbit(arg.number) && integer == 0);
    }
    for (const int64_t integer : {kExact + 1, -kExact - 1, INT64_MAX, INT64_MIN}) {
      Arg arg = integer_arg(integer);
      EXPECT_EQ(normalize_multi_type_arg(letter, kInt, arg), Status::kBadParameter) << integer;
    }
    for (const int64_t truth : {0, 1}) {
      Arg arg = integer_arg(truth);
      ASSERT_EQ(normalize_multi_type_arg(letter, kBool, arg), Status::kOk);
      EXPECT_EQ(arg.number, static_cast<double>(truth));
    }
    for (const double number : {0.0, -0.0, 0.1, -1e300, HUGE_VAL, -HUGE_VAL, 5e-324}) {
      Arg arg = number_arg(number);
      ASSERT_EQ(normalize_multi_type_arg(letter, kDouble, arg), Status::kOk) << number;
      EXPECT_EQ(arg.number, number);
    }
    for (const double sign : {1.0, -1.0}) {
      Arg arg = number_arg(std::copysign(std::numeric_limits<double>::quiet_NaN(), sign));
      EXPECT_EQ(normalize_multi_type_arg(letter, kDouble, arg), Status::kBadParameter);
    }
    for (const uint32_t other : {kTensor, kString, kIntList, kDoubleList, kTensorList}) {
      Arg arg;
      EXPECT_EQ(normalize_multi_type_arg(letter, other, arg), Status::kCorrupt) << other;
    }
  }
  Arg none;
  EXPECT_EQ(normalize_multi_type_arg('y', kNull, none), Status::kUnsupported);
  ASSERT_EQ(normalize_multi_type_arg('z', kNull, none), Status::kOk);
  EXPECT_TRUE(std::isnan(none.number));
}

TEST(OpenArguments, IntegersMayBeAbsent) {
  for (const int64_t integer : {int64_t{0}, int64_t{-7}, INT64_MAX, INT64_MIN + 1}) {
    Arg arg = integer_arg(integer);
    ASSERT_EQ(normalize_multi_type_arg('j', kInt, arg), Status::kOk);
    EXPECT_EQ(arg.integer, integer);
  }
  Arg arg = integer_arg(kAbsent);
  EXPECT_EQ(normalize_multi_type_arg('j', kInt, arg), Status::kBadParameter);
  ASSERT_EQ(normalize_multi_type_arg('j', kNull, arg = integer_arg(3)), Status::kOk);
  EXPECT_EQ(arg.integer, kAbsent);
  for (const uint32_t other : {kBool, kDouble, kTensor, kIntList}) {
    EXPECT_EQ(normalize_multi_type_arg('j', other, arg), Status::kCorrupt) << other;
  }
}

TEST(OpenArguments, ListsMayBeAbsent) {
  Arg arg;
  arg.ints = {2, {4, 5}};
  ASSERT_EQ(normalize_multi_type_arg('k', kIntList, arg), Status::kOk);
  EXPECT_EQ(arg.ints.count, 2U);
  EXPECT_EQ(arg.ints.items[1], 5);
  ASSERT_EQ(normalize_multi_type_arg('k', kNull, arg), Status::kOk);
  EXPECT_EQ(arg.ints.count, 0U);
  EXPECT_EQ(normalize_multi_type_arg('k', kInt, arg), Status::kCorrupt);

  // In a file, doubles are aligned to 4 bytes.
  alignas(8) unsigned char file[28] = {};
  const double doubles[] = {1.5, -2, 3};
  std::memcpy(file + 4, doubles, sizeof doubles);
  for (uint32_t count = 0; count <= 2; ++count) {
    arg = items_arg(file + 4, count);
    ASSERT_EQ(normalize_multi_type_arg('q', kDoubleList, arg), Status::kOk);
    ASSERT_EQ(arg.doubles.count, count);
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(arg.doubles.items[i], doubles[i]);
  }
  arg = items_arg(file + 4, 3);
  EXPECT_EQ(normalize_multi_type_arg('q', kDoubleList, arg), Status::kUnsupported);
  ASSERT_EQ(normalize_multi_type_arg('q', kNull, arg), Status::kOk);
  EXPECT_EQ(arg.doubles.count, 0U);
  EXPECT_EQ(normalize_multi_type_arg('q', kIntList, arg), Status::kCorrupt);
}

TEST(OpenArguments, StringsMustBePresent) {
  Arg arg = items_arg("tanh", 4);
  ASSERT_EQ(normalize_multi_type_arg('c', kString, arg), Status::kOk);
  EXPECT_EQ(std::string(arg.text.data, arg.text.bytes), "tanh");
  EXPECT_EQ(normalize_multi_type_arg('c', kNull, arg), Status::kUnsupported);
  EXPECT_EQ(normalize_multi_type_arg('c', kInt, arg), Status::kCorrupt);
}

}  // namespace
}  // namespace thimble::kernels
