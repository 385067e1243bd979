// SPDX-License-Identifier: Apache-2.0
// With the user's SDK: the vendor's compiler accepts each operation, and its simulator computes the
// bytes of our integer model. Without SDK_EDGE_AI_PATH these tests are skipped.

#include "axon_vendor_support.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "axon_sample.h"
#include "base/process.h"
#include "engines/axon/compiler/vendor/layers_to_ir.h"
#include "engines/axon/compiler/vendor/vendor_compile.h"
#include "engines/axon/formats/compiled_header.h"
#include "formats/pte/read.h"
#include "test_files.h"
#include "tests/folders.h"

namespace thimble::axon_vendor_test {
namespace {

using axon::Activation;
using axon::LayerRecord;
using axon::Operand;
using axon::Operation;
using axon_test::Shape;

/// Pseudo-random numbers that are the same on every machine.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed * 2654435761U + 1) {}
  int32_t operator()(int32_t from, int32_t to) {
    state_ = state_ * 1664525 + 1013904223;
    return from + static_cast<int32_t>((state_ >> 8) % static_cast<uint32_t>(to - from + 1));
  }

 private:
  uint32_t state_;
};

struct Maker {
  explicit Maker(uint32_t seed) : numbers(seed) {}
  List list;
  Numbers numbers;

