// SPDX-License-Identifier: Apache-2.0
// Reductions, cumulative sums and norms, compared with the reference evaluator on every set of
// dimensions and on extreme values in the longest rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "numerics/inverse_sqrt.h"
#include "tests/kernels/direct.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using ir::OpKind;

ir::Shape random_shape(Random& random, uint32_t rank) {
  ir::Shape shape;
  for (uint32_t d = 0; d < rank; ++d) shape.push_back(uniform(random, 1, 4));
  return shape;
}

Operand codes(Random& random, const ir::Shape& shape, Order order = {},
              ir::DType dtype = ir::DType::kI8) {
  return {random_tensor(random, dtype, shape), false, std::move(order)};
}

Operand filled(const ir::Shape& shape, int8_t code) {
  Operand operand{ir::zeros(ir::DType::kI8, shape)};
  std::ranges::fill(operand.tensor.data<int8_t>(), code);
  return operand;
}

void set_result(Random& random, ir::Attrs& attrs, int32_t low_shift, int32_t high_shift) {
  attrs.set(ir::attr::y_zp, int64_t{uniform(random, -128, 127)});
  attrs.set(ir::attr::mult, int64_t{uniform(random, 1 << 30, INT32_MAX)});
  attrs.set(ir::attr::shift, int64_t{uniform(random, low_shift, high_shift)});
  attrs.set(ir::attr::min, int64_t{uniform(random, -128, -90)});
  attrs.set(ir::attr::max, int64_t{uniform(random, 90, 127)});
}

TEST(Reduce, EverySetOfDimensions) {
  Random random(1);
  for (uint32_t rank = 1; rank <= 6; ++rank) {
    for (uint32_t mask = 1; mask < 1U << rank; ++mask) {
      for (const bool keepdim : {false, true}) {
        const ir::Shape shape = random_shape(random, rank);
        std::vector<int64_t> dims;
        for (uint32_t d = 0; d < rank; ++d) {
          if ((mask >> d & 1) != 0) dims.push_back(d);
        }
        const size_t y_rank = keepdim ? rank : rank - dims.size();
        ir::Attrs attrs{{ir::attr::dims, dims}, {ir::attr::keepdim, int64_t{keepdim}}};
        const auto dtype = random() % 2 == 0 ? ir::DType::kI8 : ir::DType::kI16;
        for (const OpKind kind : {OpKind::amax, OpKind::amin}) {
          ASSERT_NO_FATAL_FAILURE(
              expect_direct(kind, attrs, {codes(random, shape, random_order(random, rank), dtype)},
                            random_order(random, y_rank)));
        }
        set_result(random, attrs, -16, 0);
        ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qvariance, attrs,
                                              {codes(random, shape, random_order(random, rank))},
                                              random_order(random, y_rank)));
      }
    }
  }
}

TEST(Reduce, RefusesRepeatedDimensions) {
  Random random(4);
  const auto status = [&](const std::vector<int32_t>& dims, Sizes y) {
    Invocation call(abi::PteOp::thimble_amax);
    call.add(random_codes(random, {2, 3}));
    call.add(params_constant(abi::ReduceParams{1, {static_cast<int32_t>(dims.size())}}, dims));
    return call.add(make(DType::kI8, std::move(y))).check();
  };
  EXPECT_EQ(status({0, 1}, {1, 1}), Status::kOk);
  EXPECT_EQ(status({1}, {2, 1}), Status::kOk);
  EXPECT_EQ(status({1, 1}, {2, 1}), Status::kBadParameter);
  EXPECT_EQ(status({0, 0}, {1, 3}), Status::kBadParameter);
}

TEST(Reduce, AlongEveryDimension) {
  Random random(2);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const uint32_t rank = 1 + static_cast<uint32_t>(random()) % 5;
    const ir::Shape shape = random_shape(random, rank);
    const int64_t dim = uniform(random, 0, static_cast<int32_t>(rank) - 1);
    const Order order = random_order(random, rank);
    const bool keepdim = random() % 2 == 0;
    ASSERT_NO_FATAL_FAILURE(
        expect_direct(OpKind::argmax, {{ir::attr::dim, dim}, {ir::attr::keepdim, int64_t{keepdim}}},
                      {codes(random, shape, order, ir::DType::kI16)},
                      random_order(random, keepdim ? rank : rank - 1)));
    // Few distinct values, so that several elements are equal: argmax returns the first.
    Operand x = codes(random, shape, order);
    for (int8_t& code : x.tensor.data<int8_t>()) code = static_cast<int8_t>(code >> (random() % 8));
    ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::argmax,
                                          {{ir::attr::dim, dim},
                                           {ir::attr::keepdim, int64_t{keepdim}},
                                           {ir::attr::smallest, int64_t{uniform(random, 0, 1)}}},
                                          {x}, random_order(random, keepdim ? rank : rank - 1)));
    ir::Attrs attrs{{ir::attr::dim, dim}, {ir::attr::x_zp, int64_t{uniform(random, -128, 127)}}};
    set_result(random, attrs, -6, 2);
    ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qcumsum, attrs, {x}, random_order(random, rank)));
  }
}

