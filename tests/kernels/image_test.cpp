// SPDX-License-Identifier: Apache-2.0
// Transposed convolution, adaptive pools, bilinear resizing and permute, compared with
// docs/numerics.md over logical indices.

#include <gtest/gtest.h>

#include "tests/kernels/reference.h"
#include "tests/kernels/samples.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

struct TransposedAxis {
  int32_t in, kernel, stride, dilation, before, after, extra;

  int32_t out() const {
    return (in - 1) * stride + (kernel - 1) * dilation + 1 + extra - before - after;
  }
};

struct TransposedCase {
  TransposedAxis axis[2];
  int32_t batch = 1, groups = 1, group_i = 1, group_o = 1, x_zp = 0, y_zp = 0;
  int32_t min = -128, max = 127;
  bool bias = true, per_channel = true;

  int32_t in_c() const { return groups * group_i; }
  int32_t out_c() const { return groups * group_o; }
  Sizes x() const { return {batch, in_c(), axis[0].in, axis[1].in}; }
  Sizes w() const { return {in_c(), group_o, axis[0].kernel, axis[1].kernel}; }
  Sizes y() const { return {batch, out_c(), axis[0].out(), axis[1].out()}; }

  std::vector<int32_t> attributes() const {
    const TransposedAxis& h = axis[0];
    const TransposedAxis& v = axis[1];
    return {2,       h.stride, v.stride, 4,       h.before, v.before,   h.after,
            v.after, 2,        h.extra,  v.extra, 2,        h.dilation, v.dilation,
            groups,  x_zp,     y_zp,     min,     max,      0};
  }

  Invocation call(Random& random) const {
    const size_t scales = per_channel ? static_cast<size_t>(out_c()) : 1;
    std::vector<int32_t> mult, shift, start;
    for (size_t i = 0; i < scales; ++i) {
      mult.push_back(uniform(random, 1 << 30, INT32_MAX));
      shift.push_back(uniform(random, -9, 0));
    }
    for (int32_t o = 0; o < out_c(); ++o) start.push_back(uniform(random, -3000, 3000));
    Invocation call(PteOp::thimble_conv_transpose2d);
    call.add(random_codes(random, x(), kNhwc));
    Value weights = random_codes(random, w(), {1, 2, 3, 0});
    weights.constant = true;
    call.add(std::move(weights)).add(bias ? constant_words(start) : absent());
    call.add(constant_words(mult)).add(constant_words(shift)).add(constant_words(attributes()));
    return std::move(call.add(make(DType::kI8, y(), kNhwc)));
  }

  /// Computes the sums of all outputs by the definition: each input element adds to its window.
  std::vector<int64_t> sums(Invocation& call) const {
    Value& to = call.out();
    std::vector<int64_t> sums(static_cast<size_t>(to.count()), 0);
    for (Sizes i; next(x(), i);) {
      const int64_t code = call.value(0).i8(i) - x_zp;
      for (Sizes k; next({group_o, axis[0].kernel, axis[1].kernel}, k);) {
        Sizes at = {i[0], i[1] / group_i * group_o + k[0], 0, 0};
        bool inside = true;
        for (size_t side = 0; side < 2; ++side) {
          const TransposedAxis& a = axis[side];
          at[2 + side] = i[2 + side] * a.stride + k[1 + side] * a.dilation - a.before;
          inside = inside && at[2 + side] >= 0 && at[2 + side] < a.out();
        }
        if (inside) sums[to.at(at)] += code * call.value(1).i8({i[1], k[0], k[1], k[2]});
      }
    }
    return sums;
  }

  void expect_right(Random& random) const {
    Invocation call = this->call(random);
    ASSERT_NO_FATAL_FAILURE(call.run());
    const std::vector<int64_t> all = sums(call);
    for (Sizes i; next(y(), i);) {
      const size_t o = static_cast<size_t>(i[1]);
      const size_t entry = per_channel ? o : 0;
      const int64_t sum = all[call.out().at(i)] + (bias ? call.value(2).as<int32_t>()[o] : 0);
      const int64_t scaled =
          requantized(sum, call.value(3).as<int32_t>()[entry], call.value(4).as<int32_t>()[entry]);
      ASSERT_EQ(call.out().i8(i), clamped(scaled + y_zp, min, max))
          << i[0] << ',' << i[1] << ',' << i[2] << ',' << i[3];
    }
    call.record_equal();
  }
};

/// Returns every axis with extent <= 4, kernel <= 4, stride <= 3, dilation <= 3 and an output.
std::vector<TransposedAxis> transposed_axes() {
  std::vector<TransposedAxis> axes;
  for (Sizes i; next({4, 4, 3, 3, 3, 2, 2}, i);) {
    const TransposedAxis axis = {i[0] + 1, i[1] + 1, i[2] + 1, i[3] + 1, i[4], i[5], i[6]};
    if (axis.out() >= 1) axes.push_back(axis);
  }
  return axes;
}