  /// Adds weights, a bias, and one scale for all channels or one per channel.
  LayerRecord& weights(LayerRecord& layer, uint32_t count, uint32_t channels, uint32_t terms,
                       bool per_channel = false) {
    std::vector<uint8_t> bytes;
    for (uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<uint8_t>(numbers(-127, 127)));
    layer.weights = list.bytes(bytes);
    layer.weight_bytes = count;
    std::vector<int32_t> bias;
    for (uint32_t i = 0; i < channels; ++i) bias.push_back(numbers(-5000, 5000));
    layer.bias = list.ints(bias);
    scales(layer, per_channel ? channels : 1, terms);
    return layer;
  }
  /// Adds scales so that sums of `terms` products give results of about eight (or sixteen) bits.
  void scales(LayerRecord& layer, uint32_t count, uint32_t terms) {
    const double size = 3000.0 * std::sqrt(static_cast<double>(terms));
    const double range = layer.output.element_bytes == 1 ? 60 : 8000;
    const int shift = layer.output.zero_point == 0 ? 24 : 22;
    std::vector<int32_t> multipliers;
    std::vector<uint8_t> shifts;
    const bool leaky = layer.activation == Activation::kLeakyRelu;
    for (uint32_t i = 0; i < count; ++i) {
      const auto one = static_cast<int32_t>(range / size * (1 << shift)) + numbers(0, 999);
      if (leaky) multipliers.push_back(one / 7);
      multipliers.push_back(one);
      shifts.push_back(static_cast<uint8_t>(shift));
    }
    axon_test::scale(list, layer, multipliers, shifts);
  }
  Operand input(const Shape& shape, int32_t zero_point = -3) {
    return list.external(shape, 1, zero_point);
  }
  Operand place(const Shape& shape, uint32_t bytes = 1, int32_t zero_point = 5) {
    return list.interlayer(shape, bytes, zero_point);
  }
  LayerRecord& conv(Operation operation, const Operand& in, const Shape& out, uint32_t kernel_h,
                    uint32_t kernel_w, bool per_channel = false) {
    LayerRecord& layer = list.layer(operation, {in}, place(out));
    layer.kernel_h = static_cast<uint16_t>(kernel_h);
    layer.kernel_w = static_cast<uint16_t>(kernel_w);
    const uint32_t terms = kernel_h * kernel_w * (operation == Operation::kDepthwise ? 1U : in.c);
    return weights(layer, terms * out.c, out.c, terms, per_channel);
  }
  LayerRecord& dense(const Operand& in, uint32_t outputs, uint32_t bytes = 1,
                     bool per_channel = false) {
    const uint32_t inputs = uint32_t{in.c} * in.h * in.w;
    LayerRecord& layer = list.layer(Operation::kFullyConnected, {in},
                                    place({1, 1, 1, outputs}, bytes, bytes == 1 ? 5 : 0));
    return weights(layer, inputs * outputs, outputs, inputs, per_channel);
  }
};

struct Case {
  std::string name;
  std::function<void(Maker&)> make;
};

std::vector<Case> linear_cases() {
  std::vector<Case> cases;
  for (const auto& [in, out] :
       {std::pair{1, 1}, {8, 4}, {16, 16}, {65, 3}, {256, 10}, {1023, 600}}) {
    for (const bool per_channel : {false, true}) {
      if (per_channel && in == 1023) continue;
      cases.push_back(
          {fmt::format("fc {}->{} {}", in, out, per_channel),
           [=, i = static_cast<uint32_t>(in), o = static_cast<uint32_t>(out)](Maker& m) {
             m.dense(m.input({1, 1, 1, i}), o, 1, per_channel);
           }});
    }
  }
  for (const uint32_t bytes : {2U, 4U}) {
    cases.push_back({fmt::format("fc of {} bytes", bytes), [=](Maker& m) {
                       m.dense(m.input({1, 1, 1, 20}), 7, bytes);
                     }});
  }
  for (const Activation activation : {Activation::kRelu, Activation::kLeakyRelu}) {
    cases.push_back({fmt::format("fc activation {}", static_cast<int>(activation)), [=](Maker& m) {
                       LayerRecord& layer = m.dense(m.input({1, 1, 1, 20}), 12);
                       layer.activation = activation;
                       m.scales(layer, 1, 20);
                     }});
  }
  return cases;
}

std::vector<Case> conv_cases() {
  std::vector<Case> cases;
  for (const auto& [h, w] : {std::pair{5U, 5U}, {8U, 9U}, {1U, 16U}, {12U, 4U}}) {
    for (const uint32_t kernel : {1U, 3U}) {
      if (h < kernel) continue;
      for (const bool per_channel : {false, true}) {
        const auto make = [=](Maker& m) {
          m.conv(Operation::kConv2d, m.input({1, 3, h, w}), {1, 5, h - kernel + 1, w - kernel + 1},
                 kernel, kernel, per_channel);
        };
        cases.push_back({fmt::format("conv {}x{} {} {}", h, w, kernel, per_channel), make});
      }
    }
  }
  cases.push_back(
      {"conv 3x3 padded stride 2", [](Maker& m) {
         LayerRecord& layer = m.conv(Operation::kConv2d, m.input({1, 2, 9, 8}), {1, 4, 5, 4}, 3, 3);
         layer.stride_y = layer.stride_x = 2;
         layer.pad_top = layer.pad_left = layer.pad_bottom = 1;
       }});
  cases.push_back(
      {"conv 1x5 relu", [](Maker& m) {
         m.conv(Operation::kConv2d, m.input({1, 6, 1, 20}), {1, 8, 1, 16}, 1, 5).activation =
             Activation::kRelu;
       }});
  cases.push_back(
      {"conv leaky per channel", [](Maker& m) {
         LayerRecord& layer = m.conv(Operation::kConv2d, m.input({1, 2, 6, 8}), {1, 3, 4, 6}, 3, 3);
         layer.activation = Activation::kLeakyRelu;
         m.scales(layer, 3, 18);
       }});
  cases.push_back({"conv then fc", [](Maker& m) {
                     m.conv(Operation::kConv2d, m.input({1, 2, 5, 5}), {1, 3, 3, 3}, 3, 3);
                     m.dense(m.list.last(), 4);
                   }});
  for (const uint32_t channels : {1U, 4U, 16U}) {
    cases.push_back({fmt::format("depthwise {}", channels), [=](Maker& m) {
                       LayerRecord& layer =
                           m.conv(Operation::kDepthwise, m.input({1, channels, 8, 8}),
                                  {1, channels, 8, 8}, 3, 3, true);
                       layer.pad_top = layer.pad_left = layer.pad_bottom = layer.pad_right = 1;
                     }});
  }
  cases.push_back(
      {"depthwise then pointwise", [](Maker& m) {
         m.conv(Operation::kDepthwise, m.input({1, 8, 9, 8}), {1, 8, 4, 6}, 3, 3).stride_y = 2;
         m.conv(Operation::kPointwise, m.list.last(), {1, 12, 4, 6}, 1, 1);
       }});
  cases.push_back({"pointwise of even rows", [](Maker& m) {
                     m.conv(Operation::kPointwise, m.input({1, 8, 4, 8}), {1, 16, 4, 8}, 1, 1);
                   }});
  return cases;
}

/// Adds a first layer, so that the operands of the tested layer are in the NPU's memory.
Operand before(Maker& m, const Shape& shape) {
  m.conv(Operation::kConv2d, m.input(shape), shape, 1, 1);
  return m.list.last();
}

std::vector<Case> pool_cases() {
  std::vector<Case> cases;
  for (const auto& [h, w] : {std::pair{8U, 8U}, {6U, 10U}, {7U, 5U}}) {
    for (const bool average : {true, false}) {
      cases.push_back({fmt::format("pool {}x{} average {}", h, w, average), [=](Maker& m) {
                         const Operand in = before(m, {1, 3, h, w});
                         const Shape out = {1, 3, (h - 2) / 2 + 1, (w - 2) / 2 + 1};
                         LayerRecord& layer =
                             m.list.layer(average ? Operation::kAveragePool : Operation::kMaxPool,
                                          {in}, m.place(out, 1, average ? 2 : in.zero_point));
                         layer.kernel_h = layer.kernel_w = layer.stride_y = layer.stride_x = 2;
                         if (!average) return;
                         layer.bias = m.list.ints({-4 * in.zero_point});
                         axon_test::scale(m.list, layer, {(1 << 20) / 4 + 77}, {20});
                       }});
    }
  }
  for (const auto& [h, w] : {std::pair{1U, 6U}, {5U, 1U}, {1U, 1U}}) {
    cases.push_back(
        {fmt::format("mean to {}x{}", h, w), [=](Maker& m) {
           const Operand in = before(m, {1, 4, 5, 6});
           LayerRecord& layer = m.list.layer(Operation::kMean, {in}, m.place({1, 4, h, w}, 1, -7));
           const auto area = static_cast<int32_t>(30 / (h * w));
           layer.kernel_h = static_cast<uint16_t>(5 / h);
           layer.kernel_w = static_cast<uint16_t>(6 / w);
           layer.bias = m.list.ints({-area * in.zero_point});
           axon_test::scale(m.list, layer, {(1 << 20) / area}, {20});
         }});
  }
  return cases;
}

std::vector<Case> element_cases() {
  std::vector<Case> cases;
  const auto add = [](Maker& m, const Operand& a, const Operand& b, const Shape& out) {
    LayerRecord& layer = m.list.layer(Operation::kAdd, {a, b}, m.place(out, 1, 5));
    layer.bias = m.list.ints({-(700 * a.zero_point + 900 * b.zero_point)});
    axon_test::scale(m.list, layer, {700, 900}, {10});
    return &layer;
  };
  for (const auto& [h, w] : {std::pair{1U, 8U}, {4U, 6U}, {3U, 5U}}) {
    cases.push_back({fmt::format("add {}x{}", h, w), [=](Maker& m) {
                       const Operand a = before(m, {1, 3, h, w});
                       m.conv(Operation::kConv2d, a, {1, 3, h, w}, 1, 1);
                       add(m, a, m.list.last(), {1, 3, h, w});
                     }});
    cases.push_back({fmt::format("multiply {}x{}", h, w), [=](Maker& m) {
                       const Operand a = before(m, {1, 3, h, w});
                       m.conv(Operation::kConv2d, a, {1, 3, h, w}, 1, 1);
                       LayerRecord& layer = m.list.layer(Operation::kMultiply, {a, m.list.last()},
                                                         m.place({1, 3, h, w}, 1, -2));
                       axon_test::scale(m.list, layer, {9999}, {20});
                     }});
  }
  cases.push_back({"add relu", [=](Maker& m) {
                     const Operand a = before(m, {1, 2, 4, 4});
                     m.conv(Operation::kConv2d, a, {1, 2, 4, 4}, 1, 1);
                     add(m, a, m.list.last(), {1, 2, 4, 4})->activation = Activation::kRelu;
                   }});
  cases.push_back({"add constant", [=](Maker& m) {
                     const Operand a = before(m, {1, 2, 3, 4});
                     Tensor tensor = {{1, 2, 3, 4}, 1, 9, {}};
                     for (int i = 0; i < 24; ++i) tensor.values.push_back(i * 9 - 100);
                     add(m, a, m.list.constant(tensor), {1, 2, 3, 4});
                   }});
  cases.push_back({"multiply constant", [=](Maker& m) {
                     const Operand a = before(m, {1, 2, 3, 4});
                     Tensor tensor = {{1, 2, 3, 4}, 1, 9, {}};
                     for (int i = 0; i < 24; ++i) tensor.values.push_back(i * 9 - 100);
                     LayerRecord& layer = m.list.layer(
                         Operation::kMultiply, {a, m.list.constant(tensor)}, m.place({1, 2, 3, 4}));
                     axon_test::scale(m.list, layer, {9999}, {20});
                   }});
  return cases;
}

std::vector<Case> move_cases() {
  std::vector<Case> cases;
  for (const axon::Axis axis : {axon::Axis::kChannel, axon::Axis::kHeight, axon::Axis::kWidth}) {
    cases.push_back(
        {fmt::format("concat {}", static_cast<int>(axis)), [=](Maker& m) {
           const Operand a = before(m, {1, 2, 3, 4});
           m.conv(Operation::kConv2d, a, {1, 2, 3, 4}, 1, 1);
           Shape out = {1, 2, 3, 4};
           (axis == axon::Axis::kChannel  ? out.c
            : axis == axon::Axis::kHeight ? out.h
                                          : out.w) *= 2;
           m.list.layer(Operation::kConcat, {a, m.list.last()}, m.place(out)).axis = axis;
         }});
  }
  cases.push_back(
      {"strided slice", [](Maker& m) {
         const Operand a = before(m, {1, 4, 6, 8});
         LayerRecord& layer = m.list.layer(Operation::kStridedSlice, {a}, m.place({1, 2, 3, 3}));
         layer.attributes = m.list.ints({1, 0, 1, 4, 6, 7, 2, 2, 2});
         layer.attribute_count = 9;
       }});
  for (const auto& [front, behind] : {std::pair{0U, 3U}, {3U, 0U}, {1U, 2U}, {0U, 2U}, {2U, 2U}}) {
    cases.push_back({fmt::format("channel pad {} {}", front, behind), [=](Maker& m) {
                       const Operand a = before(m, {1, 2, 3, 4});
                       LayerRecord& layer = m.list.layer(Operation::kChannelPad, {a},
                                                         m.place({1, 2 + front + behind, 3, 4}));
                       layer.pad_top = static_cast<uint8_t>(front);
                       layer.pad_bottom = static_cast<uint8_t>(behind);
                     }});
  }
  cases.push_back({"resize", [](Maker& m) {
                     const Operand a = before(m, {1, 2, 3, 4});
                     m.list.layer(Operation::kResizeNearest, {a}, m.place({1, 2, 6, 8}));
                   }});
  cases.push_back({"two readers of the input, two outputs", [](Maker& m) {
                     const Operand in = m.input({1, 1, 1, 8});
                     m.dense(in, 6);
                     m.list.output(m.list.last());
                     m.dense(in, 5);
                   }});
  cases.push_back({"an output that is read too", [](Maker& m) {
                     m.dense(m.input({1, 1, 1, 8}), 6);
                     m.list.output(m.list.last());
                     m.dense(m.list.last(), 5);
                   }});
  for (const Operation operation : {Operation::kSigmoid, Operation::kTanh}) {
    for (const uint32_t width : {4U, 7U}) {
      cases.push_back(
          {fmt::format("curve {} {}", static_cast<int>(operation), width), [=](Maker& m) {
             LayerRecord& layer = m.dense(m.input({1, 1, 1, 9}), width, 2);
             m.scales(layer, 1, 9);
             const int32_t zero = operation == Operation::kSigmoid ? -128 : 0;
             m.list.layer(operation, {m.list.last()}, m.place({1, 1, 1, width}, 1, zero));
           }});
    }
  }
  return cases;
}

/// Maximum difference of our integer softmax from the vendor's, which uses floats of the NPU's exp.
constexpr int32_t kSoftmaxSteps = 1;

std::vector<Case> softmax_cases() {
  std::vector<Case> cases;
  for (const uint32_t width : {2U, 4U, 12U}) {
    for (const uint8_t shift : {uint8_t{20}, uint8_t{28}}) {
      cases.push_back(
          {fmt::format("softmax {} shift {}", width, shift), [=](Maker& m) {
             LayerRecord& layer = m.dense(m.input({1, 1, 1, 16}), width, 4);
             layer.activation = Activation::kPrepareSoftmax;
             axon_test::scale(m.list, layer, {(1 << shift) / 8 + 77}, {shift});
             m.list.layer(Operation::kSoftmax, {m.list.last()}, m.place({1, 1, 1, width}, 1, -128))
                 .axis = axon::Axis::kWidth;
           }});
    }
  }
  return cases;
}

std::vector<int32_t> some_input(const axon::IoRecord& io, uint32_t seed) {
  Numbers numbers(seed);
  std::vector<int32_t> values;
  for (uint32_t i = 0; i < uint32_t{io.n} * io.c * io.h * io.w; ++i) {
    values.push_back(numbers(-128, 127));
  }
  return values;
}

engine::axon::SdkOptions user_sdk() {
  return {std::getenv("SDK_EDGE_AI_PATH"), THIMBLE_AXON_HELPER, std::chrono::seconds(120)};
}

bool has_sdk() {
  const char* const path = std::getenv("SDK_EDGE_AI_PATH");
  return path != nullptr && *path != 0;
}

/// Our model's outputs for one input, in the order of the layers, as the simulator returns them.
/// States persist from call to call.
class OurModel {
 public:
  OurModel(const std::vector<uint8_t>& bytes, const axon::Container& container,
           const std::vector<int>& makers)
      : bytes_(bytes), container_(container), makers_(makers) {
    for (uint32_t i = 0; i < container.header().variable_count; ++i) {
      const axon::VariableRecord variable = container.variable(i);
      states_.push_back(std::vector<int32_t>(variable.bytes, variable.initial));
    }
  }
  std::vector<int32_t> operator()(const std::vector<int32_t>& input) {
    const axon::Header header = container_.header();
    std::vector<Tensor> inputs;
    for (uint32_t i = 0; i < header.input_count; ++i) {
      const axon::IoRecord io = container_.input(i);
      Tensor tensor = {{io.n, io.c, io.h, io.w}, io.element_bytes, io.zero_point, input};
      if (io.source == axon::Source::kPersistent) {
        tensor.values = states_[io.index];
        tensor.values.resize(tensor.shape.elements());
      }
      inputs.push_back(tensor);
    }
    std::map<int, std::vector<int32_t>> by_maker;
    const std::vector<Tensor> outputs = axon_test::execute(bytes_, inputs);
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      const axon::IoRecord io = container_.output(i);
      if (io.source == axon::Source::kPersistent) {
        states_[io.index] = outputs[i].values;
      } else {
        by_maker[makers_[i]] = outputs[i].values;
      }
    }
    std::vector<int32_t> all;
    for (const auto& [maker, values] : by_maker)
      all.insert(all.end(), values.begin(), values.end());
    return all;
  }