TEST(Reduce, VarianceOfLongAndExtremeRows) {
  Random random(3);
  for (const int64_t n : {1, 255, 256, 257, 4096, 70000}) {
    for (const int64_t shift : {-31, -22, -8, 0, 30}) {
      Operand x = filled({n}, -128);
      for (int64_t i = 0; i < n / 2; ++i) x.tensor.data<int8_t>()[static_cast<size_t>(i)] = 127;
      const ir::Attrs attrs{{ir::attr::dims, std::vector<int64_t>{0}},
                            {ir::attr::y_zp, int64_t{-128}},
                            {ir::attr::mult, int64_t{INT32_MAX}},
                            {ir::attr::shift, shift}};
      ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qvariance, attrs, {x}));
      ASSERT_NO_FATAL_FAILURE(expect_direct(OpKind::qvariance, attrs, {codes(random, {n})}));
    }
  }
}

std::optional<Operand> maybe(Random& random, Operand operand) {
  if (random() % 3 == 0) return std::nullopt;
  return operand;
}

struct NormCase {
  OpKind kind;
  ir::Attrs attrs;
  std::vector<std::optional<Operand>> operands;
};

/// Returns true for 16-bit norms, which have no zero points and wider bounds.
bool is_wide(OpKind kind) {
  return kind == OpKind::qgroup_norm16 || kind == OpKind::qlayer_norm16 ||
         kind == OpKind::qrms_norm16;
}

NormCase norm_case(Random& random, OpKind kind, Operand x) {
  const bool grouped = kind == OpKind::qgroup_norm || kind == OpKind::qgroup_norm16;
  const bool centered = kind != OpKind::qrms_norm && kind != OpKind::qrms_norm16;
  NormCase c{kind, {}, {}};
  const ir::Shape& shape = x.tensor.shape;
  ir::Shape entries = {shape.size() > 1 ? shape[1] : 1};
  if (grouped) {
    std::vector<int64_t> groups;
    for (int64_t g = 1; g <= entries[0]; ++g) {
      if (entries[0] % g == 0) groups.push_back(g);
    }
    c.attrs.set(ir::attr::groups, groups[random() % groups.size()]);
  } else {
    const int64_t dims = uniform(random, 1, static_cast<int32_t>(shape.size()));
    c.attrs.set(ir::attr::last_dims, dims);
    entries.assign(shape.end() - dims, shape.end());
  }
  c.attrs.set(ir::attr::int_eps, int64_t{random() % 2 == 0 ? 0 : uniform(random, 0, INT32_MAX)});
  c.attrs.set(ir::attr::eps_shift, int64_t{random() % 2 == 0 ? 0 : uniform(random, 0, 30)});
  if (kind == OpKind::qrms_norm) c.attrs.set(ir::attr::x_zp, int64_t{uniform(random, -128, 127)});
  if (is_wide(kind)) {
    c.attrs.set(ir::attr::mult, int64_t{uniform(random, 1 << 30, INT32_MAX)});
    c.attrs.set(ir::attr::shift, int64_t{uniform(random, -9, 0)});
    if (random() % 2 == 0) c.attrs.set(ir::attr::min, int64_t{uniform(random, -32768, 0)});
    if (random() % 2 == 0) c.attrs.set(ir::attr::max, int64_t{uniform(random, 0, 32767)});
  } else {
    set_result(random, c.attrs, -14, 0);
  }
  c.operands = {std::move(x),
                maybe(random, {random_tensor(random, ir::DType::kI16, entries), true})};
  if (centered) {
    const int32_t bound = random() % 4 == 0 ? 1 << 30 : 1 << 18;
    c.operands.push_back(maybe(random, {random_i32(random, entries, -bound, bound), true}));
  }
  return c;
}