TEST(ConvTranspose, AllSmallAxes) {
  Random random(1);
  const std::vector<TransposedAxis> axes = transposed_axes();
  for (const TransposedAxis& axis : axes) {
    TransposedCase c;
    const bool tall = random() % 2 == 0;
    c.axis[tall ? 0 : 1] = axis;
    c.axis[tall ? 1 : 0] = axes[random() % axes.size()];
    c.batch = uniform(random, 1, 2);
    c.groups = uniform(random, 1, 3);
    c.group_i = uniform(random, 1, 3);
    c.group_o = uniform(random, 1, 6);
    c.x_zp = uniform(random, -128, 127);
    c.y_zp = uniform(random, -128, 127);
    c.min = uniform(random, -128, 0);
    c.max = uniform(random, 0, 127);
    c.bias = random() % 2 == 0;
    c.per_channel = random() % 2 == 0;
    ASSERT_NO_FATAL_FAILURE(c.expect_right(random));
  }
}

TEST(ConvTranspose, RefusesInvalidArguments) {
  Random random(2);
  TransposedCase c;
  c.axis[0] = {3, 2, 2, 1, 0, 0, 0};
  c.axis[1] = {4, 3, 2, 1, 1, 1, 1};
  c.groups = 2;
  c.group_i = 2;
  c.group_o = 3;
  const auto status = [&](auto change) {
    Invocation call = c.call(random);
    change(call);
    return call.check();
  };
  const auto word = [&](size_t index, int32_t value) {
    return status([&](Invocation& call) { call.value(5).as<int32_t>()[index] = value; });
  };
  EXPECT_EQ(status([](Invocation&) {}), Status::kOk);
  // Words: strides 0..2, padding 3..7, output padding 8..10, dilation 11..13, groups.
  for (const size_t count : {0, 3, 8, 11}) EXPECT_EQ(word(count, 1), Status::kBadParameter);
  for (const size_t step : {1, 2, 12, 13}) {
    EXPECT_EQ(word(step, 0), Status::kBadParameter);
    EXPECT_EQ(word(step, 5), Status::kBadShape);
    EXPECT_EQ(word(step, INT32_MAX), Status::kBadParameter);
  }
  for (const size_t side : {4, 5, 6, 7, 9, 10}) {
    EXPECT_EQ(word(side, -1), Status::kBadParameter);
    EXPECT_EQ(word(side, 7), Status::kBadShape);
  }
  EXPECT_EQ(word(14, 0), Status::kBadParameter);
  EXPECT_EQ(word(14, 1), Status::kBadShape);
  EXPECT_EQ(word(14, 3), Status::kBadShape);
  EXPECT_EQ(word(15, 128), Status::kBadParameter);
  EXPECT_EQ(word(16, -129), Status::kBadParameter);
  EXPECT_EQ(word(17, 128), Status::kBadParameter);
  EXPECT_EQ(word(19, 1), Status::kBadParameter);
  const auto layout = [&](size_t arg, const Order& order) {
    return status([&](Invocation& call) { call.value(arg).order = order; });
  };
  EXPECT_EQ(layout(0, contiguous(4)), Status::kBadDimOrder);
  EXPECT_EQ(layout(1, contiguous(4)), Status::kBadDimOrder);
  EXPECT_EQ(layout(6, contiguous(4)), Status::kBadDimOrder);
  c.per_channel = false;
  EXPECT_EQ(status([](Invocation& call) { call.value(4).as<int32_t>()[0] = 256; }),
            Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& call) { call.value(3).as<int32_t>()[0] = -1; }),
            Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& call) { call.value(3).constant = false; }),
            Status::kBadParameter);
  EXPECT_EQ(status([](Invocation& call) {
              call.value(3) = constant_words({1, 1});
            }),
            Status::kBadShape);
  EXPECT_EQ(status([](Invocation& call) {
              call.value(2) = constant_words({1, 1});
            }),
            Status::kBadShape);
}

struct AdaptiveCase {
  bool average = true;
  int32_t channels = 1;
  int32_t in[2], out[2];
  int32_t min = -128, max = 127;

  Invocation call(Random& random) const {
    Invocation call(average ? PteOp::thimble_adaptive_avg_pool2d
                            : PteOp::thimble_adaptive_max_pool2d);
    std::vector<int32_t> attributes = {2, out[0], out[1]};
    if (average) attributes.insert(attributes.end(), {min, max});
    call.add(random_codes(random, {2, channels, in[0], in[1]}, kNhwc));
    call.add(constant_words(attributes));
    return std::move(call.add(make(DType::kI8, {2, channels, out[0], out[1]}, kNhwc)));
  }

