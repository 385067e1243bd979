// SPDX-License-Identifier: Apache-2.0
// Passes that remove channels and reorder pools in the integer graph, and merge_linear. The outputs
// of the integer passes must have the same bits.

#include <map>

#include "passes/merge_linear.h"
#include "passes/pool_before_table.h"
#include "passes/remove_channels.h"
#include "passes_support.h"

namespace thimble::test {
namespace {

using ir::OpKind;
using ir::ValueId;

/// Builds an integer network layer by layer. Some channels get no effect by `Fault`.
class Net {
 public:
  explicit Net(uint64_t seed) : random(seed) {}

  ValueId input(const ir::Shape& shape) {
    return graph.add_input("x", {ir::DType::kI8, shape, {}, ir::per_tensor(0.1, -3)});
  }

  ValueId conv(ValueId x, int64_t outputs, int64_t kernel, int64_t pad, bool depthwise = false) {
    const int64_t inputs = shape(x)[1];
    const ir::Shape w{outputs, depthwise ? 1 : inputs, kernel, kernel};
    ir::Attrs attrs{{ir::attr::stride, {1, 1}},
                    {ir::attr::padding, {pad, pad, pad, pad}},
                    {ir::attr::dilation, {1, 1}},
                    {ir::attr::groups, depthwise ? inputs : 1}};
    return weighted(OpKind::qconv2d, x, w, std::move(attrs));
  }

  ValueId linear(ValueId x, int64_t outputs) {
    return weighted(OpKind::qlinear, x, {outputs, shape(x).back()}, {});
  }

  ValueId add_op(OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs) {
    const auto added = graph.add(kind, std::move(inputs), std::move(attrs), {},
                                 {"", {}, ir::per_tensor(0.1, -128)});
    EXPECT_TRUE(added.ok()) << (added.ok() ? "" : added.error().message);
    return added.ok() ? *added : ir::kNoValue;
  }

  ValueId add(ValueId a, ValueId b) {
    return add_op(OpKind::qadd, {a, b},
                  {{ir::attr::a_zp, -128},
                   {ir::attr::a_mult, 1 << 30},
                   {ir::attr::a_shift, 0},
                   {ir::attr::b_zp, -128},
                   {ir::attr::b_mult, 1 << 30},
                   {ir::attr::b_shift, 1},
                   {ir::attr::y_zp, -128},
                   {ir::attr::y_mult, 1 << 30},
                   {ir::attr::y_shift, -18},
                   {ir::attr::min, -128},
                   {ir::attr::max, 127}});
  }

  ValueId mul(ValueId a, ValueId b) {
    return add_op(OpKind::qmul, {a, b},
                  {{ir::attr::a_zp, -128},
                   {ir::attr::b_zp, -128},
                   {ir::attr::y_zp, -128},
                   {ir::attr::mult, 1 << 30},
                   {ir::attr::shift, -7},
                   {ir::attr::min, -128},
                   {ir::attr::max, 127}});
  }

  ValueId mean(ValueId x, bool keep) {
    return add_op(OpKind::qmean, {x},
                  {{ir::attr::dims, {2, 3}},
                   {ir::attr::keepdim, keep ? 1 : 0},
                   {ir::attr::x_zp, -128},
                   {ir::attr::y_zp, -128},
                   {ir::attr::mult, 1 << 30},
                   {ir::attr::shift, -3}});
  }

  ValueId table(ValueId x, bool sorted) {
    ir::Tensor values = ir::zeros(ir::DType::kI8, {256});
    for (int8_t& value : values.data<int8_t>())
      value = static_cast<int8_t>(random.between(-128, 127));
    if (sorted) std::ranges::sort(values.data<int8_t>());
    return add_op(OpKind::lut, {x, constant(std::move(values))}, {});
  }

  ValueId max_pool(ValueId x) {
    return add_op(OpKind::max_pool2d, {x},
                  {{ir::attr::kernel, {2, 2}},
                   {ir::attr::stride, {2, 2}},
                   {ir::attr::padding, {0, 0, 0, 0}},
                   {ir::attr::dilation, {1, 1}}});
  }

  ValueId flatten(ValueId x) {
    return add_op(OpKind::reshape, {x}, {{ir::attr::shape, {1, ir::element_count(shape(x))}}});
  }

  [[nodiscard]] const ir::Shape& shape(ValueId id) const { return graph.type(id).shape; }

  ir::Graph graph;
  Random random;

