// SPDX-License-Identifier: Apache-2.0
// Pools and mean, stock and native, compared with docs/numerics.md, "Pools and reductions", over
// logical indices.

#include <gtest/gtest.h>

#include "abi/params/pool.h"
#include "abi/params/reduction.h"
#include "tests/kernels/conv_case.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

struct PoolCase {
  ConvAxis axis[2];
  int32_t batch = 1, c = 1, min = -128, max = 127;
  bool average = false, ceil_mode = false;

  Sizes in() const { return {batch, c, axis[0].in, axis[1].in}; }
  Sizes out() const { return {batch, c, axis[0].out, axis[1].out}; }

  Invocation stock(Random& random) const {
    Invocation call(average ? PteOp::cortex_m_quantized_avg_pool2d
                            : PteOp::cortex_m_quantized_max_pool2d);
    call.add(random_codes(random, in(), kNhwc));
    call.add({axis[0].kernel, axis[1].kernel}).add({axis[0].stride, axis[1].stride});
    call.add({axis[0].pad, axis[1].pad});
    if (average) {
      call.add(int64_t{ceil_mode}).add(int64_t{3}).add(int64_t{77}).add(int64_t{-9});
      call.add(absent());
    } else {
      call.add({axis[0].dilation, axis[1].dilation}).add(int64_t{ceil_mode});
      call.add(int64_t{7}).add(int64_t{7}).add(int64_t{min}).add(int64_t{max});
    }
    call.add(make(DType::kI8, out(), kNhwc));
    return call;
  }

  Invocation native(Random& random) const {
    const abi::PoolParams params = {axis[0].kernel,
                                    axis[1].kernel,
                                    axis[0].stride,
                                    axis[1].stride,
                                    axis[0].dilation,
                                    axis[1].dilation,
                                    axis[0].pad,
                                    axis[1].pad,
                                    min,
                                    max};
    std::vector<uint8_t> bytes;
    append(bytes, &params, 1);
    Invocation call(average ? PteOp::thimble_avg_pool2d : PteOp::thimble_max_pool2d);
    call.add(random_codes(random, in(), kNhwc)).add(constant_bytes(bytes));
    call.add(make(DType::kI8, out(), kNhwc));
    return call;
  }

  int8_t expected(Value& x, const Sizes& at) const {
    int64_t count = 0, sum = 0, best = -1000;
    for (int32_t ky = 0; ky < axis[0].kernel; ++ky) {
      for (int32_t kx = 0; kx < axis[1].kernel; ++kx) {
        const int32_t iy = at[2] * axis[0].stride - axis[0].pad + ky * axis[0].dilation;
        const int32_t ix = at[3] * axis[1].stride - axis[1].pad + kx * axis[1].dilation;
        if (iy < 0 || iy >= axis[0].in || ix < 0 || ix >= axis[1].in) continue;
        const int8_t code = x.i8({at[0], at[1], iy, ix});
        ++count;
        sum += code;
        best = std::max<int64_t>(best, code);
      }
    }
    const int64_t mean = (sum + (sum >= 0 ? count / 2 : -(count / 2))) / count;
    return clamped(average ? mean : best, min, max);
  }

  void expect_right(Invocation call) const {
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (Sizes i; next(call.out().sizes, i);) {
      ASSERT_EQ(call.out().i8(i), expected(call.value(0), i))
          << call.kernel->name << " at " << i[2] << ',' << i[3];
    }
    call.record_equal();
  }
};

/// Returns every axis with extent <= 4, kernel <= 3, stride <= 3 whose windows all meet the image.
std::vector<ConvAxis> pool_axes(bool dilated, bool ceil_mode) {
  std::vector<ConvAxis> axes;
  for (Sizes i; next({4, 3, 3, dilated ? 2 : 1, 2}, i);) {
    ConvAxis axis = {i[0] + 1, i[1] + 1, i[2] + 1, i[3] + 1, i[4], 0};
    const int32_t room = axis.in + 2 * axis.pad - (axis.kernel - 1) * axis.dilation - 1;
    if (room < 0 || axis.pad > axis.kernel / 2) continue;
    axis.out = room / axis.stride + 1;
    if (ceil_mode && room % axis.stride != 0) axis.out += 1;
    if (ceil_mode && (axis.out - 1) * axis.stride >= axis.in + axis.pad) axis.out -= 1;
    bool meets = true;
    for (int32_t o = 0; o < axis.out; ++o) {
      bool any = false;
      for (int32_t k = 0; k < axis.kernel; ++k) {
        const int32_t p = o * axis.stride - axis.pad + k * axis.dilation;
        any = any || (p >= 0 && p < axis.in);
      }
      meets = meets && any;
    }
    if (meets) axes.push_back(axis);
  }
  return axes;
}

