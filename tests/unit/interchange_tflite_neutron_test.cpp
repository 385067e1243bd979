// SPDX-License-Identifier: Apache-2.0
// Contents of a .tflite for the converter of NXP's SDK.

#include <set>

#include "engines/neutron/compiler/vendor/vendor_compile.h"
#include "function_tables.h"
#include "interchange_tflite_result.h"

namespace thimble::interchange {
namespace {

using Kind = Function::Kind;

constexpr int kConv = 3, kFullyConnected = 9, kPad = 34, kGather = 36, kMaximum = 55, kMinimum = 57,
              kResizeBilinear = 23, kSum = 74, kResizeNearest = 97, kMirrorPad = 100, kPrelu = 54,
              kQuantize = 114;

Made for_neutron(const std::string& text) {
  return make(text, engine::neutron::kConverterProfile);
}

std::vector<int> codes_of(const Function& f, const test::Codes& codes) {
  const auto table = test::table_of(codes, test::formula_of(f), false);
  const auto bytes =
      to_tflite(test::graph_of_table(codes, table), engine::neutron::kConverterProfile);
  EXPECT_TRUE(bytes.ok());
  const fb::Model* model = fb::GetModel(bytes->data());
  Made made{{}, model, model->subgraphs()->Get(0)};
  return made.codes();
}

TEST(InterchangeTfliteNeutron, FunctionsAreOperators) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const test::Codes codes{ir::per_tensor(0.0625, 3), ir::per_tensor(0.0390625, -90)};
  const std::pair<Function, std::vector<int>> cases[] = {
      {{Kind::kAbs, 0, 0, 0}, {101}},
      {{Kind::kClamp, 0, 0, kInfinity}, {19}},
      {{Kind::kClamp, 0, 0, 6}, {21}},
      {{Kind::kClamp, 0, 0, 1}, {152}},
      {{Kind::kClamp, 0, -1, 1}, {20}},
      {{Kind::kClamp, 0, -0.5, 2}, {kQuantize, kMaximum, kMinimum}},
      {{Kind::kClamp, 0, -0.5, kInfinity}, {kQuantize, kMaximum}},
      {{Kind::kExp, 0, 0, 0}, {47}},
      {{Kind::kHardSwish, 0, 0, 0}, {117}},
      {{Kind::kLeakyRelu, 0.25, 0, 0}, {98}},
      {{Kind::kLog, 0, 0, 0}, {73}},
      {{Kind::kNeg, 0, 0, 0}, {41}},
      {{Kind::kRescale, 0, 0, 0}, {kQuantize}},
      {{Kind::kRsqrt, 0, 0, 0}, {76}},
  };
  for (const auto& [f, wanted] : cases) {
    EXPECT_EQ(codes_of(f, codes), wanted) << static_cast<int>(f.kind);
  }
  const test::Codes same{codes.x, codes.x};
  EXPECT_EQ(codes_of({Kind::kClamp, 0, -0.5, 2}, same), (std::vector<int>{kMaximum, kMinimum}));
}

/// LiteRT fixes the scale of their results; for another scale a QUANTIZE follows.
TEST(InterchangeTfliteNeutron, LogisticAndTanhHaveTheirOwnScale) {
  const test::Codes wide{ir::per_tensor(0.0625, 3), ir::per_tensor(0.0078125, -100)};
  const test::Codes fixed{wide.x, ir::per_tensor(0x1p-8, -128)};
  const test::Codes fixed_tanh{wide.x, ir::per_tensor(0x1p-7, 0)};
  EXPECT_EQ(codes_of({Kind::kLogistic, 0, 0, 0}, fixed), (std::vector<int>{14}));
  EXPECT_EQ(codes_of({Kind::kLogistic, 0, 0, 0}, wide), (std::vector<int>{14, kQuantize}));
  EXPECT_EQ(codes_of({Kind::kTanh, 0, 0, 0}, fixed_tanh), (std::vector<int>{28}));
  EXPECT_EQ(codes_of({Kind::kTanh, 0, 0, 0}, wide), (std::vector<int>{28, kQuantize}));
}

/// A table that is no known function becomes a gather.
TEST(InterchangeTfliteNeutron, UnknownTablesBecomeGather) {
  const test::Codes codes{ir::per_tensor(0.0625, 3), ir::per_tensor(0.0390625, -90)};
  const auto table = test::table_of(
      codes, [](double x) { return x * x; }, false);
  const auto bytes =
      to_tflite(test::graph_of_table(codes, table), engine::neutron::kConverterProfile);
  ASSERT_TRUE(bytes.ok());
  const fb::Model* model = fb::GetModel(bytes->data());
  const Made made{{}, model, model->subgraphs()->Get(0)};
  EXPECT_EQ(made.codes().back(), kGather);
}

const char* const kPaddedConv = R"(graph @g {
    input %x: i8[1,4,4,2] quant(0.5, 5)
    const %w: i8[1,2,3,3] quant(0.25, 0) = 0x010203040506070809010203040506070809
    const %m: i32[1] = 0x00000040
    const %s: i32[1] = 0xfeffffff
    %p: i8[1,2,4,4] quant(0.5, 5) = permute(%x) {dims=[0,3,1,2]}
    %y: i8[1,1,4,4] quant(1, -3) = qconv2d(%p, %w, _, %m, %s) {stride=[1,1], padding=[1,1,1,1],
      dilation=[1,1], x_zp=5, y_zp=-3, min=-128, max=127}
    output %y
  })";