  int8_t expected(Value& x, const Sizes& at) const {
    int64_t count = 0, sum = 0, best = -1000;
    for (Sizes i; next({in[0], in[1]}, i);) {
      bool inside = true;
      for (size_t side = 0; side < 2; ++side) {
        // i >= floor(o * in / out) and i < ceil((o + 1) * in / out), without a division.
        const int64_t o = at[2 + side];
        inside = inside && (int64_t{i[side]} + 1) * out[side] > o * in[side] &&
                 int64_t{i[side]} * out[side] < (o + 1) * in[side];
      }
      if (!inside) continue;
      const int8_t code = x.i8({at[0], at[1], i[0], i[1]});
      ++count;
      sum += code;
      best = std::max<int64_t>(best, code);
    }
    const int64_t mean = (sum + (sum >= 0 ? count / 2 : -(count / 2))) / count;
    return average ? clamped(mean, min, max) : static_cast<int8_t>(best);
  }
};

TEST(AdaptivePools, EverySmallSize) {
  Random random(3);
  for (Sizes i; next({2, 7, 4, 9, 3}, i);) {
    AdaptiveCase c;
    c.average = i[0] == 0;
    c.in[0] = i[1] + 1;
    c.in[1] = i[2] * 3 + 1;
    c.out[0] = i[3] + 1;
    c.out[1] = i[4] * 4 + 1;
    c.channels = uniform(random, 1, 3);
    c.min = uniform(random, -128, 0);
    c.max = uniform(random, 0, 127);
    Invocation call = c.call(random);
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (Sizes at; next(call.out().sizes, at);) {
      ASSERT_EQ(call.out().i8(at), c.expected(call.value(0), at)) << at[2] << ',' << at[3];
    }
    call.record_equal();
  }
}

TEST(AdaptivePools, RefuseInvalidArguments) {
  Random random(4);
  for (const bool average : {true, false}) {
    const AdaptiveCase c = {average, 2, {5, 6}, {3, 4}};
    const auto word = [&](size_t index, int32_t value) {
      Invocation call = c.call(random);
      call.value(1).as<int32_t>()[index] = value;
      return call.check();
    };
    EXPECT_EQ(word(0, 2), Status::kOk);
    EXPECT_EQ(word(0, 1), Status::kBadParameter);
    EXPECT_EQ(word(1, 4), Status::kBadShape);
    EXPECT_EQ(word(2, 3), Status::kBadShape);
    if (average) {
      EXPECT_EQ(word(3, 128), Status::kBadParameter);
    }
    Invocation call = c.call(random);
    call.value(1) = constant_words({2, 3, 4, -128, 127, 0});
    EXPECT_EQ(call.check(), Status::kBadParameter);
    call = c.call(random);
    call.value(0).order = contiguous(4);
    EXPECT_EQ(call.check(), Status::kBadDimOrder);
  }
}

Invocation resize(Random& random, const Sizes& x, int32_t rows, int32_t columns) {
  Invocation call(PteOp::thimble_resize_bilinear);
  call.add(random_codes(random, x, kNhwc));
  for (size_t side = 0; side < 2; ++side) {
    std::vector<int32_t> low, weight;
    for (int32_t i = 0; i < (side == 0 ? rows : columns); ++i) {
      low.push_back(uniform(random, 0, x[2 + side] - 1));
      weight.push_back(random() % 4 == 0 ? 2048 : uniform(random, 0, 2048));
    }
    call.add(constant_words(low)).add(constant_words(weight));
  }
  return std::move(call.add(make(DType::kI8, {x[0], x[1], rows, columns}, kNhwc)));
}

TEST(ResizeBilinear, AnyTables) {
  Random random(5);
  for (Sizes i; next({2, 3, 4, 4, 5, 5}, i);) {
    const Sizes x = {i[0] + 1, i[1] + 1, i[2] + 1, i[3] + 1};
    Invocation call = resize(random, x, i[4] + 1, i[5] + 1);
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (Sizes at; next(call.out().sizes, at);) {
      int64_t sum = 0;
      for (int32_t corner = 0; corner < 4; ++corner) {
        Sizes from = at;
        int64_t weight = 1;
        for (size_t side = 0; side < 2; ++side) {
          const bool high = (corner >> side & 1) != 0;
          const size_t entry = static_cast<size_t>(at[2 + side]);
          const int32_t w = call.value(2 + 2 * side).as<int32_t>()[entry];
          const int32_t low = call.value(1 + 2 * side).as<int32_t>()[entry];
          from[2 + side] = high ? std::min(low + 1, x[2 + side] - 1) : low;
          weight *= high ? w : 2048 - w;
        }
        sum += weight * call.value(0).i8(from);
      }
      ASSERT_EQ(call.out().i8(at), floor_divide(sum + (1 << 21), 1 << 22));
    }
    call.record_equal();
  }
}

