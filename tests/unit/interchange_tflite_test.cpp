// SPDX-License-Identifier: Apache-2.0
// Contents of a .tflite, read back with the accessors of the schema and checked by its verifier.

#include <gtest/gtest.h>

#include <cmath>

#include "interchange_tflite_result.h"

namespace thimble::interchange {
namespace {

constexpr int kAdd = 0, kConv = 3, kReshape = 22, kPad = 34, kGather = 36, kCast = 53, kPadV2 = 60,
              kMaximum = 55, kMinimum = 57, kTranspose = 39;

// 0.5 * 0.25 / 1 = 1/8 is 2^30 * 2^(-2-31).
std::string conv(const std::string& padding, const std::string& more) {
  return R"(graph @g {
    input %x: i8[1,2,4,4] quant(0.5, 5)
    const %w: i8[1,2,3,3] quant(0.25, 0) = 0x010203040506070809010203040506070809
    const %b: i32[1] = 0x07000000
    const %m: i32[1] = 0x00000040
    const %s: i32[1] = 0xfeffffff
    %y: i8[)" +
         more + R"(] quant(1, -3) = qconv2d(%x, %w, %b, %m, %s) {stride=[1,1], padding=)" +
         padding + R"(, dilation=[1,1], x_zp=5, y_zp=-3, min=-128, max=127}
    output %y
  })";
}

TEST(InterchangeTflite, ConvolutionOfAnImage) {
  const Made made = make(conv("[1,1,1,1]", "1,1,4,4"));
  ASSERT_NE(made.model, nullptr);
  EXPECT_EQ(made.bytes[4], std::byte('T'));
  EXPECT_EQ(made.bytes[7], std::byte('3'));
  EXPECT_EQ(made.model->version(), 3U);
  // One transposition at the input. The output needs a reshape only: with one channel, both orders
  // have the same bytes.
  EXPECT_EQ(made.codes(), (std::vector<int>{kTranspose, kConv, kReshape}));
  const auto* options = made.graph->operators()->Get(1)->builtin_options_as_Conv2DOptions();
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->padding(), 0);  // SAME
  EXPECT_EQ(options->fused_activation_function(), 0);
  const fb::Tensor* w = made.operand(1, 1);
  EXPECT_EQ(made.shape(w), (std::vector<int>{1, 3, 3, 2}));
  const auto* codes = made.model->buffers()->Get(w->buffer())->data();
  EXPECT_EQ((std::vector<uint8_t>{codes->begin(), codes->begin() + 4}),
            (std::vector<uint8_t>{1, 1, 2, 2}));
  EXPECT_EQ(w->quantization()->scale()->Get(0), 0.25F);
  const fb::Tensor* bias = made.operand(1, 2);
  EXPECT_EQ(bias->type(), 2);  // int32
  EXPECT_EQ(bias->quantization()->scale()->Get(0), 0.125F);
  const fb::Tensor* x = made.operand(0, 0);
  EXPECT_EQ(x->quantization()->zero_point()->Get(0), 5);
  EXPECT_EQ(x->type(), 9);  // int8
  EXPECT_EQ(made.shape(x), (std::vector<int>{1, 2, 4, 4}));
}

TEST(InterchangeTflite, PaddingThatIsNeitherSameNorValidIsAnOperator) {
  const Made made = make(conv("[2,0,0,2]", "1,1,4,4"));
  ASSERT_NE(made.model, nullptr);
  EXPECT_EQ(made.codes()[1], kPad);
  const auto* list = made.model->buffers()->Get(made.operand(1, 1)->buffer())->data();
  std::vector<int> pads;
  for (unsigned i = 0; i < list->size(); i += 4) pads.push_back(list->Get(i));
  EXPECT_EQ(pads, (std::vector<int>{0, 0, 2, 0, 0, 2, 0, 0}));
  const auto* options = made.graph->operators()->Get(2)->builtin_options_as_Conv2DOptions();
  EXPECT_EQ(options->padding(), 1);  // VALID
}

TEST(InterchangeTflite, MultiplierWithoutScaleIsRefused) {
  std::string text = conv("[1,1,1,1]", "1,1,4,4");
  // Zero points that differ from those of the tensors.
  text.replace(text.find("x_zp=5"), 6, "x_zp=6");
  const auto made = emitted(text);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(made.error().message.find("zero point of x"), std::string::npos)
      << made.error().message;
}

TEST(InterchangeTflite, BoundsWithoutAnActivationAreOperators) {
  const std::string text = R"(graph @g {
    input %a: i8[1,4] quant(0.5, 0)
    input %b: i8[1,4] quant(0.5, 0)
    %y: i8[1,4] quant(1, 0) = qadd(%a, %b) {a_zp=0, a_mult=1073741824, a_shift=0, b_zp=0,
        b_mult=1073741824, b_shift=0, y_zp=0, y_mult=1073741824, y_shift=-19, min=-7, max=9}
    output %y
  })";
  const Made made = make(text);
  ASSERT_NE(made.model, nullptr);
  EXPECT_EQ(made.codes(), (std::vector<int>{kAdd, kMaximum, kMinimum}));
  const auto* options = made.graph->operators()->Get(0)->builtin_options_as_AddOptions();
  EXPECT_FALSE(options->pot_scale_int16());
  const auto* low = made.model->buffers()->Get(made.operand(1, 1)->buffer())->data();
  EXPECT_EQ(static_cast<int8_t>(low->Get(0)), -7);
}