TEST(Pools, EverySmallPairOfAxes) {
  Random random(1);
  for (const bool average : {false, true}) {
    for (const bool ceil_mode : {false, true}) {
      const std::vector<ConvAxis> axes = pool_axes(!average, ceil_mode);
      for (const ConvAxis& h : axes) {
        for (const ConvAxis& w : axes) {
          if (random() % 4 != 0) continue;
          PoolCase pool;
          pool.axis[0] = h;
          pool.axis[1] = w;
          pool.batch = uniform(random, 1, 2);
          pool.c = uniform(random, 1, 3);
          pool.average = average;
          pool.ceil_mode = ceil_mode;
          if (!average) {
            pool.min = uniform(random, -128, 0);
            pool.max = uniform(random, 0, 127);
          }
          ASSERT_NO_FATAL_FAILURE(pool.expect_right(pool.stock(random)));
          pool.min = -50;
          pool.max = 127;
          ASSERT_NO_FATAL_FAILURE(pool.expect_right(pool.native(random)));
        }
      }
    }
  }
}

TEST(Pools, GlobalAndLarge) {
  Random random(2);
  for (const bool average : {false, true}) {
    for (const int32_t size : {1, 7, 61, 300}) {
      PoolCase pool;
      pool.axis[0] = {size, size, 1, 1, 0, 1};
      pool.axis[1] = {size + 1, 3, 2, 1, 1, (size + 1 - 1) / 2 + 1};
      pool.c = 5;
      pool.average = average;
      ASSERT_NO_FATAL_FAILURE(pool.expect_right(pool.stock(random)));
      ASSERT_NO_FATAL_FAILURE(pool.expect_right(pool.native(random)));
    }
  }
}

TEST(Pools, RefuseInvalidArguments) {
  Random random(3);
  PoolCase pool;
  pool.axis[0] = {4, 2, 2, 1, 0, 2};
  pool.axis[1] = {4, 2, 2, 1, 0, 2};
  const auto status = [&](bool average, auto change) {
    pool.average = average;
    Invocation call = pool.native(random);
    change(*call.value(1).as<abi::PoolParams>());
    return call.check();
  };
  using P = abi::PoolParams;
  for (const bool average : {false, true}) {
    EXPECT_EQ(status(average, [](P&) {}), Status::kOk);
    EXPECT_EQ(status(average, [](P& p) { p.kernel_h = 0; }), Status::kBadParameter);
    EXPECT_EQ(status(average, [](P& p) { p.stride_w = 0; }), Status::kBadParameter);
    EXPECT_EQ(status(average, [](P& p) { p.dilation_w = 0; }), Status::kBadParameter);
    EXPECT_EQ(status(average, [](P& p) { p.pad_top = -1; }), Status::kBadParameter);
    EXPECT_EQ(status(average, [](P& p) { p.pad_top = INT32_MAX; }), Status::kBadParameter);
    EXPECT_EQ(status(average, [](P& p) { p.pad_top = 2; }), Status::kBadShape);
    EXPECT_EQ(status(average, [](P& p) { p.stride_h = 9; }), Status::kBadShape);
    EXPECT_EQ(status(average, [](P& p) { p.stride_h = 1; }), Status::kBadShape);
    EXPECT_EQ(status(average, [](P& p) { p.min = 128; }), Status::kBadParameter);
    EXPECT_EQ(status(average, [](P& p) { p.min = 1, p.max = 0; }), Status::kBadParameter);
    EXPECT_EQ(status(average, [](P& p) { p.dilation_h = 2; }),
              average ? Status::kBadParameter : Status::kOk);
  }
  for (const bool average : {false, true}) {
    pool.average = average;
    EXPECT_EQ(pool.stock(random).check(), Status::kOk);
    for (const size_t arg : {1, 2, 3}) {  // kernel, stride, padding
      Invocation one_number = pool.stock(random);
      one_number.args[arg].ints.count = 1;
      EXPECT_EQ(one_number.check(), Status::kBadParameter) << "average " << average << ' ' << arg;
    }
  }
  pool.average = true;
  Invocation scratch = pool.stock(random);
  scratch.value(8) = constant_words({1});
  EXPECT_EQ(scratch.check(), Status::kBadParameter);
  pool.average = false;
  Invocation call = pool.stock(random);
  call.args[7].integer = 8;  // zero points of input and output differ
  EXPECT_EQ(call.check(), Status::kBadParameter);
  call = pool.stock(random);
  call.args[2].ints.count = 1;
  EXPECT_EQ(call.check(), Status::kBadParameter);
  call = pool.stock(random);
  call.value(0).order = contiguous(4);
  EXPECT_EQ(call.check(), Status::kOk);  // one channel: both orders have the same bytes
  pool.c = 2;
  call = pool.stock(random);
  call.value(0).order = contiguous(4);
  EXPECT_EQ(call.check(), Status::kBadDimOrder);
}

