// SPDX-License-Identifier: Apache-2.0
// Every operator in every element type, on the host and on emulated boards. Small random graphs of
// one operator are compiled for each core. All outputs must equal the reference evaluator's on the
// input graph, bit for bit. One boot per board (firmware/apps/series).

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "../firmware/support.h"
#include "../unit/ir_random_graph.h"
#include "abi/pte_ops.h"
#include "emit/emit.h"
#include "engine/engine.h"
#include "ir/print.h"
#include "ir/weight_bits.h"
#include "random_direct_graph.h"
#include "random_integer_graph.h"
#include "random_move_graph.h"
#include "random_spectrum_graph.h"
#include "random_wide_graph.h"
#include "run_series.h"
#include "tests/matrix/ledger.h"

namespace thimble {
namespace {

using engine::Dialect;
using firmware_test::Core;
using test::Scope;
using test::Series;

/// Kernel name and element types: "thimble::add.out", "i8".
using Label = std::pair<std::string, std::string>;

struct Case {
  ir::Graph graph;
  Dialect dialect = Dialect::kNative;
  Series inputs, expected;
  std::string repeat;  // generator and seed that reproduce the graph
};

struct Compiled {
  engine::Lowered lowered;
  Bytes pte;
  std::vector<Label> labels;
};

std::optional<Compiled> compile(const ir::Graph& graph, Dialect dialect, std::string_view name) {
  const engine::Core& target = **engine::find_core(name);
  auto lowered = target.lower(graph, target, {dialect});
  if (!lowered.ok()) return {};  // refused
  auto emitted = emit::write_program(*lowered, memory::plan_memory(*lowered), target, {dialect});
  EXPECT_TRUE(emitted.ok()) << (emitted.ok() ? "" : emitted.error().message);
  if (!emitted.ok()) return {};
  Compiled compiled = {std::move(*lowered), std::move(emitted->bytes), {}};
  for (const engine::KernelCall& call : compiled.lowered.calls) {
    compiled.labels.emplace_back(abi::info(call.op).name,
                                 engine::call_types(compiled.lowered, call));
  }
  return compiled;
}

/// One core per instruction set. Each instruction set has packed kernel variants of its own.
constexpr std::string_view kInstructionSets[] = {"cortex-m55", "cortex-m4", "cortex-m3",
                                                 "cortex-m0plus"};

/// Returns the labels of all kernel calls of the graph, on all cores; empty if it is refused.
std::vector<Label> labels_of(const ir::Graph& graph, Dialect dialect) {
  std::vector<Label> labels;
  for (const std::string_view name : kInstructionSets) {
    const engine::Core& target = **engine::find_core(name);
    const auto lowered = target.lower(graph, target, {dialect});
    if (!lowered.ok()) return {};
    for (const engine::KernelCall& call : lowered->calls) {
      labels.emplace_back(abi::info(call.op).name, engine::call_types(*lowered, call));
    }
    if (dialect == Dialect::kStock) break;  // stock calls are the same on every core
  }
  return labels;
}

/// Keeps a graph if it calls a kernel that few of the graphs kept so far call.
class Collector {
 public:
  void offer(ir::Graph graph, Dialect dialect, uint64_t seed, const std::string& repeat) {
    const std::vector<Label> labels = labels_of(graph, dialect);
    constexpr int kGraphsPerLabel = 20;
    const bool wanted = std::ranges::any_of(
        labels, [&](const Label& label) { return found_[label] < kGraphsPerLabel; });
    if (!wanted) return;
    Case one = {std::move(graph), dialect, {}, {}, repeat + " " + std::to_string(seed)};
    constexpr size_t kCallsWithState = 3;
    while (one.inputs.size() < (one.graph.states().empty() ? 1 : kCallsWithState)) {
      one.inputs.push_back(test::random_inputs(one.graph, seed + one.inputs.size()));
    }
    auto expected = test::run_on_evaluator(one.graph, one.inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().message;
    one.expected = std::move(*expected);
    for (const Label& label : labels) ++found_[label];
    cases_.push_back(std::move(one));
  }

  [[nodiscard]] const std::map<Label, int>& found() const { return found_; }
  [[nodiscard]] const std::vector<Case>& cases() const { return cases_; }

 private:
  std::map<Label, int> found_;
  std::vector<Case> cases_;
};

/// Repeats along the last dimension, where a vector reads one byte many times.
std::vector<ir::Graph> repeats() {
  std::vector<ir::Graph> graphs;
  for (const ir::DType dtype : {ir::DType::kI8, ir::DType::kBool, ir::DType::kI32}) {
    for (const int64_t count : {3, 16, 40}) {
      ir::Graph graph;
      const ir::ValueId x = graph.add_input("x", {dtype, {3, 1}, {}, {}});
      const auto y =
          graph.add(ir::OpKind::expand, {x}, {{ir::attr::shape, std::vector<int64_t>{3, count}}});
      EXPECT_TRUE(y.ok());
      graph.add_output(*y);
      graphs.push_back(std::move(graph));
    }
  }
  return graphs;
}

/// Operators whose shapes the packed forms of abi/packed_ops.h support, with parameters that they
/// do not support.
std::vector<ir::Graph> graphs_without_packed_form() {
  std::vector<ir::Graph> graphs;
  const auto codes = [](ir::Graph& graph) {
    return graph.add_input("x", {ir::DType::kI8, {2, 7}, {}, {}});
  };
  const auto finish = [&](ir::Graph graph, Result<ir::ValueId> result) {
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    if (!result.ok()) return;
    graph.add_output(*result);
    graphs.push_back(std::move(graph));
  };
  constexpr int32_t kHalfMult = 1 << 30;
  constexpr int64_t kHalf = kHalfMult;
  // y_shift 1: the result is not divided. y_shift -18: as the quantizer emits it, one operand is
  // scaled by one half.
  for (const int64_t y_shift : {1, -18}) {
    ir::Graph add;
    const ir::Attrs sum = {{ir::attr::a_zp, int64_t{3}},    {ir::attr::a_mult, kHalf},
                           {ir::attr::a_shift, int64_t{0}}, {ir::attr::b_zp, int64_t{-4}},
                           {ir::attr::b_mult, kHalf},       {ir::attr::b_shift, int64_t{-1}},
                           {ir::attr::y_zp, int64_t{5}},    {ir::attr::y_mult, kHalf},
                           {ir::attr::y_shift, y_shift},    {ir::attr::min, int64_t{-128}},
                           {ir::attr::max, int64_t{127}}};
    const std::vector<ir::ValueId> terms = {codes(add), codes(add)};
    auto added = add.add(ir::OpKind::qadd, terms, sum);
    finish(std::move(add), std::move(added));
  }
  // The zero point shifted left does not fit in 32 bits.
  ir::Graph mul;
  const ir::Attrs product = {{ir::attr::a_zp, int64_t{3}},    {ir::attr::b_zp, int64_t{-4}},
                             {ir::attr::y_zp, int64_t{100}},  {ir::attr::mult, kHalf},
                             {ir::attr::shift, int64_t{-30}}, {ir::attr::min, int64_t{-128}},
                             {ir::attr::max, int64_t{127}}};
  const std::vector<ir::ValueId> factors = {codes(mul), codes(mul)};
  auto multiplied = mul.add(ir::OpKind::qmul, factors, product);
  finish(std::move(mul), std::move(multiplied));
  // The scale is above 1: the shift is a left shift.
  ir::Graph linear;
  const auto constant = [&](const char* name, ir::Tensor tensor) {
    return linear.add_constant(name, std::make_shared<const ir::Tensor>(std::move(tensor)));
  };
  const std::vector<int32_t> mult = {kHalfMult}, shift = {1};
  ir::Tensor weights;
  weights.dtype = ir::DType::kI8;
  weights.shape = {3, 7};
  weights.bytes.assign(21, std::byte{0xFE});
  const std::vector<ir::ValueId> terms = {codes(linear), constant("w", std::move(weights)),
                                          ir::kNoValue, constant("m", ir::make_i32({1}, mult)),
                                          constant("s", ir::make_i32({1}, shift))};
  auto weighed = linear.add(ir::OpKind::qlinear, terms,
                            {{ir::attr::x_zp, int64_t{3}},
                             {ir::attr::y_zp, int64_t{-4}},
                             {ir::attr::min, int64_t{-128}},
                             {ir::attr::max, int64_t{127}}});
  finish(std::move(linear), std::move(weighed));
  // Scales above 2^100 and below 2^-100.
  ir::Graph quantize;
  const ir::ValueId real = quantize.add_input("x", {ir::DType::kF32, {2, 7}, {}, {}});
  auto quantized = quantize.add(ir::OpKind::quantize, {real},
                                {{ir::attr::scale, 1e-35}, {ir::attr::zero_point, int64_t{3}}});
  finish(std::move(quantize), std::move(quantized));
  for (const ir::DType dtype : {ir::DType::kI8, ir::DType::kI16}) {
    ir::Graph dequantize;
    const ir::ValueId code = dequantize.add_input("x", {dtype, {2, 7}, {}, {}});
    auto dequantized =
        dequantize.add(ir::OpKind::dequantize, {code},
                       {{ir::attr::scale, 1e-35}, {ir::attr::zero_point, int64_t{0}}});
    finish(std::move(dequantize), std::move(dequantized));
  }
  return graphs;
}

/// Returns the graph with weights of 4 bits where an operator may have them.
ir::Graph with_int4_weights(ir::Graph graph) {
  for (ir::Op& op : graph.ops()) {
    const bool is_conv = op.kind == ir::OpKind::qconv2d && op.get(ir::attr::groups) == 1;
    if (!is_conv && op.kind != ir::OpKind::qlinear) continue;
    ir::TensorPtr& weights = graph.value(op.inputs[1]).constant;
    if (weights == nullptr || weights->dtype != ir::DType::kI8) continue;
    if (graph.type(op.inputs[0]).dtype != ir::DType::kI8) continue;
    ir::Tensor narrow = *weights;
    for (int8_t& code : narrow.data<int8_t>()) code = std::clamp<int8_t>(code, -8, 7);
    weights = std::make_shared<const ir::Tensor>(std::move(narrow));
    op.attrs.set(ir::attr::weight_bits, int64_t{4});
  }
  return graph;
}

/// Returns the graph with weights of 4 bits and a factor for each group where an operator may have
/// them.
ir::Graph with_grouped_weights(ir::Graph graph) {
  for (ir::Op& op : graph.ops()) {
    const bool is_conv = op.kind == ir::OpKind::qconv2d && op.get(ir::attr::groups) == 1;
    if (!is_conv && op.kind != ir::OpKind::qlinear) continue;
    ir::TensorPtr& weights = graph.value(op.inputs[1]).constant;
    if (weights == nullptr || weights->dtype != ir::DType::kI8) continue;
    if (graph.type(op.inputs[0]).dtype != ir::DType::kI8) continue;
    if (ir::element_count(weights->shape) != weights->shape[0] * weights->shape[1]) continue;
    ir::Tensor narrow = *weights;
    const auto codes = narrow.data<int8_t>();
    const auto terms = static_cast<size_t>(narrow.shape[1]);
    for (size_t i = 0; i < codes.size(); ++i) {
      const size_t group = i % terms / static_cast<size_t>(ir::kWeightGroup);
      const auto factor = static_cast<int>(1 + (5 * (i / terms) + 3 * group) % 15);
      codes[i] = static_cast<int8_t>(factor * (codes[i] >> 4));
    }
    weights = std::make_shared<const ir::Tensor>(std::move(narrow));
    op.attrs.set(ir::attr::weight_bits, int64_t{4});
    op.attrs.set(ir::attr::weight_group, ir::kWeightGroup);
  }
  return graph;
}

/// A convolution of an image of `size` x 2 pixels, or a linear layer of five rows if `kernel` is 0.
ir::Graph weighted_layer(test::Random& random, int64_t kernel, int64_t size, int64_t depth,
                         int64_t channels) {
  ir::Graph graph;
  const auto constant = [&](const char* name, ir::Tensor tensor) {
    return graph.add_constant(name, std::make_shared<const ir::Tensor>(std::move(tensor)));
  };
  const bool conv = kernel > 0;
  const ir::Shape x_shape = conv ? ir::Shape{1, depth, size, 2} : ir::Shape{5, depth};
  const ir::ValueId x = graph.add_input("x", {ir::DType::kI8, x_shape, {}, {}});
  const ir::Shape w_shape =
      conv ? ir::Shape{channels, depth, kernel, 1} : ir::Shape{channels, depth};
  const ir::ValueId w = constant("w", test::random_tensor(random, ir::DType::kI8, w_shape));
  const std::vector<int32_t> mult = {(1 << 30) + 12345}, shift = {-9};
  ir::Attrs attrs = {{ir::attr::x_zp, int64_t{-7}},
                     {ir::attr::y_zp, int64_t{5}},
                     {ir::attr::min, int64_t{-120}},
                     {ir::attr::max, int64_t{127}}};
  if (conv) {
    attrs.set(ir::attr::stride, std::vector<int64_t>{1, 1});
    attrs.set(ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0});
    attrs.set(ir::attr::dilation, std::vector<int64_t>{1, 1});
  }
  const auto y = graph.add(conv ? ir::OpKind::qconv2d : ir::OpKind::qlinear,
                           {x, w, ir::kNoValue, constant("m", ir::make_i32({1}, mult)),
                            constant("s", ir::make_i32({1}, shift))},
                           std::move(attrs));
  EXPECT_TRUE(y.ok()) << (y.ok() ? "" : y.error().message);
  if (y.ok()) graph.add_output(*y);
  return graph;
}

/// Linear layers and 1x1 convolutions with several groups, the last one shorter or not, and
/// convolutions with 4-bit weights that are larger than those of random graphs.
std::vector<ir::Graph> int4_layers() {
  std::vector<ir::Graph> graphs;
  test::Random random(11);
  for (const int64_t kernel : {0, 1}) {
    for (const int64_t depth : {36, 64, 100}) {
      graphs.push_back(with_grouped_weights(weighted_layer(random, kernel, 3, depth, depth / 10)));
    }
  }
  for (const int64_t channels : {8, 18}) {
    graphs.push_back(with_int4_weights(weighted_layer(random, 3, 20, 24, channels)));
  }
  return graphs;
}

const Collector& all_cases() {
  static const Collector collector = [] {
    Collector c;
    for (ir::Graph& graph : repeats()) {
      c.offer(std::move(graph), Dialect::kNative, 1, "repeat");
    }
    for (ir::Graph& graph : int4_layers()) {
      c.offer(std::move(graph), Dialect::kNative, 1, "int4 layer");
    }
    constexpr uint64_t kSeeds = 10000, kInt4Seeds = 1000;
    constexpr ir::DType kOthers[] = {ir::DType::kBool, ir::DType::kU8,  ir::DType::kI8,
                                     ir::DType::kI16,  ir::DType::kI32, ir::DType::kI64,
                                     ir::DType::kF32};
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      c.offer(test::random_integer_graph(seed, {1, false}), Dialect::kNative, seed, "int8");
      c.offer(test::random_integer_graph(seed, {1, true}), Dialect::kStock, seed, "int8, stock");
      if (seed < kInt4Seeds) {
        c.offer(with_int4_weights(test::random_integer_graph(seed, {1, false})), Dialect::kNative,
                seed, "int4 weights");
        c.offer(with_grouped_weights(test::random_integer_graph(seed, {1, false})),
                Dialect::kNative, seed, "int4 weights in groups");
      }
      c.offer(test::random_wide_graph(seed, 1), Dialect::kNative, seed, "int16");
      const ir::DType dtype = kOthers[seed % std::size(kOthers)];
      auto moved = test::random_move_graph(seed, dtype);
      if (!moved.ok()) continue;
      c.offer(std::move(*moved), Dialect::kNative, seed,
              "moved " + std::string(ir::dtype_name(dtype)));
    }
    constexpr uint64_t kSpectra = 100;
    for (uint64_t seed = 0; seed < kSpectra; ++seed) {
      c.offer(test::random_spectrum_graph(seed), Dialect::kNative, seed, "spectrum");
    }
    constexpr uint64_t kDirect = 400;
    for (uint64_t seed = 0; seed < kDirect; ++seed) {
      c.offer(test::random_direct_graph(seed), Dialect::kNative, seed, "direct");
    }
    for (ir::Graph& graph : graphs_without_packed_form()) {
      c.offer(std::move(graph), Dialect::kNative, 1, "general form");
    }
    return c;
  }();
  return collector;
}

void record(const Compiled& compiled, std::string_view processor, bool equal) {
  for (const auto& [op, types] : compiled.labels) {
    test::record_comparison(op, types, processor, Scope::kAlone, equal);
  }
}

TEST(Operators, EveryNativeOperatorIsTested) {
  std::map<std::string, std::vector<std::string>> types;
  for (const auto& [label, count] : all_cases().found()) types[label.first].push_back(label.second);
  for (const abi::PteOpInfo& op : abi::kPteOps) {
    const std::string name = op.name;
    // float_test.cpp compares operators on float32, which are not bit-exact.
    if (name.starts_with("thimble::") && !name.ends_with(".f32")) {
      EXPECT_TRUE(types.contains(name)) << name << ": no random graph calls it";
    }
  }
  EXPECT_GT(all_cases().cases().size(), types.size());
}

TEST(Operators, HostEqualsTheEvaluator) {
  for (const Case& one : all_cases().cases()) {
    for (const std::string_view name : kInstructionSets) {
      const auto compiled = compile(one.graph, one.dialect, name);
      ASSERT_TRUE(compiled) << one.repeat;
      const bool equal =
          test::run_on_host(compiled->lowered.graph, compiled->pte, one.inputs) == one.expected;
      EXPECT_TRUE(equal) << name << ", " << one.repeat << "\n" << ir::print(one.graph);
      record(*compiled, test::kHost, equal);
    }
  }
}

void append_word(Bytes& bytes, size_t word) {
  const auto value = static_cast<uint32_t>(word);
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
}

void append_padded(Bytes& bytes, ByteView piece) {
  bytes.insert(bytes.end(), piece.begin(), piece.end());
  bytes.resize(bytes.size() + (16 - piece.size() % 16) % 16);
}

/// Appends one model and its inputs in the input format of firmware/apps/series.
void append_case(Bytes& file, const Compiled& compiled, const Series& calls) {
  const ir::Graph& graph = compiled.lowered.graph;
  Bytes inputs;
  for (const auto& call : calls) {
    for (size_t i = 0; i < call.size(); ++i) {
      append_padded(inputs, ir::to_memory(call[i], graph.type(graph.inputs()[i]).dim_order));
    }
  }
  append_word(file, compiled.pte.size());
  append_word(file, calls.size());
  append_word(file, inputs.size() / calls.size());
  file.insert(file.end(), compiled.pte.begin(), compiled.pte.end());
  file.insert(file.end(), inputs.begin(), inputs.end());
}

/// Reader of the result file, from the first word on.
class Results {
 public:
  explicit Results(std::string bytes) : bytes_(std::move(bytes)) {}

