// SPDX-License-Identifier: Apache-2.0
// Calls that the checks of conv2d and depthwise_conv2d refuse; each breaks one property.

#include <gtest/gtest.h>

#include "abi/params/conv.h"
#include "tests/kernels/conv_case.h"

namespace thimble::kernels::test {
namespace {

using abi::ConvParams;
using abi::PteOp;

ConvCase base(Random& random) {
  ConvCase c;
  c.set_axis(0, {5, 3, 1, 1, 1, 5});
  c.set_axis(1, {6, 3, 2, 1, 1, 3});
  c.in_c = c.out_c = c.groups = 4;
  c.randomize(random);
  c.bias.assign(4, 9);
  return c;
}

template <class Change>
Status stock(PteOp op, Change change) {
  Random random(1);
  Invocation call = base(random).stock(random, op);
  change(call);
  return call.check();
}

template <class Change>
Status native(PteOp op, Change change) {
  Random random(1);
  Invocation call = base(random).native(random, op);
  change(*call.value(1).as<ConvParams>());
  return call.check();
}

TEST(ConvRefusals, Stock) {
  for (const PteOp op :
       {PteOp::cortex_m_quantized_conv2d, PteOp::cortex_m_quantized_depthwise_conv2d}) {
    const size_t k = op == PteOp::cortex_m_quantized_conv2d ? 0 : 1;  // depthwise: one integer more
    using I = Invocation;
    EXPECT_EQ(stock(op, [](I&) {}), Status::kOk);
    EXPECT_EQ(stock(op, [](I& i) { i.value(2) = absent(); }), Status::kOk);
    EXPECT_EQ(stock(op, [](I& i) { i.value(2) = make(DType::kI32, {5}); }), Status::kBadShape);
    EXPECT_EQ(stock(op, [](I& i) { i.value(2) = make(DType::kI8, {4}); }), Status::kBadDType);
    EXPECT_EQ(stock(op, [](I& i) { i.value(0).order = contiguous(4); }), Status::kBadDimOrder);
    EXPECT_EQ(stock(op, [](I& i) { i.out().order = contiguous(4); }), Status::kBadDimOrder);
    EXPECT_EQ(stock(op, [](I& i) { i.value(1).order = {0, 2, 1, 3}; }), Status::kBadDimOrder);
    EXPECT_EQ(stock(op, [](I& i) { i.value(1).sizes[2] = 2, i.value(1).bytes -= 12; }),
              Status::kBadShape);
    EXPECT_EQ(stock(op, [](I& i) { i.args[3].ints.items[0] = 0; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [](I& i) { i.args[4].ints.items[1] = -1; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [](I& i) { i.args[5].ints.items[1] = 0; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [](I& i) { i.args[5].ints.items[1] = 32768; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [](I& i) { i.args[3].ints.items[0] = 2; }), Status::kBadShape);
    EXPECT_EQ(stock(op, [](I& i) { i.args[4].ints.count = 4; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [&](I& i) { i.args[6 + k].integer = -128; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [&](I& i) { i.args[7 + k].integer = 128; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [&](I& i) { i.args[10 + k].integer = -129; }), Status::kBadParameter);
    EXPECT_EQ(stock(op, [&](I& i) { i.args[11 + k].integer = -129; }), Status::kBadParameter);
    for (const size_t table : {8 + k, 9 + k}) {
      EXPECT_EQ(stock(op, [&](I& i) { i.value(table).constant = false; }), Status::kBadParameter);
      EXPECT_EQ(stock(op,
                      [&](I& i) {
                        i.value(table) = constant_words({1, 1, 1});
                      }),
                Status::kBadShape);
    }
    EXPECT_EQ(stock(op, [&](I& i) { i.value(8 + k).as<int32_t>()[3] = -1; }),
              Status::kBadParameter);
    EXPECT_EQ(stock(op, [&](I& i) { i.value(12 + k) = constant_words({1}); }),
              Status::kBadParameter);
    for (const int32_t shift : {30, 1, 0, -1, -16, -17, -31}) {
      EXPECT_EQ(stock(op, [&](I& i) { i.value(9 + k).as<int32_t>()[3] = shift; }), Status::kOk);
    }
    // Shifts out of range, some of which have a low byte in range.
    for (const int32_t shift : {31, -32, 256, -256, INT32_MIN}) {
      EXPECT_EQ(stock(op, [&](I& i) { i.value(9 + k).as<int32_t>()[3] = shift; }),
                Status::kBadParameter);
    }
  }
  const auto multiplier = [](Invocation& i) { i.args[6].integer = 2; };
  EXPECT_EQ(stock(PteOp::cortex_m_quantized_depthwise_conv2d, multiplier), Status::kBadShape);
}

TEST(ConvRefusals, Native) {
  for (const PteOp op : {PteOp::thimble_conv2d, PteOp::thimble_depthwise_conv2d}) {
    using P = ConvParams;
    EXPECT_EQ(native(op, [](P&) {}), Status::kOk);
    EXPECT_EQ(native(op, [](P& p) { p.out_channels = 5; }), Status::kBadShape);
    EXPECT_EQ(native(op, [](P& p) { p.groups = 0; }), Status::kBadShape);
    EXPECT_EQ(native(op, [](P& p) { p.groups = -4; }), Status::kBadShape);
    EXPECT_EQ(native(op, [](P& p) { p.groups = 3; }), Status::kBadShape);
    EXPECT_EQ(native(op, [](P& p) { p.groups = 8; }), Status::kBadShape);
    EXPECT_NE(native(op, [](P& p) { p.groups = 1; }), Status::kOk);
    EXPECT_EQ(native(op, [](P& p) { p.kernel_h = 0; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.kernel_w = INT32_MAX; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.kernel_h = p.kernel_w = 32767; }), Status::kBadShape);
    EXPECT_EQ(native(op, [](P& p) { p.stride_h = 0; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.stride_h = 32768; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.dilation_h = -1; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.pad_top = -1; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.pad_left = 32768; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.stride_h = 32767; }), Status::kBadShape);
    EXPECT_EQ(native(op, [](P& p) { p.pad_top = 9; }), Status::kBadShape);
    EXPECT_EQ(native(op, [](P& p) { p.x_offset = 129; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.x_offset = -128; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.y_offset = -129; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.min = 1, p.max = 0; }), Status::kBadParameter);
    EXPECT_EQ(native(op, [](P& p) { p.max = 128; }), Status::kBadParameter);
  }
}

TEST(ConvRefusals, PackedArrays) {
  for (const PteOp op : {PteOp::thimble_conv2d, PteOp::thimble_depthwise_conv2d}) {
    const auto status = [&](int change, size_t at, uint8_t byte) {
      Random random(1);
      Invocation call = base(random).native(random, op);
      Value& params = call.value(1);
      std::vector<uint8_t> bytes(params.data.get(), params.data.get() + params.bytes);
      bytes.resize(static_cast<size_t>(static_cast<int>(bytes.size()) + change));
      if (at != 0) bytes[at] = byte;
      params = constant_bytes(bytes);
      return call.check();
    };
    const size_t mult = sizeof(ConvParams) + 16;
    const size_t shift = mult + 16;
    EXPECT_EQ(status(0, 0, 0), Status::kOk);
    EXPECT_EQ(status(15, 0, 0), Status::kOk);
    EXPECT_EQ(status(16, 0, 0), Status::kBadParameter);
    EXPECT_EQ(status(-1, 0, 0), Status::kBadParameter);
    EXPECT_EQ(status(-60, 0, 0), Status::kBadParameter);
    EXPECT_EQ(status(0, mult + 3, 0xC0), Status::kBadParameter);
    EXPECT_EQ(status(0, shift + 3, 31), Status::kBadParameter);
    EXPECT_EQ(status(0, shift + 3, static_cast<uint8_t>(-32)), Status::kBadParameter);
    EXPECT_EQ(status(0, shift + 3, 30), Status::kOk);
  }
}

}  // namespace
}  // namespace thimble::kernels::test