TEST(InterchangeTfliteNeutron, PaddingIsNeverSame) {
  const Made made = for_neutron(kPaddedConv);
  ASSERT_NE(made.model, nullptr);
  ASSERT_EQ(made.codes()[0], kPad);
  ASSERT_EQ(made.codes()[1], kConv);
  const auto* options = made.graph->operators()->Get(1)->builtin_options_as_Conv2DOptions();
  EXPECT_EQ(options->padding(), 1);  // VALID
}

TEST(InterchangeTfliteNeutron, NoTwoTensorsHaveOneName) {
  const Made made = for_neutron(kPaddedConv);
  ASSERT_NE(made.model, nullptr);
  std::set<std::string> names;
  for (const auto* tensor : *made.graph->tensors()) {
    EXPECT_TRUE(names.insert(tensor->name()->str()).second) << tensor->name()->str();
  }
  const auto tensor = [&](int at) {
    return made.graph->tensors()->Get(static_cast<unsigned>(at))->name()->str();
  };
  EXPECT_EQ(tensor(made.graph->inputs()->Get(0)), "x");
  EXPECT_EQ(tensor(made.graph->outputs()->Get(0)), "y");
}

TEST(InterchangeTfliteNeutron, FullyConnectedKeepsDimensions) {
  const Made made = for_neutron(R"(graph @g {
    input %x: i8[2,3,4] quant(0.5, 5)
    const %w: i8[2,4] quant(0.25, 0) = 0x0102030405060708
    const %m: i32[1] = 0x00000040
    const %s: i32[1] = 0xfeffffff
    %y: i8[2,3,2] quant(1, -3) = qlinear(%x, %w, _, %m, %s) {x_zp=5, y_zp=-3, min=-128, max=127,
      rounding=1}
    output %y
  })");
  ASSERT_NE(made.model, nullptr);
  EXPECT_EQ(made.codes(), (std::vector<int>{kFullyConnected}));
  EXPECT_TRUE(
      made.graph->operators()->Get(0)->builtin_options_as_FullyConnectedOptions()->keep_num_dims());
}

std::vector<int> numbers(const Made& made, unsigned op, unsigned operand) {
  const auto* data = made.model->buffers()->Get(made.operand(op, operand)->buffer())->data();
  std::vector<int> all;
  for (unsigned i = 0; i < data->size(); i += 4) all.push_back(data->Get(i));
  return all;
}

std::string gathers(const std::string& columns, const std::string& rows, const std::string& more) {
  return R"(graph @g {
    input %x: i8[1,1,3,2] quant(0.5, 5)
    const %c: i64[)" +
         columns + R"(
    const %r: i64[)" +
         rows + R"(
    %w: i8[1,1,3,4] quant(0.5, 5) = gather(%x, %c) {dim=3}
    %y: i8[1,1,)" +
         more + R"(,4] quant(0.5, 5) = gather(%w, %r) {dim=2}
    output %y
  })";
}

std::string positions(const std::vector<int>& list) {
  std::string text = fmt::format("{}] = 0x", list.size());
  for (const int at : list) text += fmt::format("{:02x}00000000000000", at);
  return text;
}

