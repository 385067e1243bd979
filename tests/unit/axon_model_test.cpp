// SPDX-License-Identifier: Apache-2.0
// Every operation of a layer list, compared with independent formulas on random shapes and values.
// Operands are inputs, constants, variables, and results of other layers with gaps between their
// rows.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "axon_reference.h"
#include "engines/axon/model/arithmetic.h"

namespace thimble::axon_test {
namespace {

using axon::Activation;
using axon::Axis;

/// A random list and its inputs.
class RandomList {
 public:
  explicit RandomList(uint32_t seed) : random_(seed) {}

  List list;
  std::vector<Tensor> input_tensors;

  uint32_t pick(uint32_t from, uint32_t to) {
    return from + static_cast<uint32_t>(random_() % (to - from + 1));
  }
  int32_t pick_signed(int32_t from, int32_t to) {
    return from + static_cast<int32_t>(random_() % static_cast<uint32_t>(to - from + 1));
  }

  Shape shape() { return {pick(1, 2), pick(1, 5), pick(1, 6), pick(1, 7)}; }

  Tensor tensor(const Shape& shape, uint32_t element_bytes, int32_t zero_point) {
    Tensor tensor = {shape, element_bytes, zero_point, {}};
    const int32_t most = element_bytes == 1 ? 127 : element_bytes == 2 ? 32767 : 0x7FFFFFFF;
    std::uniform_int_distribution<int32_t> value(-most - 1, most);
    for (uint32_t i = 0; i < shape.elements(); ++i) tensor.values.push_back(value(random_));
    return tensor;
  }
  int32_t zero_point(uint32_t element_bytes) {
    return element_bytes == 1 ? pick_signed(-128, 127) : 0;
  }
  std::vector<int8_t> weights(size_t count) {
    std::vector<int8_t> weights(count);
    for (int8_t& weight : weights) weight = static_cast<int8_t>(pick_signed(-128, 127));
    return weights;
  }
  std::vector<int32_t> biases(size_t count) {
    if (pick(0, 3) == 0) return {};
    std::vector<int32_t> biases(count);
    for (int32_t& bias : biases) bias = pick_signed(-20000, 20000);
    return biases;
  }

  /// Places a tensor at random as a constant, a variable, an input or an interlayer value.
  Operand place(const Tensor& tensor) {
    const uint32_t where = pick(0, 3);
    if (where == 0) return list.constant(tensor);
    if (where == 1 && tensor.element_bytes <= 2) {
      input_tensors.push_back(tensor);
      return list.variable(tensor.shape, tensor.element_bytes, tensor.zero_point);
    }
    input_tensors.push_back(tensor);
    const Operand external = list.external(tensor.shape, tensor.element_bytes, tensor.zero_point);
    if (where == 2) return external;
    const Operand copied =
        list.interlayer(tensor.shape, tensor.element_bytes, tensor.zero_point, 4 * pick(0, 2));
    list.layer(Operation::kReshape, {external}, copied);
    return list.last();
  }

  Operand result(const Tensor& out) {
    return list.interlayer(out.shape, out.element_bytes, out.zero_point, 4 * pick(0, 2));
  }

  /// `magnitude`: approximate size of the sums. One in three scales is small, so that ties occur.
  Scaling scaling(uint32_t channels, double magnitude, const Tensor& out, bool may_leak) {
    Scaling scaling;
    scaling.leaky = may_leak && pick(0, 2) == 0;
    scaling.relu = !scaling.leaky && pick(0, 1) == 0;
    const uint32_t scales = pick(0, 1) == 0 ? 1 : channels;
    const bool ties = pick(0, 2) == 0;
    for (uint32_t i = 0; i < scales; ++i) {
      uint32_t shift = ties ? pick(0, 3) : pick(8, 30);
      while ((std::abs(int64_t{out.zero_point}) << shift) >> 31 != 0) --shift;
      scaling.shifts.push_back(static_cast<uint8_t>(shift));
      for (int which = 0; which < (scaling.leaky ? 2 : 1); ++which) {
        const double wanted =
            std::ldexp(out.element_bytes == 1 ? 128.0 : 32768.0, static_cast<int>(shift)) /
            magnitude * pick(1, 40) / 20;
        const double most = 2147483647.0;
        scaling.multipliers.push_back(ties ? pick_signed(-3, 3)
                                           : static_cast<int32_t>(std::min(wanted, most)));
      }
    }
    return scaling;
  }

