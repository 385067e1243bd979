// SPDX-License-Identifier: Apache-2.0
// conv2d_mve and linear_mve (on the host the portable kernels), compared with the sum of
// docs/numerics.md over logical indices; the calls that their checks refuse; and y in x's buffer.

#include <gtest/gtest.h>

#include <cstring>

#include "abi/matmul_mve.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "tests/kernels/matmul_mve_case.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

int8_t expected(const ConvCase& c, const int8_t* x, int32_t o, int32_t oy, int32_t ox) {
  const auto channel = static_cast<size_t>(o);
  int64_t acc = c.bias[channel];
  for (int32_t ky = 0; ky < c.kernel[0]; ++ky) {
    for (int32_t kx = 0; kx < c.kernel[1]; ++kx) {
      const int32_t iy = oy * c.stride[0] - c.pad[0] + ky * c.dilation[0];
      const int32_t ix = ox * c.stride[1] - c.pad[1] + kx * c.dilation[1];
      if (iy < 0 || iy >= c.in[0] || ix < 0 || ix >= c.in[1]) continue;
      for (int32_t i = 0; i < c.in_c; ++i) {
        acc += int64_t{x[(iy * c.in[1] + ix) * c.in_c + i] + c.x_offset} * c.weight(o, i, ky, kx);
      }
    }
  }
  return clamped(requantized(wrapped(acc), c.mult[channel], c.shift[channel]) + c.y_offset, c.min,
                 c.max);
}

/// `x` holds the input's values from before the call.
void expect_equal(const ConvCase& c, const std::vector<int8_t>& x, const int8_t* y) {
  for (int32_t oy = 0; oy < c.out[0]; ++oy) {
    for (int32_t ox = 0; ox < c.out[1]; ++ox) {
      for (int32_t o = 0; o < c.out_c; ++o) {
        ASSERT_EQ(*y++, expected(c, x.data(), o, oy, ox)) << c.text() << " at " << oy << ',' << ox;
      }
    }
  }
}

std::vector<int8_t> codes_of(Value& value) {
  const auto* const codes = value.as<int8_t>();
  return {codes, codes + value.bytes};
}

void expect_right(const ConvCase& c, Invocation call) {
  const std::vector<int8_t> x = codes_of(call.value(0));
  ASSERT_NO_FATAL_FAILURE(call.run()) << c.text();
  ASSERT_NO_FATAL_FAILURE(expect_equal(c, x, call.out().as<int8_t>()));
  call.record_equal();
}

void randomize(ConvCase& c, Random& random) {
  c.randomize(random);
  if (c.bias.empty()) c.bias.assign(static_cast<size_t>(c.out_c), -7);
}

