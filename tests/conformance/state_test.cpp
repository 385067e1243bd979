// SPDX-License-Identifier: Apache-2.0
// A streaming convolution in two variants: its past as an explicit input and output that is passed
// from call to call, and as a state that the model keeps. Both give the same quantized values, from
// calibration to the runtime.

#include <gtest/gtest.h>

#include "../unit/ir_random_graph.h"
#include "emit/decompile.h"
#include "emit/emit.h"
#include "engine/engine.h"
#include "eval/evaluate.h"
#include "formats/pte/read.h"
#include "hostrun/host.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "quant/quantize.h"

namespace thimble {
namespace {

using engine::Dialect;
using ir::Graph;
using ir::Tensor;

constexpr int64_t kCalls = 24;
constexpr int64_t kChannels = 3, kTaps = 3;

Graph parsed(const std::string& text) {
  auto graph = ir::parse(text, "state_test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  auto prepared = passes::run_float_passes(*graph);
  EXPECT_TRUE(prepared.ok());
  return *std::move(prepared);
}

std::string hex(const Tensor& tensor) {
  std::string digits = "0x";
  for (const std::byte byte : tensor.bytes) {
    digits += fmt::format("{:02x}", std::to_integer<int>(byte));
  }
  return digits;
}

/// Each call adds one new column; the past is the two columns before it.
std::string streaming(bool as_state) {
  test::Random random(7);
  const Tensor weights = test::random_tensor(random, ir::DType::kF32, {4, kChannels, 1, kTaps});
  const std::string past =
      as_state ? "state %past: f32[1,3,2] = " + hex(ir::zeros(ir::DType::kF32, {1, kChannels, 2}))
               : "input %past: f32[1,3,2]";
  const std::string next = as_state ? "update %past = %next" : "output %next";
  return fmt::format(R"(graph @forward {{
    input %x: f32[1,3,1]
    {}
    const %w: f32[4,3,1,3] = {}
    %z = concat(%past, %x) {{dim=2}}
    %next = slice(%z) {{dim=2, start=1, end=3}}
    %image = reshape(%z) {{shape=[1,3,1,3]}}
    %y = conv2d(%image, %w, _) {{stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}}
    %relu = clamp(%y) {{min=0}}
    output %relu
    {}
  }})",
                     past, hex(weights), next);
}

Tensor joined(const std::vector<Tensor>& rows) {
  Tensor all = rows[0];
  all.shape.insert(all.shape.begin(), static_cast<int64_t>(rows.size()));
  for (size_t i = 1; i < rows.size(); ++i) append(all.bytes, rows[i].bytes);
  return all;
}

std::vector<Tensor> signal() {
  test::Random random(3);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < kCalls; ++i) {
    rows.push_back(test::random_tensor(random, ir::DType::kF32, {1, kChannels, 1}));
  }
  return rows;
}

struct Compiled {
  Graph integer;
  Bytes pte;
  int64_t kept_bytes = 0;
};

Compiled compiled(const Graph& graph, const quant::CalibrationData& data, Dialect dialect) {
  Compiled result;
  quant::QuantizeOptions options;
  options.io = quant::Io::kInt8;
  auto quantized = quant::quantize(graph, data, {}, options);
  EXPECT_TRUE(quantized.ok()) << (quantized.ok() ? "" : quantized.error().message);
  result.integer = std::move(quantized->graph);
  const engine::Core& target = **engine::find_core("cortex-m55");
  auto lowered = target.lower(result.integer, target, {dialect});
  EXPECT_TRUE(lowered.ok()) << (lowered.ok() ? "" : lowered.error().message);
  const memory::MemoryPlan memory_plan = memory::plan_memory(*lowered);
  result.kept_bytes = memory_plan.state_bytes;
  auto emitted = emit::write_program(*lowered, memory_plan, target, {dialect});
  EXPECT_TRUE(emitted.ok()) << (emitted.ok() ? "" : emitted.error().message);
  result.pte = std::move(emitted->bytes);
  return result;
}

Tensor codes_of(const Tensor& real, const ir::Type& type) {
  Tensor codes = ir::zeros(ir::DType::kI8, real.shape);
  for (size_t i = 0; i < codes.bytes.size(); ++i) {
    const double code = std::nearbyint(double{real.data<float>()[i]} / type.quant->scale[0]) +
                        type.quant->zero_point[0];
    codes.data<int8_t>()[i] = static_cast<int8_t>(std::clamp(code, -128.0, 127.0));
  }
  return codes;
}

