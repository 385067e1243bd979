// SPDX-License-Identifier: Apache-2.0
// Operators packed for the DSP extension, compared with the sum of docs/numerics.md over logical
// indices; and the calls that their checks refuse.

#include <gtest/gtest.h>

#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "tests/kernels/dsp_case.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;
using abi::WindowGeometry;

int8_t expected_at(const ConvCase& c, const int8_t* x, int32_t o, int32_t oy, int32_t ox) {
  const int32_t group_in = c.in_c / c.groups;
  const int32_t first = o / (c.out_c / c.groups) * group_in;
  const size_t channel = static_cast<size_t>(o);
  int64_t acc = c.bias.empty() ? 0 : c.bias[channel];
  for (int32_t i = 0; i < group_in; ++i) {
    for (int32_t ky = 0; ky < c.kernel[0]; ++ky) {
      for (int32_t kx = 0; kx < c.kernel[1]; ++kx) {
        const int32_t iy = oy * c.stride[0] - c.pad[0] + ky * c.dilation[0];
        const int32_t ix = ox * c.stride[1] - c.pad[1] + kx * c.dilation[1];
        if (iy < 0 || iy >= c.in[0] || ix < 0 || ix >= c.in[1]) continue;
        const int32_t code = x[(iy * c.in[1] + ix) * c.in_c + first + i];
        acc += int64_t{code + c.x_offset} * c.weight(o, i, ky, kx);
      }
    }
  }
  return clamped(requantized(wrapped(acc), c.mult[channel], c.shift[channel]) + c.y_offset, c.min,
                 c.max);
}

/// Compares y with the expected values. x and y are in memory order.
void expect_right(const ConvCase& c, Invocation call) {
  ASSERT_NO_FATAL_FAILURE(call.run()) << c.text();
  const int8_t* const x = call.value(0).as<int8_t>();
  const int8_t* y = call.out().as<int8_t>();
  for (int32_t oy = 0; oy < c.out[0]; ++oy) {
    for (int32_t ox = 0; ox < c.out[1]; ++ox) {
      for (int32_t o = 0; o < c.out_c; ++o) {
        ASSERT_EQ(*y++, expected_at(c, x, o, oy, ox))
            << call.kernel->name << ' ' << c.text() << " at " << o << ',' << oy << ',' << ox;
      }
    }
  }
  call.record_equal();
}

/// Returns all combinations of extent, window and padding of one small axis.
std::vector<ConvAxis> small_axes() {
  std::vector<ConvAxis> axes;
  for (int32_t in = 1; in <= 5; ++in) {
    for (int32_t kernel = 1; kernel <= 3; ++kernel) {
      for (int32_t stride = 1; stride <= 3; ++stride) {
        for (int32_t dilation = 1; dilation <= 2; ++dilation) {
          const int32_t reach = (kernel - 1) * dilation;
          for (int32_t before = 0; before <= reach; ++before) {
            for (int32_t after = 0; after <= reach; ++after) {
              const int32_t room = in + before + after - reach - 1;
              if (room < 0) continue;
              axes.push_back({in, kernel, stride, dilation, before, room / stride + 1});
            }
          }
        }
      }
    }
  }
  return axes;
}

TEST(DspKernels, AllSmallAxesWithRandomOtherAxis) {
  Random random(1);
  const std::vector<ConvAxis> axes = small_axes();
  for (const ConvAxis& axis : axes) {
    for (const bool vertical : {false, true}) {
      const ConvAxis& other = axes[random() % axes.size()];
      ConvCase c;
      c.set_axis(0, vertical ? axis : other);
      c.set_axis(1, vertical ? other : axis);
      for (int32_t in_c = 1; in_c <= 5; ++in_c) {
        c.in_c = in_c;
        c.out_c = uniform(random, 1, 5);
        c.groups = 1;
        c.randomize(random);
        restrict_to_dsp_limits(c);
        ASSERT_NO_FATAL_FAILURE(expect_right(c, dsp_conv(c, random)));
      }
      c.in_c = c.out_c = c.groups = 4 * uniform(random, 1, 2);
      c.randomize(random);
      restrict_to_dsp_limits(c);
      ASSERT_NO_FATAL_FAILURE(expect_right(c, dsp_depthwise(c, random)));
    }
  }
}

