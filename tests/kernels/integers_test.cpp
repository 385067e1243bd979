// SPDX-License-Identifier: Apache-2.0
// Arithmetic on 32-bit integers, compared with the reference evaluator: all functions, values at
// which 32 bits overflow, and divisions by 0 and -1.

#include <gtest/gtest.h>

#include "ir/int_functions.h"
#include "tests/kernels/direct.h"

namespace thimble::kernels::test {
namespace {

using ir::OpKind;

ir::Shape small_shape(Random& random, uint32_t rank) {
  ir::Shape shape;
  for (uint32_t d = 0; d < rank; ++d) shape.push_back(uniform(random, 1, 4));
  return shape;
}

/// Integers of all sizes, many of them small, at an end of the range, 0 or -1.
Operand integer_operand(Random& random, const ir::Shape& shape, Order order = {}) {
  ir::Tensor tensor = random_tensor(random, ir::DType::kI32, shape);
  for (int32_t& value : tensor.data<int32_t>()) {
    const uint32_t kind = static_cast<uint32_t>(random()) % 6;
    if (kind == 0) value = uniform(random, -1, 1);
    if (kind == 1) value = INT32_MIN + uniform(random, 0, 1);
    if (kind == 2) value = INT32_MAX - uniform(random, 0, 1);
    if (kind == 3) value = uniform(random, -9, 9);
  }
  return {std::move(tensor), false, std::move(order)};
}

Operand truth_operand(Random& random, const ir::Shape& shape, Order order) {
  ir::Tensor tensor = ir::zeros(ir::DType::kBool, shape);
  for (uint8_t& value : tensor.data<uint8_t>()) value = random() % 4 == 0 ? 1 : 0;
  return {std::move(tensor), false, std::move(order)};
}

TEST(Integers, PairsOfEveryFunction) {
  Random random(1);
  for (int64_t function = 0; function < ir::kIntFunctions; ++function) {
    for (int repeat = 0; repeat < 40; ++repeat) {
      const uint32_t rank = static_cast<uint32_t>(random()) % 5;
      const ir::Shape shape = small_shape(random, rank);
      ir::Shape other = shape;
      for (int64_t& size : other) size = random() % 3 == 0 ? 1 : size;
      ASSERT_NO_FATAL_FAILURE(
          expect_direct(OpKind::int_pair, {{ir::attr::function, function}},
                        {integer_operand(random, shape, random_order(random, rank)),
                         integer_operand(random, other, random_order(random, rank))},
                        random_order(random, rank)));
    }
  }
}

TEST(Integers, ReductionsAndSums) {
  Random random(2);
  for (int repeat = 0; repeat < 400; ++repeat) {
    const uint32_t rank = 1 + static_cast<uint32_t>(random()) % 4;
    const ir::Shape shape = small_shape(random, rank);
    const int64_t dim = uniform(random, 0, static_cast<int32_t>(rank) - 1);
    std::vector<int64_t> dims{dim};
    const int64_t function = repeat % ir::kIntReductions;
    if (function < 3 && dim != 0 && random() % 2 == 0) dims.push_back(0);
    const bool keepdim = random() % 2 == 0;
    const auto y_rank = static_cast<uint32_t>(keepdim ? rank : rank - dims.size());
    const ir::Attrs attrs{{ir::attr::function, function},
                          {ir::attr::dims, dims},
                          {ir::attr::keepdim, int64_t{keepdim}}};
    const Order order = random_order(random, rank);
    const Order to = random_order(random, y_rank);
    ASSERT_NO_FATAL_FAILURE(
        expect_direct(OpKind::int_reduce, attrs, {integer_operand(random, shape, order)}, to));
    if (function != 0) {
      ASSERT_NO_FATAL_FAILURE(
          expect_direct(OpKind::int_reduce, attrs, {truth_operand(random, shape, order)}, to));
    }
    ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::int_cumsum, {{ir::attr::dim, dim}},
                                          {integer_operand(random, shape, order)},
                                          random_order(random, rank)));
  }
}

TEST(Integers, Casts) {
  Random random(3);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const uint32_t rank = static_cast<uint32_t>(random()) % 4;
    const ir::Shape shape = small_shape(random, rank);
    const Order order = random_order(random, rank);
    for (const ir::DType to : {ir::DType::kI32, ir::DType::kI64}) {
      const ir::Attrs attrs{{ir::attr::type, static_cast<int64_t>(to)}};
      for (const ir::DType from : {ir::DType::kI32, ir::DType::kI64}) {
        Operand x{random_tensor(random, from, shape), false, order};
        if (from == ir::DType::kI64) {  // near the ends of 32 bits
          for (int64_t& value : x.tensor.data<int64_t>()) value >>= uniform(random, 0, 40);
        }
        ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::int_cast, attrs, {x}, order));
      }
      ASSERT_NO_FATAL_FAILURE(
          expect_direct(OpKind::int_cast, attrs, {truth_operand(random, shape, order)}, order));
    }
  }
}

TEST(Integers, Quantization) {
  Random random(4);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const ir::Shape shape = small_shape(random, 2);
    const int64_t shift = uniform(random, -31, 20);
    const int64_t most = INT32_MAX >> std::max<int64_t>(shift, 0);
    const int64_t wide = repeat % 2;
    const ir::Attrs attrs{{ir::attr::min, -static_cast<int64_t>(random() % most)},
                          {ir::attr::max, static_cast<int64_t>(random() % most)},
                          {ir::attr::y_zp, int64_t{uniform(random, -128, 127)}},
                          {ir::attr::mult, int64_t{uniform(random, 1 << 30, INT32_MAX)}},
                          {ir::attr::shift, shift},
                          {ir::attr::wide, wide}};
    const Order order = random_order(random, 2);
    ASSERT_NO_FATAL_FAILURE(
        expect_direct(OpKind::int_quantize, attrs, {integer_operand(random, shape, order)}, order));
  }
}

}  // namespace
}  // namespace thimble::kernels::test