void compare(Dialect dialect) {
  const Graph with_state = parsed(streaming(true));
  const Graph explicit_one = parsed(streaming(false));
  const std::vector<Tensor> x = signal();
  // The past that a caller of the explicit variant would pass on.
  std::vector<Tensor> past = {ir::zeros(ir::DType::kF32, {1, kChannels, 2})};
  std::vector<Tensor> real;
  eval::StateTensors state = eval::initial_state(with_state);
  for (const Tensor& row : x) {
    const Tensor inputs[] = {row};
    real.push_back((*eval::evaluate(with_state, inputs, state))[0]);
    past.push_back(state[0]);
  }
  past.pop_back();
  const Compiled kept = compiled(with_state, {{{"x", joined(x)}}}, dialect);
  const Compiled carried =
      compiled(explicit_one, {{{"x", joined(x)}, {"past", joined(past)}}}, dialect);
  EXPECT_EQ(kept.kept_bytes, kChannels * 2);
  EXPECT_EQ(carried.kept_bytes, 0);

  auto host = hostrun::HostModel::load(kept.pte, "kept.pte");
  auto other = hostrun::HostModel::load(carried.pte, "carried.pte");
  ASSERT_TRUE(host.ok() && other.ok()) << (host.ok() ? "" : host.error().message);
  const auto program = formats::pte::read(kept.pte, "kept.pte");
  ASSERT_TRUE(program.ok());
  const auto decompiled = emit::decompile(*program);
  ASSERT_TRUE(decompiled.ok()) << decompiled.error().message;
  ASSERT_EQ(decompiled->states().size(), 1U);

  const ir::Type& x_type = kept.integer.type(kept.integer.inputs()[0]);
  const ir::Type& past_type = carried.integer.type(carried.integer.inputs()[1]);
  ASSERT_EQ(past_type.quant, carried.integer.type(carried.integer.outputs()[1]).quant);
  Tensor carry = codes_of(past[0], past_type);
  eval::StateTensors integer_state = eval::initial_state(kept.integer);
  eval::StateTensors lifted_state = eval::initial_state(*decompiled);
  double signal_power = 0, noise = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const Tensor inputs[] = {codes_of(x[i], x_type)};
    const auto outputs = host->run(inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    EXPECT_EQ((*outputs)[0], (*eval::evaluate(kept.integer, inputs, integer_state))[0]);
    EXPECT_EQ((*outputs)[0], (*eval::evaluate(*decompiled, inputs, lifted_state))[0]);
    const Tensor both[] = {inputs[0], carry};
    const auto others = other->run(both);
    ASSERT_TRUE(others.ok()) << others.error().message;
    EXPECT_EQ((*outputs)[0], (*others)[0]) << "call " << i;
    carry = (*others)[1];
    const ir::Quant& quant = *kept.integer.type(kept.integer.outputs()[0]).quant;
    for (size_t k = 0; k < real[i].data<float>().size(); ++k) {
      const double wanted = double{real[i].data<float>()[k]};
      const double got = quant.scale[0] * ((*outputs)[0].data<int8_t>()[k] - quant.zero_point[0]);
      signal_power += wanted * wanted;
      noise += (wanted - got) * (wanted - got);
    }
  }
  EXPECT_GT(10 * std::log10(signal_power / noise), 30);
}

TEST(State, InternalStateEqualsExplicitStateNative) {
  compare(Dialect::kNative);
}
TEST(State, InternalStateEqualsExplicitStateStock) {
  compare(Dialect::kStock);
}

TEST(State, SavesRestoresAndResets) {
  const Graph graph = parsed(streaming(true));
  const std::vector<Tensor> x = signal();
  const Compiled kept = compiled(graph, {{{"x", joined(x)}}}, Dialect::kNative);
  auto host = hostrun::HostModel::load(kept.pte, "kept.pte");
  ASSERT_TRUE(host.ok()) << host.error().message;
  const ir::Type& type = kept.integer.type(kept.integer.inputs()[0]);
  const auto call = [&](size_t i) {
    const Tensor inputs[] = {codes_of(x[i], type)};
    return (*host->run(inputs))[0];
  };
  const Tensor first = call(0), second = call(1);
  const auto saved = host->save();
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->size(), static_cast<size_t>(kChannels * 2));
  const Tensor third = call(2);
  EXPECT_NE(call(2), third) << "the past matters";
  ASSERT_TRUE(host->restore(*saved).ok());
  EXPECT_EQ(call(2), third);
  ASSERT_TRUE(host->reset().ok());
  EXPECT_EQ(call(0), first);
  EXPECT_EQ(call(1), second);
  EXPECT_FALSE(host->restore(ByteView(saved->data(), 1)).ok());
}

}  // namespace
}  // namespace thimble