/// Returns all axes that give an output and whose padding is smaller than the window.
std::vector<ConvAxis> small_axes() {
  std::vector<ConvAxis> axes;
  for (int32_t in = 1; in <= 4; ++in) {
    for (int32_t kernel = 1; kernel <= 3; ++kernel) {
      for (int32_t stride = 1; stride <= 2; ++stride) {
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

TEST(MatmulMve, AllSmallWindowsWithRandomOtherAxis) {
  Random random(1);
  const std::vector<ConvAxis> axes = small_axes();
  for (const ConvAxis& axis : axes) {
    for (const bool vertical : {false, true}) {
      for (const int32_t in_c : {1, 3, 16, 17}) {
        const ConvAxis& other = axes[random() % axes.size()];
        ConvCase c;
        c.set_axis(0, vertical ? axis : other);
        c.set_axis(1, vertical ? other : axis);
        c.in_c = in_c;
        c.out_c = uniform(random, 1, 9);
        randomize(c, random);
        ASSERT_NO_FATAL_FAILURE(expect_right(c, mve_conv(c, random)));
      }
    }
  }
}

ConvCase pixels(Random& random, int32_t rows, int32_t in_c, int32_t out_c) {
  ConvCase c;
  c.set_axis(0, {1, 1, 1, 1, 0, 1});
  c.set_axis(1, {rows, 1, 1, 1, 0, rows});
  c.in_c = in_c;
  c.out_c = out_c;
  randomize(c, random);
  return c;
}

TEST(MatmulMve, RowsOfEverySmallShape) {
  Random random(2);
  for (int32_t rows = 1; rows <= 5; ++rows) {
    for (int32_t depth = 1; depth <= 34; ++depth) {
      for (const int32_t channels : {1, 2, 3, 4, 5, 8, 9, 12}) {
        const ConvCase c = pixels(random, rows, depth, channels);
        ASSERT_NO_FATAL_FAILURE(expect_right(c, mve_linear(c, random)));
      }
    }
  }
}

TEST(MatmulMve, ResultMayOverlapPixelsAlreadyRead) {
  Random random(3);
  for (int32_t out_c = 1; out_c <= 20; ++out_c) {
    const ConvCase c = pixels(random, 11, 20, out_c);
    Invocation call = mve_conv(c, random);
    ASSERT_EQ(call.check(), Status::kOk);
    std::vector<int8_t> memory = codes_of(call.value(0));
    const std::vector<int8_t> x = memory;
    void* operands[] = {memory.data(), call.value(1).data.get(), call.value(2).data.get(),
                        call.value(3).data.get(), memory.data()};
    call.kernel->run_bare(operands);
    ASSERT_NO_FATAL_FAILURE(expect_equal(c, x, memory.data()));
  }
}

template <class Change>
Status status(PteOp op, Change change) {
  Random random(4);
  ConvCase c = pixels(random, 6, 20, 10);
  Invocation call = op == PteOp::thimble_conv2d_mve ? mve_conv(c, random) : mve_linear(c, random);
  change(call);
  return call.check();
}

TEST(MatmulMve, RefusesInvalidArguments) {
  using I = Invocation;
  using Window = abi::WindowGeometry;
  using Rows = abi::LinearGeometry;
  const auto conv = [](auto change) { return status(PteOp::thimble_conv2d_mve, change); };
  const auto window = [&](auto change) {
    return conv([&](I& i) { change(*i.value(1).as<Window>()); });
  };
  EXPECT_EQ(conv([](I&) {}), Status::kOk);
  EXPECT_EQ(window([](Window& g) { g.in_w += 1; }), Status::kBadShape);
  EXPECT_EQ(window([](Window& g) { g.in_c -= 1; }), Status::kBadShape);
  EXPECT_EQ(window([](Window& g) { g.out_h += 1; }), Status::kBadShape);
  EXPECT_EQ(window([](Window& g) { g.out_c -= 1; }), Status::kBadShape);
  EXPECT_EQ(window([](Window& g) { g.kernel_h = 0; }), Status::kBadParameter);
  EXPECT_EQ(window([](Window& g) { g.stride_w = 0; }), Status::kBadParameter);
  EXPECT_EQ(window([](Window& g) { g.dilation_w = 0; }), Status::kBadParameter);
  EXPECT_EQ(window([](Window& g) { g.pad_left = 1; }), Status::kBadParameter);
  EXPECT_EQ(window([](Window& g) { g.kernel_w = 2; }), Status::kBadParameter);  // padding at end
  EXPECT_EQ(window([](Window& g) { g.stride_w = 2; }), Status::kBadParameter);
  EXPECT_EQ(window([](Window& g) { g.x_zero_point = 128; }), Status::kBadParameter);
  EXPECT_EQ(window([](Window& g) { g.min = 5, g.max = 4; }), Status::kBadParameter);
  EXPECT_EQ(conv([](I& i) { i.value(0).order = contiguous(4); }), Status::kBadDimOrder);
  EXPECT_EQ(conv([](I& i) { i.value(1).constant = false; }), Status::kBadParameter);
  EXPECT_EQ(conv([](I& i) { i.value(2).constant = false; }), Status::kBadParameter);
  EXPECT_EQ(conv([](I& i) { i.value(2).sizes[0] = i.value(2).bytes -= 16; }),
            Status::kBadParameter);
  EXPECT_EQ(conv([](I& i) { i.value(3).sizes[0] = i.value(3).bytes -= 1; }),
            Status::kScratchTooSmall);
  EXPECT_EQ(conv([](I& i) { i.value(3).constant = true; }), Status::kBadParameter);

  const auto linear = [](auto change) { return status(PteOp::thimble_linear_mve, change); };
  const auto rows = [&](auto change) {
    return linear([&](I& i) { change(*i.value(1).as<Rows>()); });
  };
  EXPECT_EQ(linear([](I&) {}), Status::kOk);
  EXPECT_EQ(rows([](Rows& g) { g.rows += 1; }), Status::kBadShape);
  EXPECT_EQ(rows([](Rows& g) { g.rows = 0; }), Status::kBadShape);
  EXPECT_EQ(rows([](Rows& g) { g.in_features = 19; }), Status::kBadShape);
  EXPECT_EQ(rows([](Rows& g) { g.out_features = 0x80000000U; }), Status::kBadShape);
  EXPECT_EQ(rows([](Rows& g) { g.y_zero_point = -129; }), Status::kBadParameter);
  EXPECT_EQ(rows([](Rows& g) { g.max = 200; }), Status::kBadParameter);
  EXPECT_EQ(linear([](I& i) { i.value(0).order = {0, 2, 1}; }), Status::kBadDimOrder);
  EXPECT_EQ(linear([](I& i) { i.value(2).sizes[0] = i.value(2).bytes -= 16; }),
            Status::kBadParameter);
}

}  // namespace
}  // namespace thimble::kernels::test