struct MeanCase {
  Sizes sizes, kept;
  abi::MeanParams params;
};

int8_t expected_mean(const MeanCase& c, Value& x, const Sizes& at) {
  Sizes reduced;
  for (size_t d = 0; d < c.sizes.size(); ++d) {
    reduced.push_back((c.params.dims_mask >> d & 1) != 0 ? c.sizes[d] : 1);
  }
  int64_t sum = 0;
  for (Sizes r; next(reduced, r);) {
    Sizes index = r;
    for (size_t d = 0; d < index.size(); ++d) index[d] += at[d];
    sum += x.i8(index) + c.params.x_offset;
  }
  return clamped(requantized(sum, c.params.mult, c.params.shift) + c.params.y_offset, c.params.min,
                 c.params.max);
}

void expect_mean(Random& random, const Sizes& sizes, uint32_t mask, bool drop) {
  MeanCase c = {sizes,
                {},
                {mask, uniform(random, -127, 128), uniform(random, -128, 127),
                 uniform(random, 1 << 30, INT32_MAX), uniform(random, -6, 0),
                 uniform(random, -128, -100), uniform(random, 100, 127)}};
  Sizes dropped;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool reduced = (mask >> d & 1) != 0;
    c.kept.push_back(reduced ? 1 : sizes[d]);
    if (!reduced) dropped.push_back(sizes[d]);
  }
  std::vector<uint8_t> bytes;
  append(bytes, &c.params, 1);
  const Sizes& y_sizes = drop ? dropped : c.kept;
  Invocation call(PteOp::thimble_mean);
  call.add(random_codes(random, sizes, random_order(random, sizes.size())));
  call.add(constant_bytes(bytes));
  call.add(make(DType::kI8, y_sizes, random_order(random, y_sizes.size())));
  ASSERT_NO_FATAL_FAILURE(call.run());
  for (Sizes i; next(c.kept, i);) {
    Sizes at;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (!drop || (mask >> d & 1) == 0) at.push_back(i[d]);
    }
    ASSERT_EQ(call.out().i8(at), expected_mean(c, call.value(0), i)) << "mask " << mask;
  }
  call.record_equal();
}

TEST(Mean, EverySetOfDimensions) {
  Random random(4);
  for (uint32_t rank = 1; rank <= 6; ++rank) {
    for (uint32_t mask = 1; mask < 1U << rank; ++mask) {
      for (int repeat = 0; repeat < 4; ++repeat) {
        Sizes sizes;
        for (uint32_t d = 0; d < rank; ++d) sizes.push_back(uniform(random, 1, 4));
        ASSERT_NO_FATAL_FAILURE(expect_mean(random, sizes, mask, repeat % 2 == 0));
      }
    }
  }
}

TEST(Mean, RefusesInvalidArguments) {
  Random random(5);
  const auto status = [&](auto change, Sizes y) {
    abi::MeanParams params = {2, 0, 0, 1 << 30, 0, -128, 127};
    change(params);
    std::vector<uint8_t> bytes;
    append(bytes, &params, 1);
    Invocation call(PteOp::thimble_mean);
    call.add(random_codes(random, {2, 3})).add(constant_bytes(bytes)).add(make(DType::kI8, y));
    return call.check();
  };
  using P = abi::MeanParams;
  EXPECT_EQ(status([](P&) {}, {2}), Status::kOk);
  EXPECT_EQ(status([](P&) {}, {2, 1}), Status::kOk);
  EXPECT_EQ(status([](P&) {}, {2, 3}), Status::kBadShape);
  EXPECT_EQ(status([](P&) {}, {3}), Status::kBadShape);
  EXPECT_EQ(status([](P&) {}, {}), Status::kBadShape);
  EXPECT_EQ(status([](P& p) { p.dims_mask = 0; }, {2, 3}), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.dims_mask = 4; }, {2, 3}), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.shift = 31; }, {2}), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.mult = -1; }, {2}), Status::kBadParameter);
  EXPECT_EQ(status([](P& p) { p.x_offset = -128; }, {2}), Status::kBadParameter);
}

}  // namespace
}  // namespace thimble::kernels::test