TEST(InterchangeTfliteNeutron, GathersOfBothSidesBecomeOneResize) {
  const Made made =
      for_neutron(gathers(positions({0, 0, 1, 1}), positions({0, 0, 1, 1, 2, 2}), "6"));
  ASSERT_NE(made.model, nullptr);
  const std::vector<int> all = made.codes();
  EXPECT_EQ(std::ranges::count(all, kResizeNearest), 1);
  EXPECT_EQ(std::ranges::count(all, kGather), 0);
  const auto at = static_cast<unsigned>(std::ranges::find(all, kResizeNearest) - all.begin());
  EXPECT_EQ(numbers(made, at, 1), (std::vector<int>{6, 4}));
}

TEST(InterchangeTfliteNeutron, ReflectionsAreOneMirrorPad) {
  const Made made =
      for_neutron(gathers(positions({1, 0, 1, 0}), positions({2, 1, 0, 1, 2, 1}), "6"));
  ASSERT_NE(made.model, nullptr);
  EXPECT_EQ(made.codes(), (std::vector<int>{kMirrorPad}));
  EXPECT_EQ(numbers(made, 0, 1), (std::vector<int>{0, 0, 0, 0, 2, 1, 1, 1}));
}

/// Gathers with another reader between them, or of two kinds, stay two operators.
TEST(InterchangeTfliteNeutron, OtherGathersAreNotMerged) {
  const Made both = for_neutron(gathers(positions({0, 0, 1, 1}), positions({1, 0, 1, 2}), "4"));
  ASSERT_NE(both.model, nullptr);
  const std::vector<int> all = both.codes();
  EXPECT_EQ(std::ranges::count(all, kResizeNearest), 1);
  EXPECT_EQ(std::ranges::count(all, kMirrorPad), 1);
  std::string text = gathers(positions({0, 0, 1, 1}), positions({0, 0, 1, 1, 2, 2}), "6");
  text.insert(text.find("output"), "output %w\n    ");
  const Made read = for_neutron(text);
  ASSERT_NE(read.model, nullptr);
  const std::vector<int> twice = read.codes();
  EXPECT_EQ(std::ranges::count(twice, kResizeNearest), 2);
}

TEST(InterchangeTfliteNeutron, BilinearHasCornerOption) {
  const std::string text = R"(graph @g {
    input %x: i8[1,1,2,1] quant(0.5, 5)
    const %hl: i32[4] = 0x00000000000000000000000001000000
    const %hw: i32[4] = 0x00000000000200000006000000020000
    const %wl: i32[1] = 0x00000000
    const %ww: i32[1] = 0x00000000
    %y: i8[1,1,4,1] quant(0.5, 5) = qresize_bilinear(%x, %hl, %hw, %wl, %ww)
    output %y
  })";
  const Made made = for_neutron(text);
  ASSERT_NE(made.model, nullptr);
  const std::vector<int> all = made.codes();
  const auto at = static_cast<unsigned>(std::ranges::find(all, kResizeBilinear) - all.begin());
  ASSERT_LT(at, all.size());
  const auto* options =
      made.graph->operators()->Get(at)->builtin_options_as_ResizeBilinearOptions();
  EXPECT_TRUE(options->half_pixel_centers());
  EXPECT_FALSE(options->align_corners());
  EXPECT_FALSE(emitted(text).ok());
}

TEST(InterchangeTfliteNeutron, PreluAndSum) {
  const Made prelu = for_neutron(R"(graph @g {
    input %x: i8[1,2] quant(0.5, 5)
    const %w: i8[2] quant(0.25, 0) = 0x0102
    %y: i8[1,2] quant(0.5, 5) = qprelu(%x, %w) {x_zp=5, w_zp=0, y_zp=5, mult=1073741824, shift=1,
      w_mult=1073741824, w_shift=-1}
    output %y
  })");
  ASSERT_NE(prelu.model, nullptr);
  EXPECT_EQ(prelu.codes(), (std::vector<int>{kPrelu}));
  const Made sum = for_neutron(R"(graph @g {
    input %x: i8[1,4] quant(0.5, 5)
    %y: i8[1,1] quant(1, 3) = qmean(%x) {dims=[1], keepdim=1, x_zp=5, y_zp=3, mult=1073741824,
      shift=0}
    output %y
  })");
  ASSERT_NE(sum.model, nullptr);
  const std::vector<int> all = sum.codes();
  EXPECT_EQ(std::ranges::count(all, kSum), 1);
}

}  // namespace
}  // namespace thimble::interchange
