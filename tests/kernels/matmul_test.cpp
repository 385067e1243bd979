// SPDX-License-Identifier: Apache-2.0
// matmul, gather, gather_elements and the masked softmax, compared with the reference evaluator.

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "numerics/multiplier.h"
#include "tests/kernels/direct.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;
using ir::OpKind;
using ir::Tensor;

ir::Attrs product_attrs(Random& random, int64_t transpose_b, int32_t depth) {
  const double range = 128.0 / (depth * uniform(random, 1000, 20000));
  const numerics::Multiplier m = numerics::quantize_multiplier(range);
  const int32_t low = random() % 3 == 0 ? uniform(random, -128, 127) : -128;
  return {{ir::attr::transpose_b, transpose_b},
          {ir::attr::a_zp, int64_t{uniform(random, -128, 127)}},
          {ir::attr::b_zp, int64_t{uniform(random, -128, 127)}},
          {ir::attr::y_zp, int64_t{uniform(random, -128, 127)}},
          {ir::attr::mult, int64_t{m.mult}},
          {ir::attr::shift, int64_t{m.shift}},
          {ir::attr::min, int64_t{low}},
          {ir::attr::max, int64_t{random() % 3 == 0 ? uniform(random, low, 127) : 127}}};
}

void expect_product(Random& random, const ir::Shape& a, ir::Shape b, int64_t transpose_b) {
  if (transpose_b != 0) std::swap(b[b.size() - 1], b[b.size() - 2]);
  const auto attrs = product_attrs(random, transpose_b, static_cast<int32_t>(a.back()));
  expect_direct(OpKind::qmatmul, attrs,
                {Operand{random_tensor(random, ir::DType::kI8, a)},
                 Operand{random_tensor(random, ir::DType::kI8, b)}});
}

TEST(Matmul, EverySmallShape) {
  Random random(1);
  for (int64_t m = 1; m <= 3; ++m) {
    for (int64_t k = 1; k <= 6; ++k) {
      for (int64_t n = 1; n <= 9; ++n) {
        for (const int64_t transpose_b : {0, 1}) {
          ASSERT_NO_FATAL_FAILURE(expect_product(random, {m, k}, {k, n}, transpose_b));
        }
      }
    }
  }
}

TEST(Matmul, BatchesBroadcast) {
  Random random(2);
  const ir::Shape batches[][2] = {
      {{3}, {}},        {{}, {3}},        {{1}, {4}},          {{2, 3}, {3}},
      {{2, 1}, {1, 3}}, {{2, 3}, {2, 3}}, {{2, 1, 3}, {4, 1}}, {{2, 3, 4, 2}, {3, 1, 2}}};
  for (const auto& batch : batches) {
    for (const int64_t transpose_b : {0, 1}) {
      ir::Shape a = batch[0], b = batch[1];
      a.insert(a.end(), {3, 5});
      b.insert(b.end(), {5, 4});
      ASSERT_NO_FATAL_FAILURE(expect_product(random, a, b, transpose_b));
    }
  }
}

TEST(Matmul, LongestSums) {
  constexpr int64_t kDepth = 33025;
  Tensor a = ir::zeros(ir::DType::kI8, {1, kDepth});
  for (int8_t& code : a.data<int8_t>()) code = -128;
  for (const int64_t shift : {int64_t{-23}, int64_t{0}}) {
    expect_direct(OpKind::qmatmul,
                  {{ir::attr::transpose_b, int64_t{1}},
                   {ir::attr::a_zp, int64_t{127}},
                   {ir::attr::b_zp, int64_t{127}},
                   {ir::attr::y_zp, int64_t{-128}},
                   {ir::attr::mult, int64_t{1} << 30},
                   {ir::attr::shift, shift}},
                  {Operand{a}, Operand{a}});
  }
}

Invocation small_product(const std::vector<int32_t>& words, const Sizes& a = {2, 3, 4},
                         const Sizes& b = {4, 5}, const Sizes& y = {2, 3, 5}) {
  Random random(3);
  Invocation call(PteOp::thimble_matmul);
  call.add(random_codes(random, a)).add(random_codes(random, b));
  return std::move(call.add(constant_words(words)).add(make(kernels::DType::kI8, y)));
}