TEST(ResizeBilinear, RefusesInvalidArguments) {
  Random random(6);
  const auto status = [&](auto change) {
    Invocation call = resize(random, {1, 2, 3, 4}, 5, 6);
    change(call);
    return call.check();
  };
  const auto word = [&](size_t arg, int32_t value) {
    return status([&](Invocation& call) { call.value(arg).as<int32_t>()[3] = value; });
  };
  EXPECT_EQ(status([](Invocation&) {}), Status::kOk);
  EXPECT_EQ(word(1, 2), Status::kOk);
  EXPECT_EQ(word(1, 3), Status::kBadParameter);
  EXPECT_EQ(word(3, 3), Status::kOk);
  EXPECT_EQ(word(3, 4), Status::kBadParameter);
  for (const size_t arg : {1, 2, 3, 4}) {
    EXPECT_EQ(word(arg, -1), Status::kBadParameter);
    EXPECT_EQ(word(arg, 2049), Status::kBadParameter);
    EXPECT_EQ(status([&](Invocation& call) { call.value(arg).constant = false; }),
              Status::kBadParameter);
    EXPECT_EQ(status([&](Invocation& call) {
                call.value(arg) = constant_words({0, 0});
              }),
              Status::kBadShape);
  }
  EXPECT_EQ(status([](Invocation& call) { call.value(0).order = contiguous(4); }),
            Status::kBadDimOrder);
}

TEST(Permute, EveryRankAndOrder) {
  Random random(7);
  const DType dtypes[] = {DType::kI8, DType::kI16, DType::kF32, DType::kI64};
  for (size_t rank = 0; rank <= abi::kMaxRank; ++rank) {
    for (int repeat = 0; repeat < 120; ++repeat) {
      const Order order = random_order(random, rank);
      Sizes x, y;
      for (size_t d = 0; d < rank; ++d) x.push_back(uniform(random, 1, rank < 4 ? 6 : 3));
      std::vector<int32_t> attributes = {static_cast<int32_t>(rank)};
      for (const uint8_t dim : order) {
        attributes.push_back(dim);
        y.push_back(x[dim]);
      }
      const DType dtype = dtypes[repeat % 4];
      Invocation call(PteOp::thimble_permute);
      Value from = make(dtype, x, random_order(random, rank));
      from.fill(random);
      call.add(std::move(from)).add(constant_words(attributes));
      call.add(make(dtype, y, random_order(random, rank)));
      ASSERT_NO_FATAL_FAILURE(call.run());
      const size_t width = bytes_of(dtype);
      for (Sizes at; next(y, at);) {
        Sizes source(rank);
        for (size_t d = 0; d < rank; ++d) source[order[d]] = at[d];
        const uint8_t* const want = call.value(0).data.get() + call.value(0).at(source) * width;
        const uint8_t* const got = call.out().data.get() + call.out().at(at) * width;
        ASSERT_TRUE(std::equal(got, got + width, want)) << "rank " << rank;
      }
      call.record_equal();
    }
  }
}

TEST(Permute, RefusesInvalidPermutation) {
  Random random(8);
  const auto status = [&](const std::vector<int32_t>& attributes, const Sizes& y) {
    Invocation call(PteOp::thimble_permute);
    call.add(random_codes(random, {2, 3, 4})).add(constant_words(attributes));
    return call.add(make(DType::kI8, y)).check();
  };
  EXPECT_EQ(status({3, 2, 0, 1}, {4, 2, 3}), Status::kOk);
  EXPECT_EQ(status({3, 2, 0, 1}, {2, 3, 4}), Status::kBadShape);
  EXPECT_EQ(status({3, 2, 0, 0}, {4, 2, 2}), Status::kBadParameter);
  EXPECT_EQ(status({3, 3, 0, 1}, {4, 2, 3}), Status::kBadParameter);
  EXPECT_EQ(status({3, -1, 0, 1}, {4, 2, 3}), Status::kBadParameter);
  EXPECT_EQ(status({2, 2, 0, 1}, {4, 2, 3}), Status::kBadParameter);
  EXPECT_EQ(status({3, 2, 0}, {4, 2, 3}), Status::kBadParameter);
  EXPECT_EQ(status({3, 2, 0, 1}, {4, 6}), Status::kBadShape);
}

}  // namespace
}  // namespace thimble::kernels::test