TEST(Norms, RandomShapes) {
  Random random(4);
  for (int repeat = 0; repeat < 600; ++repeat) {
    for (const OpKind kind : {OpKind::qlayer_norm, OpKind::qgroup_norm, OpKind::qrms_norm}) {
      const uint32_t rank = 2 + static_cast<uint32_t>(random()) % 4;
      const ir::Shape shape = random_shape(random, rank);
      Order order = contiguous(rank);
      const bool channels_last = kind == OpKind::qgroup_norm && random() % 2 == 0;
      if (channels_last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
      Operand x = codes(random, shape, order);
      for (int8_t& code : x.tensor.data<int8_t>()) {
        code = static_cast<int8_t>(code >> (random() % 8));
      }
      const NormCase c = norm_case(random, kind, std::move(x));
      ASSERT_NO_FATAL_FAILURE(expect_direct(c.kind, c.attrs, c.operands, order));
    }
  }
}

/// One outlier among equal values gives the largest normalized element. Long rows need 64-bit sums.
TEST(Norms, LongAndExtremeRows) {
  Random random(5);
  for (const OpKind kind : {OpKind::qlayer_norm, OpKind::qgroup_norm, OpKind::qrms_norm}) {
    for (const int64_t n : {1, 2, 1000, 32768, 32769, 140000}) {
      for (const int8_t code : {int8_t{-128}, int8_t{0}, int8_t{127}}) {
        Operand x = filled({1, n}, code);
        const NormCase equal = norm_case(random, kind, x);
        ASSERT_NO_FATAL_FAILURE(expect_direct(kind, equal.attrs, equal.operands));
        x.tensor.data<int8_t>()[static_cast<size_t>(n - 1)] = static_cast<int8_t>(~code);
        const NormCase outlier = norm_case(random, kind, x);
        ASSERT_NO_FATAL_FAILURE(expect_direct(kind, outlier.attrs, outlier.operands));
      }
      const NormCase any = norm_case(random, kind, codes(random, {1, n}));
      ASSERT_NO_FATAL_FAILURE(expect_direct(kind, any.attrs, any.operands));
    }
  }
}

TEST(Norms, RandomShapesOf16Bits) {
  Random random(6);
  for (int repeat = 0; repeat < 600; ++repeat) {
    for (const OpKind kind : {OpKind::qlayer_norm16, OpKind::qgroup_norm16, OpKind::qrms_norm16}) {
      const uint32_t rank = 2 + static_cast<uint32_t>(random()) % 4;
      const ir::Shape shape = random_shape(random, rank);
      Order order = contiguous(rank);
      const bool channels_last = kind == OpKind::qgroup_norm16 && random() % 2 == 0;
      if (channels_last) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
      Operand x = {random_tensor(random, ir::DType::kI16, shape), false, order};
      for (int16_t& code : x.tensor.data<int16_t>()) {
        code = static_cast<int16_t>(code >> (random() % 16));
      }
      const NormCase c = norm_case(random, kind, std::move(x));
      ASSERT_NO_FATAL_FAILURE(expect_direct(c.kind, c.attrs, c.operands, order));
    }
  }
}

/// The largest variance, the largest sum and the largest normalized element of the longest rows.
TEST(Norms, LongAndExtremeRowsOf16Bits) {
  Random random(7);
  for (const OpKind kind : {OpKind::qlayer_norm16, OpKind::qgroup_norm16, OpKind::qrms_norm16}) {
    for (const int64_t n : {1, 2, 1000, 65535, 65536}) {
      for (const int16_t code : {int16_t{-32768}, int16_t{0}, int16_t{32767}}) {
        Operand x = {ir::zeros(ir::DType::kI16, {1, n})};
        const std::span<int16_t> all = x.tensor.data<int16_t>();
        std::fill(all.begin(), all.end(), code);
        const NormCase equal = norm_case(random, kind, x);
        ASSERT_NO_FATAL_FAILURE(expect_direct(kind, equal.attrs, equal.operands));
        all.back() = static_cast<int16_t>(~code);
        const NormCase outlier = norm_case(random, kind, x);
        ASSERT_NO_FATAL_FAILURE(expect_direct(kind, outlier.attrs, outlier.operands));
        std::fill(all.begin(), all.begin() + n / 2, static_cast<int16_t>(~code));
        const NormCase halves = norm_case(random, kind, x);
        ASSERT_NO_FATAL_FAILURE(expect_direct(kind, halves.attrs, halves.operands));
      }
      const NormCase any =
          norm_case(random, kind, {random_tensor(random, ir::DType::kI16, {1, n})});
      ASSERT_NO_FATAL_FAILURE(expect_direct(kind, any.attrs, any.operands));
    }
  }
}

TEST(InverseSqrt, ExamplesAndAccuracy) {
  using numerics::inverse_sqrt;
  EXPECT_EQ(inverse_sqrt(1), (numerics::InverseSqrt{65535, -15}));
  EXPECT_EQ(inverse_sqrt(3), (numerics::InverseSqrt{37837, -15}));
  EXPECT_EQ(inverse_sqrt(uint64_t{1} << 62), (numerics::InverseSqrt{65535, 16}));
  Random random(6);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = (uint64_t{random()} << 32 | random()) >> 1;
    const uint64_t radicand = std::max<uint64_t>(1, bits >> (random() % 63));
    const auto [t, e] = inverse_sqrt(radicand);
    const double exact = 1 / std::sqrt(static_cast<double>(radicand));
    ASSERT_NEAR(std::ldexp(t, -31 - e) / exact, 1, 0x1p-15) << radicand;
  }
}

}  // namespace
}  // namespace thimble::kernels::test