TEST(Matmul, RefusesInvalidArguments) {
  const std::vector<int32_t> good = {0, 1, 2, 3, 1 << 30, -8, -128, 127, 0};
  const auto with = [&](size_t i, int32_t value) {
    std::vector<int32_t> words = good;
    words[i] = value;
    return small_product(words).check();
  };
  EXPECT_EQ(small_product(good).check(), Status::kOk);
  EXPECT_EQ(with(0, 1), Status::kBadShape);
  EXPECT_EQ(with(0, 2), Status::kBadParameter);
  for (const size_t zero_point : {1, 2, 3}) {
    EXPECT_EQ(with(zero_point, 128), Status::kBadParameter);
    EXPECT_EQ(with(zero_point, -129), Status::kBadParameter);
  }
  EXPECT_EQ(with(4, -1), Status::kBadParameter);
  EXPECT_EQ(with(5, 31), Status::kBadParameter);
  EXPECT_EQ(with(6, -129), Status::kBadParameter);
  EXPECT_EQ(with(7, -129), Status::kBadParameter);
  EXPECT_EQ(with(8, 1), Status::kBadParameter);
  const std::vector<int32_t> shorter(good.begin(), good.end() - 1);
  EXPECT_EQ(small_product(shorter).check(), Status::kBadParameter);
  EXPECT_EQ(small_product(good, {4}, {4, 5}, {5}).check(), Status::kBadShape);
  EXPECT_EQ(small_product(good, {2, 4}, {4, 5}, {1, 2, 5}).check(), Status::kBadShape);
  EXPECT_EQ(small_product(good, {2, 4}, {4, 5}, {5, 2}).check(), Status::kBadShape);
  EXPECT_EQ(small_product(good, {1, 2, 4}, {1, 4, 5}, {3, 2, 5}).check(), Status::kBadShape);
  EXPECT_EQ(small_product(good, {2, 2, 4}, {3, 4, 5}, {2, 2, 5}).check(), Status::kBadShape);
  EXPECT_EQ(small_product(good, {1, 33026}, {33026, 1}, {1, 1}).check(), Status::kBadShape);
  Invocation call = small_product(good);
  call.value(0).order = {1, 0, 2};
  EXPECT_EQ(call.check(), Status::kBadDimOrder);
}

/// Returns positions inside 0..size-1 and far outside of it.
Tensor random_index(Random& random, ir::DType dtype, const ir::Shape& shape, int32_t size) {
  Tensor index = ir::zeros(dtype, shape);
  const int64_t extremes[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX,
                              -1,        -size,     -size - 1, size};
  for (int64_t i = 0; i < ir::element_count(shape); ++i) {
    const bool far = random() % 3 == 0;
    const int64_t at =
        far ? extremes[random() % std::size(extremes)] : int64_t{uniform(random, 0, size - 1)};
    const auto k = static_cast<size_t>(i);
    if (dtype == ir::DType::kI64) {
      index.data<int64_t>()[k] = at;
    } else {
      index.data<int32_t>()[k] = static_cast<int32_t>(at);
    }
  }
  return index;
}

const ir::DType kElements[] = {ir::DType::kI8, ir::DType::kI16, ir::DType::kF32, ir::DType::kI64,
                               ir::DType::kBool};

TEST(Gather, EveryDimensionAndElementType) {
  Random random(4);
  for (const ir::DType element : kElements) {
    for (const ir::DType dtype : {ir::DType::kI32, ir::DType::kI64}) {
      for (int64_t dim = 0; dim < 3; ++dim) {
        for (const ir::Shape& chosen : {ir::Shape{}, ir::Shape{1}, ir::Shape{5}, ir::Shape{2, 3}}) {
          const ir::Shape shape = {2, 3, 4};
          const auto size = static_cast<int32_t>(shape[static_cast<size_t>(dim)]);
          ASSERT_NO_FATAL_FAILURE(
              expect_direct(OpKind::gather, {{ir::attr::dim, dim}},
                            {Operand{random_tensor(random, element, shape)},
                             Operand{random_index(random, dtype, chosen, size)}}));
        }
      }
    }
  }
}

TEST(GatherElements, EveryDimensionAndElementType) {
  Random random(5);
  for (const ir::DType element : kElements) {
    for (const ir::DType dtype : {ir::DType::kI32, ir::DType::kI64}) {
      for (int64_t dim = 0; dim < 3; ++dim) {
        for (int round = 0; round < 6; ++round) {
          const ir::Shape shape = {2, 3, 4};
          ir::Shape chosen = shape;
          for (int64_t& size : chosen) size = uniform(random, 1, static_cast<int32_t>(size));
          chosen[static_cast<size_t>(dim)] = uniform(random, 1, 6);
          const auto size = static_cast<int32_t>(shape[static_cast<size_t>(dim)]);
          ASSERT_NO_FATAL_FAILURE(
              expect_direct(OpKind::gather_elements, {{ir::attr::dim, dim}},
                            {Operand{random_tensor(random, element, shape)},
                             Operand{random_index(random, dtype, chosen, size)}}));
        }
      }
    }
  }
}