TEST(DspKernels, DeepFilters) {
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    ConvCase c;
    const int32_t pixels = uniform(random, 1, 5);
    c.set_axis(0, {1, 1, 1, 1, 0, 1});
    c.set_axis(1, {pixels, 1, 1, 1, 0, pixels});
    c.in_c = 4 * uniform(random, 1, 128);
    c.out_c = uniform(random, 1, 9);
    c.randomize(random);
    restrict_to_dsp_limits(c);
    ASSERT_NO_FATAL_FAILURE(expect_right(c, dsp_conv(c, random)));
    ASSERT_NO_FATAL_FAILURE(expect_right(c, dsp_linear(c, random)));
  }
}

TEST(DspKernels, SecondAccumulatorAtItsLimits) {
  // 515 products of -128 and 127 give the largest sums that always fit in 24 bits.
  Random random(3);
  ConvCase c;
  c.set_axis(0, {1, 1, 1, 1, 0, 1});
  c.set_axis(1, {4, 1, 1, 1, 0, 4});
  c.in_c = 515;
  c.out_c = 2;
  constexpr int8_t kEnds[] = {-127, 127};
  for (const int8_t first : kEnds) {
    for (const int8_t second : kEnds) {
      c.randomize(random);
      for (size_t k = 0; k < 515; ++k) c.weights[k] = first, c.weights[515 + k] = second;
      for (const int code : {-128, 127}) {
        Invocation call = dsp_conv(c, random);
        std::fill_n(call.value(0).as<int8_t>(), call.value(0).bytes, static_cast<int8_t>(code));
        ASSERT_NO_FATAL_FAILURE(expect_right(c, std::move(call)));
      }
    }
  }
}

template <class Change>
Status changed(PteOp op, Change change) {
  Random random(4);
  Invocation call = dsp_sample(op, random);
  change(call);
  return call.check();
}

TEST(DspKernels, RefuseInvalidArguments) {
  using I = Invocation;
  for (const PteOp op : {PteOp::thimble_conv2d_dsp, PteOp::thimble_depthwise_dsp}) {
    const auto geometry = [&](auto change) {
      return changed(op, [&](I& i) { change(*i.value(1).template as<WindowGeometry>()); });
    };
    EXPECT_EQ(geometry([](WindowGeometry&) {}), Status::kOk);
    EXPECT_NE(geometry([](WindowGeometry& g) { g.in_c += 4; }), Status::kOk);
    EXPECT_NE(geometry([](WindowGeometry& g) { g.out_w += 1; }), Status::kOk);
    EXPECT_NE(geometry([](WindowGeometry& g) { g.kernel_h += 40; }), Status::kOk);
    EXPECT_NE(geometry([](WindowGeometry& g) { g.stride_w = 0; }), Status::kOk);
    EXPECT_NE(geometry([](WindowGeometry& g) { g.y_zero_point = 128; }), Status::kOk);
    EXPECT_NE(geometry([](WindowGeometry& g) { g.min = 5, g.max = 4; }), Status::kOk);
    EXPECT_EQ(changed(op, [](I& i) { i.value(3) = make(DType::kU8, {7}); }),
              Status::kScratchTooSmall);
    EXPECT_NE(changed(op, [](I& i) { i.value(3).constant = true; }), Status::kOk);
    EXPECT_NE(changed(op, [](I& i) { i.value(2).bytes -= 4; }), Status::kOk);
  }
  const PteOp linear = PteOp::thimble_linear_dsp;
  EXPECT_EQ(changed(linear, [](I&) {}), Status::kOk);
  EXPECT_NE(changed(linear, [](I& i) { ++i.value(1).as<abi::LinearGeometry>()->rows; }),
            Status::kOk);
  EXPECT_NE(changed(linear, [](I& i) { i.value(2).bytes -= 4; }), Status::kOk);
}

TEST(DspKernels, RefuseDepthsNotMultipleOfFour) {
  Random random(5);
  ConvCase c;
  c.set_axis(0, {1, 1, 1, 1, 0, 1});
  c.set_axis(1, {2, 1, 1, 1, 0, 2});
  c.in_c = c.out_c = 6;
  c.randomize(random);
  EXPECT_EQ(dsp_linear(c, random).check(), Status::kBadShape);
  c.groups = 6;
  c.randomize(random);
  EXPECT_EQ(dsp_depthwise(c, random).check(), Status::kBadShape);
}

}  // namespace
}  // namespace thimble::kernels::test