TEST(InterchangeTflite, ReluAndRelu6AreFused) {
  const auto with = [](const std::string& limits) {
    return make(R"(graph @g {
      input %a: i8[1,4] quant(0.5, 0)
      input %b: i8[1,4] quant(0.5, 0)
      %y: i8[1,4] quant(1, -20) = qadd(%a, %b) {a_zp=0, a_mult=1073741824, a_shift=0, b_zp=0,
          b_mult=1073741824, b_shift=0, y_zp=-20, y_mult=1073741824, y_shift=-19, )" +
                limits + R"(}
      output %y
    })");
  };
  const auto activation = [](const Made& made) {
    return static_cast<int>(made.graph->operators()
                                ->Get(0)
                                ->builtin_options_as_AddOptions()
                                ->fused_activation_function());
  };
  EXPECT_EQ(activation(with("min=-20, max=127")), 1);
  EXPECT_EQ(activation(with("min=-20, max=-14")), 3);
  EXPECT_EQ(activation(with("min=-21, max=-19")), 2);
  EXPECT_EQ(activation(with("min=-128, max=127")), 0);
}

TEST(InterchangeTflite, TableBecomesGather) {
  std::string table;
  for (int i = 0; i < 256; ++i) table += fmt::format("{:02x}", 255 - i);
  const Made made = make(R"(graph @g {
    input %x: i8[2,3] quant(0.5, 0)
    const %t: i8[256] = 0x)" +
                         table + R"(
    %y: i8[2,3] quant(0.25, 1) = lut(%x, %t)
    output %y
  })");
  ASSERT_NE(made.model, nullptr);
  EXPECT_EQ(made.codes(), (std::vector<int>{kCast, kAdd, kGather}));
  const auto* entries = made.model->buffers()->Get(made.operand(2, 0)->buffer())->data();
  ASSERT_EQ(entries->size(), 256U);
  EXPECT_EQ(entries->Get(0), 255);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(entries->data()) % 16,
            reinterpret_cast<uintptr_t>(made.bytes.data()) % 16);
}

TEST(InterchangeTflite, PadForZeroPointAndPadV2ForOtherValues) {
  const auto with = [](int value) {
    return make(fmt::format(R"(graph @g {{
      input %x: i8[2,3] quant(0.5, 7)
      %y: i8[2,5] quant(0.5, 7) = pad(%x) {{before=[0,1], after=[0,1], value={}}}
      output %y
    }})",
                            value));
  };
  EXPECT_EQ(with(7).codes(), (std::vector<int>{kPad}));
  EXPECT_EQ(with(0).codes(), (std::vector<int>{kPadV2}));
}

TEST(InterchangeTflite, UnsupportedOperatorsAreNamed) {
  const auto made = emitted(R"(graph @g {
    input %x: i8[1,4] quant(0.5, 0)
    %y: i8[1,4] quant(0.5, 0) = qlayer_norm(%x, _, _) {dims=1, eps=1, y_zp=0, mult=1073741824,
        shift=-10}
    output %y
  })");
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("qlayer_norm cannot be represented in LiteRT"),
            std::string::npos)
      << made.error().message;
}

/// 0.5 * 0.25 / 1 is 1/8. Half of that, as in attention, needs a scaling of one operand.
TEST(InterchangeTflite, MatmulFactorBecomesMulOperator) {
  const auto product = [](const std::string& shift) {
    return make(R"(graph @g {
    input %a: i8[1,2,3] quant(0.5, 5)
    input %b: i8[1,3,4] quant(0.25, 0)
    %y: i8[1,2,4] quant(1, -3) = qmatmul(%a, %b)
      {a_zp=5, b_zp=0, y_zp=-3, mult=1073741824, shift=)" +
                shift + R"(}
    output %y
  })");
  };
  constexpr int kMul = 18, kBatchMatMul = 126;
  const Made plain = product("-2");
  ASSERT_NE(plain.model, nullptr);
  EXPECT_EQ(plain.codes(), (std::vector<int>{kBatchMatMul}));
  const Made half = product("-3");
  ASSERT_NE(half.model, nullptr);
  ASSERT_EQ(half.codes(), (std::vector<int>{kMul, kBatchMatMul}));
  EXPECT_EQ(half.operand(0, 1)->quantization()->scale()->Get(0), 0.5F);
  EXPECT_EQ(half.model->buffers()->Get(half.operand(0, 1)->buffer())->data()->Get(0), 1);
  EXPECT_EQ(half.operand(1, 0)->quantization()->scale()->Get(0), 0.25F);
  EXPECT_EQ(half.operand(1, 0)->quantization()->zero_point()->Get(0), 5);
}

}  // namespace
}  // namespace thimble::interchange