TEST(Gather, RefusesInvalidArguments) {
  Random random(6);
  const auto call = [&](PteOp op, const Sizes& index, const Sizes& y, int32_t dim,
                        kernels::DType dtype = kernels::DType::kI32) {
    Invocation call(op);
    call.add(random_codes(random, {2, 3, 4})).add(make(dtype, index));
    return std::move(call.add(constant_words({dim})).add(make(kernels::DType::kI8, y)));
  };
  const PteOp op = PteOp::thimble_gather;
  EXPECT_EQ(call(op, {5}, {2, 5, 4}, 1).check(), Status::kOk);
  EXPECT_EQ(call(op, {5}, {2, 5, 4}, 1, kernels::DType::kI16).check(), Status::kBadDType);
  EXPECT_EQ(call(op, {5}, {2, 3, 4}, 1).check(), Status::kBadShape);
  EXPECT_EQ(call(op, {5}, {2, 5, 4, 1}, 1).check(), Status::kBadShape);
  EXPECT_EQ(call(op, {5}, {2, 5, 4}, 3).check(), Status::kBadParameter);
  EXPECT_EQ(call(op, {5}, {2, 5, 4}, -1).check(), Status::kBadParameter);
  EXPECT_EQ(call(op, {}, {2, 4}, 1).check(), Status::kOk);
  const PteOp elements = PteOp::thimble_gather_elements;
  EXPECT_EQ(call(elements, {2, 9, 4}, {2, 9, 4}, 1).check(), Status::kOk);
  EXPECT_EQ(call(elements, {2, 9, 4}, {2, 9, 4}, 2).check(), Status::kBadShape);
  EXPECT_EQ(call(elements, {2, 9, 4}, {2, 3, 4}, 1).check(), Status::kBadShape);
  EXPECT_EQ(call(elements, {2, 3, 4}, {2, 3, 4}, 3).check(), Status::kBadParameter);
  for (const PteOp each : {op, elements}) {
    Invocation turned =
        call(each, {2, 3, 4}, each == op ? Sizes{2, 2, 3, 4, 4} : Sizes{2, 3, 4}, 1);
    EXPECT_EQ(turned.check(), Status::kOk);
    turned.value(0).order = {2, 0, 1};
    EXPECT_EQ(turned.check(), Status::kBadDimOrder);
  }
}

ir::Attrs softmax_attrs(double scale, int64_t dim) {
  const numerics::Multiplier m = numerics::quantize_multiplier(scale * 0x1p26);
  const double diff_min = std::floor(31 * 0x1p26 / std::exp2(m.shift));
  return {{ir::attr::dim, dim},
          {ir::attr::mult, int64_t{m.mult}},
          {ir::attr::shift, int64_t{m.shift}},
          {ir::attr::diff_min, -static_cast<int64_t>(diff_min)}};
}

TEST(MaskedSoftmax, ValuesOfMinus128AreIgnored) {
  Random random(7);
  for (const double scale : {0.001, 0.07, 2.0}) {
    for (int64_t length = 1; length <= 40; ++length) {
      Tensor x = random_tensor(random, ir::DType::kI8, {3, length});
      for (size_t i = 0; i < x.data<int8_t>().size(); ++i) {
        const bool whole_row = i < static_cast<size_t>(length);
        if (whole_row || random() % 2 == 0) x.data<int8_t>()[i] = -128;
      }
      ASSERT_NO_FATAL_FAILURE(
          expect_direct(OpKind::qmasked_softmax, softmax_attrs(scale, 1), {Operand{x}}));
    }
  }
}

TEST(MaskedSoftmax, RefusesInvalidArguments) {
  const auto status = [](const std::vector<int32_t>& words, const Sizes& sizes = {2, 5}) {
    Random random(8);
    Invocation call(PteOp::thimble_qmasked_softmax);
    call.add(random_codes(random, sizes)).add(constant_words(words));
    return call.add(make(kernels::DType::kI8, sizes)).check();
  };
  EXPECT_EQ(status({1, 1 << 30, 20, -100}), Status::kOk);
  EXPECT_EQ(status({0, 1 << 30, 20, -100}), Status::kBadDimOrder);
  EXPECT_EQ(status({2, 1 << 30, 20, -100}), Status::kBadShape);
  EXPECT_EQ(status({-1, 1 << 30, 20, -100}), Status::kBadShape);
  EXPECT_EQ(status({1, -1, 20, -100}), Status::kBadParameter);
  EXPECT_EQ(status({1, 1 << 30, -1, -100}), Status::kBadParameter);
  EXPECT_EQ(status({1, 1 << 30, 32, -100}), Status::kBadParameter);
  EXPECT_EQ(status({1, 1 << 30, 20, 1}), Status::kBadParameter);
  EXPECT_EQ(status({1, 1 << 30, 20}), Status::kBadParameter);
}

}  // namespace
}  // namespace thimble::kernels::test