  std::optional<uint32_t> word() {
    uint32_t value = 0;
    const auto piece = take(sizeof value);
    if (!piece) return {};
    std::memcpy(&value, piece->data(), sizeof value);
    return value;
  }
  std::optional<ByteView> take(size_t count) {
    if (bytes_.size() - at_ < count) return {};
    at_ += count;
    return as_byte_view(bytes_).subspan(at_ - count, count);
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

/// Returns the outputs of one model; nothing if the status is not 0 or the file is too short.
std::optional<Series> read_outputs(Results& results, const ir::Graph& graph, size_t calls) {
  const auto status = results.word(), bytes = results.word();
  EXPECT_EQ(status, 0U);
  if (status != 0U || !bytes) return {};
  Series outputs(calls);
  for (auto& call : outputs) {
    for (const ir::ValueId id : graph.outputs()) {
      const ir::Type& type = graph.type(id);
      const size_t size = type.bytes();
      const auto piece = results.take(size + (16 - size % 16) % 16);
      if (!piece) return {};
      call.push_back(
          ir::from_memory(piece->subspan(0, size), type.dtype, type.shape, type.dim_order));
    }
  }
  return outputs;
}

class OperatorsOn : public testing::TestWithParam<Core> {};

TEST_P(OperatorsOn, OutputsEqualTheEvaluator) {
  const Core& core = GetParam();
  const std::string name = core.name;
  Bytes file;
  std::vector<Compiled> models;
  for (const Case& one : all_cases().cases()) {
    auto compiled = compile(one.graph, one.dialect, name);
    ASSERT_TRUE(compiled) << one.repeat;
    append_case(file, *compiled, one.inputs);
    models.push_back(std::move(*compiled));
  }
  append_word(file, 0);
  firmware_test::write_file(name + ".cases", file);
  const auto result = firmware_test::run({firmware_test::image("series", core),
                                          core.machine,
                                          {"series", name + ".cases", name + ".results"},
                                          ""});
  ASSERT_EQ(result.exit_code, 0) << result.output;

  Results results(firmware_test::read_file(name + ".results"));
  for (size_t i = 0; i < models.size(); ++i) {
    const Case& one = all_cases().cases()[i];
    SCOPED_TRACE(one.repeat);
    const auto outputs = read_outputs(results, models[i].lowered.graph, one.inputs.size());
    const bool equal = outputs && *outputs == one.expected;
    EXPECT_TRUE(equal) << ir::print(one.graph);
    record(models[i], name, equal);
  }
  EXPECT_FALSE(results.take(1)) << "more results than models";
}

/// Cores with an image of their own; the other cores run the same code as one of these.
std::vector<Core> cores() {
  std::vector<Core> found;
  for (const Core& core : firmware_test::kCores) {
    if (std::filesystem::exists(firmware_test::image("series", core))) found.push_back(core);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(Cores, OperatorsOn, testing::ValuesIn(cores()), [](const auto& info) {
  std::string name = info.param.name;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace thimble