 private:
  const std::vector<uint8_t>& bytes_;
  const axon::Container& container_;
  const std::vector<int>& makers_;
  std::vector<std::vector<int32_t>> states_;
};

axon::IoRecord external_of(const axon::Container& container) {
  for (uint32_t i = 0; i < container.header().input_count; ++i) {
    if (container.input(i).source == axon::Source::kExternal) return container.input(i);
  }
  return {};
}

using Inputs = std::vector<std::vector<int32_t>>;

/// Runs the inputs through the vendor's simulator and our model and compares the outputs. Results
/// may differ by `steps`; `apart` counts those that do. Returns the simulator's cycles of one run.
uint32_t compare(const std::string& name, const std::vector<uint8_t>& bytes,
                 const std::function<Inputs(const axon::IoRecord&)>& make, int32_t steps = 0,
                 int* apart = nullptr) {
  EXPECT_EQ(axon_test::check_bytes(bytes), axon::Status::kOk) << name;
  const runtime_test::AlignedBytes data{
      ByteView(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())};
  const axon::Container container(data.data());
  const auto ir = engine::axon::layers_to_ir(container, "op_case");
  EXPECT_TRUE(ir.ok()) << name << ": " << ir.error().message;
  if (!ir.ok()) return 0;
  const Inputs inputs = make(external_of(container));
  const auto answer = engine::axon::infer_with_sdk(ir->file, inputs, user_sdk());
  EXPECT_TRUE(answer.ok()) << name << ": " << answer.error().message;
  if (!answer.ok()) return 0;
  OurModel model(bytes, container, ir->outputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int32_t> ours = model(inputs[i]);
    const std::vector<int32_t>& theirs = answer->results[i];
    if (steps == 0) {
      EXPECT_EQ(ours, theirs) << name << ", input " << i;
      continue;
    }
    EXPECT_EQ(ours.size(), theirs.size()) << name;
    if (ours.size() != theirs.size()) return 0;
    for (size_t k = 0; k < ours.size(); ++k) {
      EXPECT_LE(std::abs(ours[k] - theirs[k]), steps) << name << ", input " << i << ", " << k;
      if (apart != nullptr) *apart += ours[k] != theirs[k] ? 1 : 0;
    }
  }
  EXPECT_TRUE(formats::axon::read_compiled_header(answer->program.header, name).ok());
  return answer->cycles;
}