  void use(LayerRecord& layer, const Scaling& scaling) {
    scale(list, layer, scaling.multipliers, scaling.shifts);
    layer.activation = scaling.relu    ? Activation::kRelu
                       : scaling.leaky ? Activation::kLeakyRelu
                                       : Activation::kNone;
  }

  /// Runs the list and compares the last layer's result with `expected`.
  void expect(const Tensor& expected, const char* what) {
    list.output(list.layers.back().output);
    const std::vector<uint8_t> bytes = list.build();
    ASSERT_EQ(check_bytes(bytes), axon::Status::kOk)
        << what << ": " << axon::status_text(check_bytes(bytes));
    EXPECT_EQ(execute(bytes, input_tensors).back().values, expected.values) << what;
  }

 private:
  std::mt19937 random_;
};

constexpr uint32_t kRandomLists = 150;

void for_random_lists(const char* what, const std::function<void(RandomList&)>& each) {
  for (uint32_t seed = 0; seed < kRandomLists; ++seed) {
    SCOPED_TRACE(testing::Message() << what << ", seed " << seed);
    RandomList world(seed);
    each(world);
    if (testing::Test::HasFailure()) return;
  }
}

uint32_t some_width(RandomList& world) {
  return 1U << world.pick(0, 2);
}
std::vector<uint8_t> as_bytes(const std::vector<int8_t>& weights) {
  return {weights.begin(), weights.end()};
}

void give_constants(RandomList& world, LayerRecord& layer, const std::vector<int8_t>& weights,
                    const std::vector<int32_t>& bias) {
  layer.weights = world.list.bytes(as_bytes(weights));
  layer.weight_bytes = static_cast<uint32_t>(weights.size());
  if (!bias.empty()) layer.bias = world.list.ints(bias);
}

TEST(AxonModel, FullyConnected) {
  for_random_lists("FC", [](RandomList& world) {
    const Tensor in = world.tensor(world.shape(), 1, world.zero_point(1));
    const uint32_t width = some_width(world);
    Tensor out = {{in.shape.n, world.pick(1, 3), world.pick(1, 2), world.pick(1, 9)},
                  width,
                  world.zero_point(width),
                  {}};
    const uint32_t ins = in.shape.elements() / in.shape.n;
    const uint32_t outs = out.shape.elements() / out.shape.n;
    const auto weights = world.weights(size_t{ins} * outs);
    const auto bias = world.biases(outs);
    const Scaling scaling = world.scaling(outs, 7000 * std::sqrt(ins) + 10000, out, true);
    LayerRecord& layer =
        world.list.layer(Operation::kFullyConnected, {world.place(in)}, world.result(out));
    give_constants(world, layer, weights, bias);
    world.use(layer, scaling);
    reference_fc(in, weights, bias, scaling, out);
    world.expect(out, "FC");
  });
}

Window random_window(RandomList& world, const Shape& in, bool padded, bool dilated) {
  Window window;
  window.kernel_h = world.pick(1, 3);
  window.kernel_w = world.pick(1, 4);
  window.stride_y = world.pick(1, 3);
  window.stride_x = world.pick(1, 2);
  if (dilated) window.dilation_y = world.pick(1, 2), window.dilation_x = world.pick(1, 3);
  if (padded) {
    window.top = world.pick(0, window.kernel_h - 1);
    window.bottom = world.pick(0, window.kernel_h - 1);
    window.left = world.pick(0, window.kernel_w - 1);
    window.right = world.pick(0, window.kernel_w - 1);
  }
  const auto fit = [](uint32_t& kernel, uint32_t dilation, uint32_t room) {
    while (dilation * (kernel - 1) + 1 > room) --kernel;
  };
  fit(window.kernel_h, window.dilation_y, in.h);
  fit(window.kernel_w, window.dilation_x, in.w);
  window.top = std::min(window.top, window.kernel_h - 1);
  window.bottom = std::min(window.bottom, window.kernel_h - 1);
  window.left = std::min(window.left, window.kernel_w - 1);
  window.right = std::min(window.right, window.kernel_w - 1);
  return window;
}

void use_window(LayerRecord& layer, const Window& window) {
  layer.kernel_h = static_cast<uint16_t>(window.kernel_h);
  layer.kernel_w = static_cast<uint16_t>(window.kernel_w);
  layer.stride_y = static_cast<uint8_t>(window.stride_y);
  layer.stride_x = static_cast<uint8_t>(window.stride_x);
  layer.dilation_y = static_cast<uint8_t>(window.dilation_y);
  layer.dilation_x = static_cast<uint8_t>(window.dilation_x);
  layer.pad_top = static_cast<uint8_t>(window.top);
  layer.pad_left = static_cast<uint8_t>(window.left);
  layer.pad_bottom = static_cast<uint8_t>(window.bottom);
  layer.pad_right = static_cast<uint8_t>(window.right);
}

void test_convolution(RandomList& world, Operation operation) {
  const bool depthwise = operation == Operation::kDepthwise;
  const bool pointwise = operation == Operation::kPointwise;
  const Tensor in = world.tensor(world.shape(), 1, world.zero_point(1));
  const Window window = pointwise ? Window() : random_window(world, in.shape, true, true);
  const uint32_t channels = depthwise ? in.shape.c : world.pick(1, 5);
  const uint32_t width = some_width(world);
  Tensor out = {window.output(in.shape, channels), width, world.zero_point(width), {}};
  const uint32_t ins = depthwise ? 1 : in.shape.c;
  const size_t count = size_t{channels} * ins * window.kernel_h * window.kernel_w;
  const auto weights = world.weights(count);
  const auto bias = world.biases(channels);
  const double magnitude = 7000 * std::sqrt(count / channels) + 10000;
  const Scaling scaling = world.scaling(channels, magnitude, out, true);
  LayerRecord& layer = world.list.layer(operation, {world.place(in)}, world.result(out));
  use_window(layer, window);
  give_constants(world, layer, weights, bias);
  world.use(layer, scaling);
  reference_conv(in, weights, bias, window, depthwise, scaling, out);
  world.expect(out, "convolution");
}

TEST(AxonModel, Conv2d) {
  for_random_lists("conv2d",
                   [](RandomList& world) { test_convolution(world, Operation::kConv2d); });
}
TEST(AxonModel, Depthwise) {
  for_random_lists("depthwise",
                   [](RandomList& world) { test_convolution(world, Operation::kDepthwise); });
}
TEST(AxonModel, Pointwise) {
  for_random_lists("pointwise",
                   [](RandomList& world) { test_convolution(world, Operation::kPointwise); });
}

TEST(AxonModel, AveragePool) {
  for_random_lists("average pool", [](RandomList& world) {
    const uint32_t wide = world.pick(1, 2);
    const Tensor in = world.tensor(world.shape(), wide, world.zero_point(wide));
    const Window window = random_window(world, in.shape, false, false);
    const uint32_t width = some_width(world);
    Tensor out = {window.output(in.shape, in.shape.c), width, world.zero_point(width), {}};
    const int32_t bias = -in.zero_point * static_cast<int32_t>(window.kernel_h * window.kernel_w);
    const Scaling scaling = world.scaling(1, wide == 1 ? 400 : 100000, out, true);
    LayerRecord& layer =
        world.list.layer(Operation::kAveragePool, {world.place(in)}, world.result(out));
    use_window(layer, window);
    layer.bias = world.list.ints({bias});
    world.use(layer, scaling);
    reference_average(in, bias, window, scaling, out);
    world.expect(out, "average pool");
  });
}

TEST(AxonModel, MaxPool) {
  for_random_lists("max pool", [](RandomList& world) {
    const uint32_t width = some_width(world);
    const Tensor in = world.tensor(world.shape(), width, world.zero_point(width));
    if (width == 4) return;
    const Window window = random_window(world, in.shape, true, false);
    Tensor out = {window.output(in.shape, in.shape.c), width, in.zero_point, {}};
    LayerRecord& layer =
        world.list.layer(Operation::kMaxPool, {world.place(in)}, world.result(out));
    use_window(layer, window);
    const bool relu = world.pick(0, 1) == 0;
    if (relu) layer.activation = Activation::kRelu;
    reference_max(in, window, relu, out);
    world.expect(out, "max pool");
  });
}

TEST(AxonModel, Mean) {
  for_random_lists("mean", [](RandomList& world) {
    const Tensor in = world.tensor(world.shape(), 1, world.zero_point(1));
    Shape shape = in.shape;
    if (world.pick(0, 2) != 0) shape.h = 1;
    if (shape.h != 1 || world.pick(0, 1) == 0) shape.w = 1;
    const uint32_t width = some_width(world);
    Tensor out = {shape, width, world.zero_point(width), {}};
    const Scaling scaling = world.scaling(1, 600, out, true);
    LayerRecord& layer = world.list.layer(Operation::kMean, {world.place(in)}, world.result(out));
    layer.bias = world.list.ints({-77});
    world.use(layer, scaling);
    reference_mean(in, -77, scaling, out);
    world.expect(out, "mean");
  });
}

Shape narrowed(RandomList& world, Shape shape) {
  if (world.pick(0, 1) == 0) shape.h = 1;
  if (world.pick(0, 1) == 0) shape.w = 1;
  if (world.pick(0, 3) == 0) shape.c = 1;
  if (world.pick(0, 3) == 0) shape.n = 1;
  return shape;
}

TEST(AxonModel, Add) {
  for_random_lists("add", [](RandomList& world) {
    const uint32_t wide_a = world.pick(1, 2), wide_b = world.pick(1, 2);
    const Tensor a = world.tensor(world.shape(), wide_a, world.zero_point(wide_a));
    const Tensor b = world.tensor(narrowed(world, a.shape), wide_b, world.zero_point(wide_b));
    const uint32_t width = some_width(world);
    Tensor out = {a.shape, width, world.zero_point(width), {}};
    Scaling scaling = world.scaling(1, wide_a == 1 && wide_b == 1 ? 1 << 22 : 1 << 28, out, false);
    scaling.multipliers = {world.pick_signed(-16000, 16000), world.pick_signed(-16000, 16000)};
    const int32_t bias = world.pick_signed(-1000000, 1000000);
    const Operand from_a = world.place(a), from_b = world.place(b);
    LayerRecord& layer = world.list.layer(Operation::kAdd, {from_a, from_b}, world.result(out));
    layer.bias = world.list.ints({bias});
    world.use(layer, scaling);
    reference_add(a, b, bias, scaling, out);
    world.expect(out, "add");
  });
}

TEST(AxonModel, Multiply) {
  for_random_lists("multiply", [](RandomList& world) {
    const uint32_t wide_a = world.pick(1, 2), wide_b = world.pick(1, 2);
    const Tensor a = world.tensor(world.shape(), wide_a, world.zero_point(wide_a));
    const Tensor b = world.tensor(narrowed(world, a.shape), wide_b, world.zero_point(wide_b));
    const uint32_t width = some_width(world);
    Tensor out = {a.shape, width, world.zero_point(width), {}};
    const double magnitude = (wide_a == 1 ? 128.0 : 32768.0) * (wide_b == 1 ? 128.0 : 32768.0);
    const Scaling scaling = world.scaling(1, magnitude, out, true);
    const Operand from_a = world.place(a), from_b = world.place(b);
    LayerRecord& layer =
        world.list.layer(Operation::kMultiply, {from_a, from_b}, world.result(out));
    world.use(layer, scaling);
    reference_multiply(a, b, scaling, out);
    world.expect(out, "multiply");
  });
}

TEST(AxonModel, Concat) {
  for_random_lists("concat", [](RandomList& world) {
    const uint32_t width = some_width(world);
    const auto axis = static_cast<Axis>(world.pick(0, 2));
    const Shape base = world.shape();
    Tensor out = {base, width, world.zero_point(width), {}};
    uint32_t* const along[] = {&out.shape.c, &out.shape.h, &out.shape.w};
    *along[static_cast<size_t>(axis)] = 0;
    std::vector<Tensor> parts;
    std::vector<Operand> places;
    const uint32_t count = world.pick(1, 4);
    for (uint32_t i = 0; i < count; ++i) {
      Shape shape = base;
      uint32_t* const own[] = {&shape.c, &shape.h, &shape.w};
      *own[static_cast<size_t>(axis)] = world.pick(1, 4);
      *along[static_cast<size_t>(axis)] += *own[static_cast<size_t>(axis)];
      parts.push_back(world.tensor(shape, width, out.zero_point));
      places.push_back(world.place(parts.back()));
    }
    world.list.layer(Operation::kConcat, places, world.result(out)).axis = axis;
    reference_concat(parts, axis, out);
    world.expect(out, "concat");
  });
}

TEST(AxonModel, StridedSlice) {
  for_random_lists("slice", [](RandomList& world) {
    const uint32_t width = some_width(world);
    const Tensor in = world.tensor(world.shape(), width, world.zero_point(width));
    const uint32_t sizes[] = {in.shape.c, in.shape.h, in.shape.w};
    std::vector<int32_t> begin, end, stride;
    Shape shape = in.shape;
    uint32_t* const own[] = {&shape.c, &shape.h, &shape.w};
    for (uint32_t i = 0; i < 3; ++i) {
      const uint32_t from = world.pick(0, sizes[i] - 1), to = world.pick(from + 1, sizes[i]);
      const uint32_t step = world.pick(1, std::min(3U, sizes[i]));
      begin.push_back(static_cast<int32_t>(from));
      end.push_back(static_cast<int32_t>(to));
      stride.push_back(static_cast<int32_t>(step));
      *own[i] = (to - from + step - 1) / step;
    }
    Tensor out = {shape, width, in.zero_point, {}};
    LayerRecord& layer =
        world.list.layer(Operation::kStridedSlice, {world.place(in)}, world.result(out));
    std::vector<int32_t> attributes = begin;
    attributes.insert(attributes.end(), end.begin(), end.end());
    attributes.insert(attributes.end(), stride.begin(), stride.end());
    layer.attributes = world.list.ints(attributes);
    layer.attribute_count = 9;
    reference_slice(in, begin, stride, out);
    world.expect(out, "slice");
  });
}

TEST(AxonModel, ChannelPad) {
  for_random_lists("channel pad", [](RandomList& world) {
    const uint32_t width = some_width(world);
    const Tensor in = world.tensor(world.shape(), width, world.zero_point(width));
    const uint32_t front = world.pick(0, 3), behind = world.pick(0, 3);
    Shape shape = in.shape;
    shape.c += front + behind;
    Tensor out = {shape, width, in.zero_point, {}};
    LayerRecord& layer =
        world.list.layer(Operation::kChannelPad, {world.place(in)}, world.result(out));
    layer.pad_top = static_cast<uint8_t>(front);
    layer.pad_bottom = static_cast<uint8_t>(behind);
    reference_channel_pad(in, front, out);
    world.expect(out, "channel pad");
  });
}

TEST(AxonModel, Reshape) {
  for_random_lists("reshape", [](RandomList& world) {
    const uint32_t width = some_width(world);
    const Tensor in = world.tensor(world.shape(), width, world.zero_point(width));
    Shape shape = {1, 1, 1, in.shape.elements()};
    for (uint32_t factor = 2; factor < 8; ++factor) {
      uint32_t* const sizes[] = {&shape.n, &shape.c, &shape.h};
      if (shape.w % factor == 0) shape.w /= factor, *sizes[world.pick(0, 2)] *= factor;
    }
    Tensor out = {shape, width, in.zero_point, in.values};
    world.list.layer(Operation::kReshape, {world.place(in)}, world.result(out));
    world.expect(out, "reshape");
  });
}

TEST(AxonModel, SpaceToBatchAndBatchToSpace) {
  for_random_lists("blocks", [](RandomList& world) {
    const uint32_t width = some_width(world);
    const Tensor in = world.tensor(world.shape(), width, world.zero_point(width));
    const uint32_t block_h = world.pick(1, 3), block_w = world.pick(1, 3);
    const uint32_t top = world.pick(0, 2), left = world.pick(0, 2);
    const auto rest = [](uint32_t size, uint32_t block) { return (block - size % block) % block; };
    const uint32_t bottom = rest(in.shape.h + top, block_h);
    const uint32_t right = rest(in.shape.w + left, block_w);
    const std::vector<int32_t> attributes = {
        static_cast<int32_t>(block_h), static_cast<int32_t>(block_w), static_cast<int32_t>(top),
        static_cast<int32_t>(bottom),  static_cast<int32_t>(left),    static_cast<int32_t>(right)};
    Tensor apart = {{in.shape.n * block_h * block_w, in.shape.c,
                     (in.shape.h + top + bottom) / block_h, (in.shape.w + left + right) / block_w},
                    width,
                    in.zero_point,
                    {}};
    LayerRecord& first =
        world.list.layer(Operation::kSpaceToBatch, {world.place(in)}, world.result(apart));
    first.attribute_count = 6;
    first.attributes = world.list.ints(attributes);
    reference_space_to_batch(in, attributes, apart);
    if (world.pick(0, 1) == 0) return world.expect(apart, "space to batch");
    Tensor back = {in.shape, width, in.zero_point, {}};
    LayerRecord& second =
        world.list.layer(Operation::kBatchToSpace, {world.list.last()}, world.result(back));
    second.attribute_count = 6;
    second.attributes = world.list.ints(attributes);
    reference_batch_to_space(apart, attributes, back);
    EXPECT_EQ(back.values, in.values);
    world.expect(back, "batch to space");
  });
}

TEST(AxonModel, ResizeNearest) {
  for_random_lists("resize", [](RandomList& world) {
    const uint32_t width = some_width(world);
    const Tensor in = world.tensor(world.shape(), width, world.zero_point(width));
    Tensor out = {
        {in.shape.n, in.shape.c, world.pick(1, 9), world.pick(1, 9)}, width, in.zero_point, {}};
    world.list.layer(Operation::kResizeNearest, {world.place(in)}, world.result(out));
    reference_resize(in, out);
    world.expect(out, "resize");
  });
}

TEST(AxonModel, Softmax) {
  for_random_lists("softmax", [](RandomList& world) {
    const auto axis = static_cast<Axis>(world.pick(0, 2));
    Tensor in = world.tensor(world.shape(), 4, 0);
    // Values from far apart to nearly equal; with spread 1 all are 0.
    const int32_t spread = 1 << world.pick(0, 30);
    for (int32_t& value : in.values) value = value % spread;
    Tensor out = {in.shape, 1, -128, {}};
    world.list.layer(Operation::kSoftmax, {world.place(in)}, world.result(out)).axis = axis;
    reference_softmax(in, axis, out);
    world.expect(out, "softmax");
  });
}

/// Every value with every shift, including ties and their neighbours.
TEST(AxonModel, ShiftRoundsHalfToEven) {
  for (uint32_t shift = 0; shift <= 12; ++shift) {
    for (int64_t value = -10000; value <= 10000; ++value) {
      const long double exact =
          std::ldexp(static_cast<long double>(value), -static_cast<int>(shift));
      ASSERT_EQ(axon::model::shift_half_even(value, shift),
                static_cast<int64_t>(std::nearbyint(exact)))
          << value << " / 2^" << shift;
    }
  }
  // The largest product of an accumulator and a multiplier.
  const int64_t most = int64_t{0x7FFFFFFF} * 0x7FFFFFFF;
  EXPECT_EQ(axon::model::shift_half_even(most, 30), int64_t{0xFFFFFFFC});
  EXPECT_EQ(axon::model::shift_half_even(-most, 30), -int64_t{0xFFFFFFFC});
}

/// Every pair of int8 values, with zero points and scales that give ties.
TEST(AxonModel, AddOfAllInt8Pairs) {
  Tensor a = {{1, 1, 256, 256}, 1, -7, {}};
  Tensor b = {{1, 1, 1, 256}, 1, 19, {}};
  for (int32_t h = 0; h < 256; ++h) {
    for (int32_t w = 0; w < 256; ++w) a.values.push_back(h - 128);
    b.values.push_back(h - 128);
  }
  for (const int32_t zero_point : {-128, -1, 0, 5, 127}) {
    for (const bool sum : {false, true}) {
      Tensor out = {a.shape, 1, zero_point, {}};
      List list;
      LayerRecord& layer = list.layer(sum ? Operation::kAdd : Operation::kMultiply,
                                      {list.external(a.shape, 1, -7), list.constant(b)},
                                      list.interlayer(out.shape, 1, zero_point));
      if (sum) {
        scale(list, layer, {3, 5}, {3});
        reference_add(a, b, 0, {{3, 5}, {3}}, out);
      } else {
        scale(list, layer, {3}, {8});
        reference_multiply(a, b, {{3}, {8}}, out);
      }
      list.output(list.last());
      const std::vector<uint8_t> bytes = list.build();
      ASSERT_EQ(check_bytes(bytes), axon::Status::kOk);
      EXPECT_EQ(execute(bytes, {a})[0].values, out.values) << zero_point << sum;
    }
  }
}

/// All input values, in one layer each.
TEST(AxonModel, SigmoidAndTanhEqualDefinitionForAllInputs) {
  for (const Operation operation : {Operation::kSigmoid, Operation::kTanh}) {
    const bool tanh = operation == Operation::kTanh;
    Tensor in = {{1, 1, 64, 1024}, 2, 0, {}};
    Tensor out = {in.shape, 1, tanh ? 0 : -128, {}};
    for (int32_t x = -32768; x < 32768; ++x) {
      in.values.push_back(x);
      out.values.push_back(tanh ? reference_tanh(x) : reference_sigmoid(x));
    }
    List list;
    list.layer(operation, {list.external(in.shape, 2, 0)},
               list.interlayer(out.shape, 1, out.zero_point));
    list.output(list.last());
    EXPECT_EQ(execute(list.build(), {in})[0].values, out.values);
  }
}

/// The documented integer softmax differs from floating point by at most one step.
TEST(AxonModel, SoftmaxIsWithinOneStep) {
  std::mt19937 random(11);
  int largest = 0;
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<uint32_t>(1 + random() % 300);
    const int32_t spread = 1 << (4 + random() % 16);
    Tensor in = {{1, count, 1, 1}, 4, 0, {}};
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
      in.values.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(spread)));
    }
    const int32_t most = *std::max_element(in.values.begin(), in.values.end());
    for (const int32_t x : in.values) sum += std::exp((x - most) / 4096.0);
    List list;
    list.layer(Operation::kSoftmax, {list.external(in.shape, 4, 0)},
               list.interlayer(in.shape, 1, -128));
    list.output(list.last());
    const auto got = execute(list.build(), {in})[0].values;
    for (uint32_t i = 0; i < count; ++i) {
      const double exact = 256 * std::exp((in.values[i] - most) / 4096.0) / sum;
      const int32_t wanted = std::min(127, static_cast<int32_t>(std::lround(exact)) - 128);
      largest = std::max(largest, std::abs(wanted - got[i]));
    }
  }
  EXPECT_LE(largest, 1);
}

}  // namespace
}  // namespace thimble::axon_test