 private:
  ValueId constant(ir::Tensor tensor) {
    return graph.add_constant("c", std::make_shared<const ir::Tensor>(std::move(tensor)));
  }

  ValueId weighted(OpKind kind, ValueId x, const ir::Shape& shape_w, ir::Attrs attrs) {
    const int64_t outputs = shape_w[0], inputs = shape_w[1];
    const int64_t taps = ir::element_count(shape_w) / (outputs * inputs);
    ir::Tensor w = ir::zeros(ir::DType::kI8, shape_w);
    ir::Tensor b = ir::zeros(ir::DType::kI32, {outputs});
    ir::Tensor mult = ir::zeros(ir::DType::kI32, {outputs});
    ir::Tensor shift = ir::zeros(ir::DType::kI32, {outputs});
    for (int8_t& value : w.data<int8_t>()) value = static_cast<int8_t>(random.between(-60, 60));
    for (int64_t o = 0; o < outputs; ++o) {
      const auto at = static_cast<size_t>(o);
      b.data<int32_t>()[at] = static_cast<int32_t>(random.between(-2000, 2000));
      mult.data<int32_t>()[at] = static_cast<int32_t>(random.between(1 << 30, INT32_MAX));
      shift.data<int32_t>()[at] = static_cast<int32_t>(random.between(-9, -6));
    }
    const auto row = static_cast<size_t>(inputs * taps);
    for (int64_t o = 0; o < outputs; ++o) {
      const auto at = static_cast<size_t>(o);
      const int64_t fault = random.between(0, 5);
      if (fault == 0) b.data<int32_t>()[at] = -100'000'000;  // always the lower bound
      if (fault == 1) {                                      // a constant between the bounds
        std::fill_n(w.data<int8_t>().begin() + static_cast<std::ptrdiff_t>(at * row), row,
                    int8_t{0});
      }
      if (fault == 2 && o > 0) {  // equal to channel 0
        for (size_t i = 0; i < row; ++i) w.data<int8_t>()[at * row + i] = w.data<int8_t>()[i];
        b.data<int32_t>()[at] = b.data<int32_t>()[0];
        mult.data<int32_t>()[at] = mult.data<int32_t>()[0];
        shift.data<int32_t>()[at] = shift.data<int32_t>()[0];
      }
    }
    const bool mixes = kind == OpKind::qlinear || attrs.find(ir::attr::groups) == nullptr ||
                       *attrs.find(ir::attr::groups) == 1;
    for (int64_t i = 0; mixes && i < inputs; ++i) {
      if (random.between(0, 4) != 0) continue;  // no output reads channel i
      for (int64_t o = 0; o < outputs; ++o) {
        std::fill_n(w.data<int8_t>().begin() + (o * inputs + i) * taps, taps, int8_t{0});
      }
    }
    attrs.set(ir::attr::x_zp, graph.type(x).quant->zero_point[0]);
    attrs.set(ir::attr::y_zp, -128);
    attrs.set(ir::attr::min, -128);
    attrs.set(ir::attr::max, 127);
    return add_op(kind,
                  {x, constant(std::move(w)), constant(std::move(b)), constant(std::move(mult)),
                   constant(std::move(shift))},
                  std::move(attrs));
  }
};

/// Number of weights of all operators.
int64_t weights(const ir::Graph& graph) {
  int64_t count = 0;
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const ir::Value& value = graph.value(static_cast<ValueId>(i));
    if (value.constant && value.type.shape.size() > 1) count += value.type.elements();
  }
  return count;
}

/// Runs the pass. The result must have the same bits for several inputs.
ir::Graph run_exact(Result<ir::Graph> (*pass)(const ir::Graph&), const ir::Graph& before) {
  const auto after = pass(before);
  EXPECT_TRUE(after.ok()) << (after.ok() ? "" : after.error().message);
  if (!after) return {};
  ir::Graph result = ir::remove_unused(*after);
  EXPECT_TRUE(ir::verify(result).ok());
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const auto inputs = random_inputs(before, seed);
    EXPECT_EQ(*eval::evaluate(before, inputs), *eval::evaluate(result, inputs));
  }
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    EXPECT_EQ(before.type(before.outputs()[i]), result.type(result.outputs()[i]));
  }
  return result;
}