/// Compares for `count` inputs generated from a seed.
uint32_t compare(const std::string& name, const std::vector<uint8_t>& bytes, uint32_t seed,
                 uint32_t count, int32_t steps = 0) {
  const auto make = [=](const axon::IoRecord& io) {
    Inputs inputs;
    for (uint32_t i = 0; i < count; ++i) inputs.push_back(some_input(io, seed + i));
    return inputs;
  };
  return compare(name, bytes, make, steps);
}

class VendorSimulator : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_sdk())
      GTEST_SKIP() << "SDK_EDGE_AI_PATH is not set: skipped, the vendor's compiler "
                      "and simulator are in Nordic's sdk-edge-ai";
  }
  void compare_all(const std::vector<Case>& cases, int32_t steps = 0) {
    uint32_t seed = 1;
    for (const Case& each : cases) {
      Maker maker(seed += 10);
      each.make(maker);
      maker.list.output(maker.list.last());
      const uint32_t cycles = compare(each.name, maker.list.build(), seed, 3, steps);
      fmt::print("  {:40} {:8} cycles\n", each.name, cycles);
    }
    fmt::print("  {} cases\n", cases.size());
  }
};

TEST_F(VendorSimulator, LinearLayersAreBitEqual) {
  compare_all(linear_cases());
}
TEST_F(VendorSimulator, ConvolutionsAreBitEqual) {
  compare_all(conv_cases());
}
TEST_F(VendorSimulator, PoolsAreBitEqual) {
  compare_all(pool_cases());
}
TEST_F(VendorSimulator, ElementwiseLayersAreBitEqual) {
  compare_all(element_cases());
}
TEST_F(VendorSimulator, MovesAndCurvesAreBitEqual) {
  compare_all(move_cases());
}

/// 256 outputs, each the input plus another multiple of 256. The curve thus receives all 65,536
/// values with 12 fractional bits. Tanh of 16/4096 is 0.4999975/128, which the vendor's floats
/// round up.
TEST_F(VendorSimulator, CurvesAreBitEqualForEveryInputButOne) {
  for (const Operation operation : {Operation::kSigmoid, Operation::kTanh}) {
    Maker m(1);
    LayerRecord& layer = m.list.layer(Operation::kFullyConnected, {m.input({1, 1, 1, 1}, 0)},
                                      m.place({1, 1, 1, 256}, 2, 0));
    layer.weights = m.list.bytes(std::vector<uint8_t>(256, 1));
    layer.weight_bytes = 256;
    std::vector<int32_t> bias;
    for (int32_t k = 0; k < 256; ++k) bias.push_back(256 * k + 128 + INT16_MIN);
    layer.bias = m.list.ints(bias);
    axon_test::scale(m.list, layer, {1 << 24}, {24});
    const int32_t zero = operation == Operation::kSigmoid ? -128 : 0;
    m.list.layer(operation, {m.list.last()}, m.place({1, 1, 1, 256}, 1, zero));
    m.list.output(m.list.last());
    const auto every = [](const axon::IoRecord&) {
      Inputs inputs;
      for (int32_t x = INT8_MIN; x <= INT8_MAX; ++x) inputs.push_back({x});
      return inputs;
    };
    int apart = 0;
    compare("curve", m.list.build(), every, 1, &apart);
    EXPECT_EQ(apart, operation == Operation::kSigmoid ? 0 : 1);
  }
}