/// A network with every kind of operator that follows the channels.
Net random_net(uint64_t seed) {
  Net net(seed);
  ValueId x = net.input({1, 3, 6, 6});
  x = net.conv(x, net.random.between(1, 3) * 4, 3, 1);
  const int64_t layers = net.random.between(2, 7);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const int64_t channels = net.shape(x)[1];
    switch (net.random.between(0, 7)) {
      case 0:
        x = net.conv(x, channels, 3, net.random.between(0, 1), true);
        break;
      case 1:
        x = net.add(x, net.conv(x, channels, 1, 0));
        break;
      case 2:
        x = net.table(x, false);
        break;
      case 3:  // squeeze and excite
        x = net.mul(x, net.conv(net.conv(net.mean(x, true), 4, 1, 0), channels, 1, 0));
        break;
      case 4:
        x = net.add_op(OpKind::permute, {x}, {{ir::attr::dims, {0, 1, 3, 2}}});
        break;
      default:
        x = net.conv(x, net.random.between(3, 12), 1, 0);
        break;
    }
    if (net.shape(x)[2] < 3) break;
  }
  x = net.random.between(0, 1) == 0 ? net.mean(x, false) : net.flatten(net.max_pool(x));
  x = net.linear(x, net.random.between(2, 9));
  net.graph.add_output(net.linear(x, 5));
  return net;
}

TEST(RemoveChannels, RandomNetworksKeepTheirBits) {
  int64_t before = 0, after = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Net net = random_net(seed);
    const ir::Graph result = run_exact(passes::remove_channels, net.graph);
    before += weights(net.graph);
    after += weights(result);
    EXPECT_EQ(ir::print(*passes::remove_channels(result)), ir::print(result));
  }
  EXPECT_LT(after, before * 2 / 3);
}

TEST(RemoveChannels, OutputsKeepTheirChannels) {
  Net net(1);
  const ValueId x = net.conv(net.input({1, 3, 4, 4}), 8, 3, 1);
  net.graph.add_output(x);
  net.graph.add_output(net.conv(x, 4, 1, 0));
  const ir::Graph result = run_exact(passes::remove_channels, net.graph);
  EXPECT_EQ(weights(result), weights(net.graph));
}

/// A 1x1 convolution with two channels (weights and int32 biases as hexadecimal bytes) that has a
/// ReLU, and a 3x3 convolution that reads them.
std::string two_layers(const std::string& weights, const std::string& bias,
                       const std::string& padding, const std::string& result) {
  return R"(graph @forward {
    input %x: i8[1,1,3,3] quant(1, 0)
    const %w: i8[2,1,1,1] = 0x)" +
         weights + "\n const %b: i32[2] = 0x" + bias + R"(
    const %m: i32[1] = 0x00000040
    const %s: i32[1] = 0x01000000
    %y: i8[1,2,3,3] quant(1, 0) = qconv2d(%x, %w, %b, %m, %s)
        {stride=[1,1], padding=[0,0,0,0], dilation=[1,1], x_zp=0, y_zp=0, min=0, max=127}
    const %v: i8[1,2,3,3] = 0x010101010101010101020202020202020202
    %z: i8)" +
         result + R"( quant(1, 0) = qconv2d(%y, %v, _, %m, %s)
        {stride=[1,1], padding=)" +
         padding + R"(, dilation=[1,1], x_zp=0, y_zp=0, min=-128, max=127}
    output %z
  })";
}
constexpr const char* kBias64 = "0000000040000000";     // 0, 64
constexpr const char* kBiasBelow = "0000000018fcffff";  // 0, -1000
constexpr const char* kNoPadding = "[0,0,0,0]";
constexpr const char* kPadding = "[1,1,1,1]";

TEST(RemoveChannels, ChannelsThatDifferStay) {
  const std::string text = two_layers("0102", kBias64, kNoPadding, "[1,1,1,1]");
  EXPECT_EQ(weights(run_exact(passes::remove_channels, parsed(text))), 2 + 18);
}

TEST(RemoveChannels, EqualChannelsAreMerged) {
  const std::string text = two_layers("0303", "0500000005000000", kPadding, "[1,1,3,3]");
  const ir::Graph result = run_exact(passes::remove_channels, parsed(text));
  EXPECT_EQ(weights(result), 1 + 9);
  EXPECT_EQ(result.value(result.ops()[1].inputs[1]).constant->data<int8_t>()[0], 1 + 2);
}

TEST(RemoveChannels, ConstantBecomesBiasOnlyWithoutPadding) {
  // Channel 1 is the constant 64. With padding, its sum depends on the position.
  const ir::Graph folded = run_exact(passes::remove_channels,
                                     parsed(two_layers("0100", kBias64, kNoPadding, "[1,1,1,1]")));
  EXPECT_EQ(weights(folded), 1 + 9);
  ASSERT_NE(folded.ops()[1].inputs[2], ir::kNoValue);
  EXPECT_EQ(folded.value(folded.ops()[1].inputs[2]).constant->data<int32_t>()[0], 64 * 2 * 9);
  const ir::Graph padded = run_exact(passes::remove_channels,
                                     parsed(two_layers("0100", kBias64, kPadding, "[1,1,3,3]")));
  EXPECT_EQ(weights(padded), 2 + 18);
}

TEST(RemoveChannels, ZeroPointNeedsNoBias) {
  // Channel 1 is always at the lower bound of its ReLU, which is the zero point.
  const ir::Graph result = run_exact(passes::remove_channels,
                                     parsed(two_layers("0100", kBiasBelow, kPadding, "[1,1,3,3]")));
  EXPECT_EQ(weights(result), 1 + 9);
  EXPECT_EQ(result.ops()[1].inputs[2], ir::kNoValue);
}

TEST(PoolBeforeTable, OnlyTablesThatDoNotDecreaseMove) {
  for (const bool sorted : {true, false}) {
    Net net(7);
    net.graph.add_output(net.max_pool(net.table(net.input({1, 2, 4, 4}), sorted)));
    const ir::Graph result = run_exact(passes::pool_before_table, net.graph);
    EXPECT_EQ(op_names(result), sorted ? "max_pool2d lut" : "lut max_pool2d");
  }
}

TEST(PoolBeforeTable, TableWithAnotherReaderStays) {
  Net net(7);
  const ValueId x = net.table(net.input({1, 2, 4, 4}), true);
  net.graph.add_output(net.max_pool(x));
  net.graph.add_output(x);
  EXPECT_EQ(op_names(run_exact(passes::pool_before_table, net.graph)), "lut max_pool2d");
}

/// Text of a constant with `count` small floats.
std::string floats(const std::string& name, const std::string& shape, int count, int seed) {
  std::string text = "const %" + name + ": f32" + shape + " = 0x";
  for (int i = 0; i < count; ++i) {
    text += (i + seed) % 3 == 0 ? "0000803f" : (i + seed) % 3 == 1 ? "000000bf" : "0000803e";
  }
  return text + "\n";
}

TEST(MergeLinear, SmallProductsAreMerged) {
  const std::string layers = "graph @f { input %x: f32[2,3]\n" + floats("w", "[6,3]", 18, 0) +
                             floats("b", "[6]", 6, 1) + floats("v", "[2,6]", 12, 2) + R"(
    %y: f32[2,6] = linear(%x, %w, %b)
    %z: f32[2,2] = linear(%y, %v, _)
    output %z })";
  EXPECT_EQ(op_names(run_pass(passes::merge_linear, layers)), "linear");
}

TEST(MergeLinear, FactorizedLayersStay) {
  const std::string layers = "graph @f { input %x: f32[2,6]\n" + floats("w", "[1,6]", 6, 0) +
                             floats("v", "[6,1]", 6, 2) + R"(
    %y: f32[2,1] = linear(%x, %w, _)
    %z: f32[2,6] = linear(%y, %v, _)
    output %z })";
  EXPECT_EQ(op_names(run_pass(passes::merge_linear, layers)), "linear linear");
}

TEST(MergeLinear, ConvolutionsAreMergedWithPointwiseOnes) {
  const std::string first = "graph @f { input %x: f32[1,2,5,5]\n" +
                            floats("w", "[8,2,3,3]", 144, 0) + floats("b", "[8]", 8, 1) +
                            floats("v", "[2,8,1,1]", 16, 2) + floats("c", "[2]", 2, 0) + R"(
    %y: f32[1,8,5,5] = conv2d(%x, %w, %b) {stride=[1,1], padding=[1,1,1,1], dilation=[1,1]})";
  EXPECT_EQ(op_names(run_pass(passes::merge_linear, first + R"(
    %z: f32[1,2,5,5] = conv2d(%y, %v, %c) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}
    output %z })")),
            "conv2d");
  EXPECT_EQ(op_names(run_pass(passes::merge_linear, first + R"(
    %z: f32[1,2,7,7] = conv2d(%y, %v, %c) {stride=[1,1], padding=[1,1,1,1], dilation=[1,1]}
    output %z })")),
            "conv2d conv2d");
}

}  // namespace
}  // namespace thimble::test