TEST_F(VendorSimulator, SoftmaxIsOneStepApartAtMost) {
  compare_all(softmax_cases(), kSoftmaxSteps);
}

/// The networks of examples/nordic as `thimble compile` partitions them, 20 inputs (steps) each.
TEST_F(VendorSimulator, ExampleNetworksAreBitEqual) {
  const fs::path program = test::build_folder() / "thimble";
  if (!fs::exists(program)) GTEST_SKIP() << program << " is not built";
  const Folder folder;
  for (const std::string name :
       {"hello_axon", "multi_layer", "simple_rnn", "anomaly", "image_cnn", "keywords"}) {
    const fs::path model = test::source_folder() / "examples/nordic" / name;
    const fs::path pte = folder.path() / (name + ".pte");
    const auto done = base::run_process(
        {program.string(), "compile", (model / (name + ".pt2")).string(), "--target", "nrf54lm20b",
         "--npu-small", "--calibrate", (model / "calibrate.npz").string(), "-o", pte.string()},
        {});
    ASSERT_TRUE(done.ok() && done->exit_code == 0) << name << ": " << done->output;
    const auto file = formats::pte::read(test::read_bytes(pte.string()), name);
    ASSERT_TRUE(file.ok()) << file.error().message;
    ASSERT_FALSE(file->delegate_blobs.empty()) << name;
    uint32_t cycles = 0, estimate = 0;
    for (const auto& blob : file->delegate_blobs) {
      const auto* const data = reinterpret_cast<const uint8_t*>(blob.bytes.data());
      const std::vector<uint8_t> bytes(data, data + blob.bytes.size());
      axon::Header header;
      std::memcpy(&header, data, sizeof header);
      estimate += header.cycles;
      cycles += compare(name, bytes, 7, 20);
    }
    fmt::print("  {:40} {:8} cycles, our estimate {}\n", name, cycles, estimate);
  }
}

}  // namespace
}  // namespace thimble::axon_vendor_test
