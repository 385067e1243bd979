// SPDX-License-Identifier: Apache-2.0
// Requirements of every engine, in this tree or outside of it. Single operators and random graphs
// go through partition, the engine's compiler, the file, the production runtime and the engine's
// model, and must give the reference evaluator's bytes. `thimble targets NAME` must list exactly
// the operators that the engine supports.
//
// A failure prints the variables that repeat it: THIMBLE_ENGINE=abacus THIMBLE_SEED=17.
// THIMBLE_GRAPHS=n sets the number of graphs. Without THIMBLE_ENGINE, one engine of each kind runs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "../unit/ir_random_graph.h"
#include "../unit/quant_random_network.h"
#include "driver/engines.h"
#include "emit/emit.h"
#include "engine/part.h"
#include "hostrun/host.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "quant/quantize.h"
#include "random_integer_graph.h"
#include "random_wide_graph.h"
#include "run_series.h"

namespace thimble {
namespace {

using test::Series;

std::string from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// Returns the part with the engine's name; without one, a Cortex-M55 with the engine.
engine::Part part_of(const engine::NpuName& engine) {
  auto part = engine::find_part(engine.name);
  if (part.ok()) return std::move(*part);
  engine::Part beside = *engine::find_part("cortex-m55");
  beside.engines.push_back({engine.engine, engine.name, "", "", {}});
  return beside;
}

std::vector<engine::Part> parts() {
  const std::string only = from_environment("THIMBLE_ENGINE");
  std::vector<engine::Part> parts;
  std::set<const engine::Npu*> seen;
  for (const engine::NpuName& engine : engine::all_npus()) {
    if (only.empty() ? seen.insert(engine.engine).second : engine.name == only) {
      parts.push_back(part_of(engine));
    }
  }
  EXPECT_FALSE(parts.empty()) << "no engine " << only;
  return parts;
}

/// Counts per operator of the integer graphs: offered to the engine, and run by it.
struct Tally {
  std::map<std::string, int> asked, ran;
  int delegated = 0;  // graphs of which the engine runs a part, with equal bytes
};

struct Compiled {
  ir::Graph reference_graph;  // the graph in the engines' arithmetic
  Bytes pte;
  bool is_delegated = false;  // the engine runs a part of the graph
};

/// Returns nothing if the graph cannot be compiled, which fails the test.
std::optional<Compiled> compile(const ir::Graph& graph, const engine::Part& part, Tally* tally) {
  auto split = driver::cut(graph, part, {}, /*keep_small=*/true);
  EXPECT_TRUE(split.ok()) << split.error().message;
  if (!split.ok()) return {};
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const std::string op(ir::op_name(graph.ops()[i].kind));
    ++tally->asked[op];
    if (split->subgraph_of[i] >= 0) ++tally->ran[op];
  }
  Compiled compiled;
  auto reference_graph = partition::inline_subgraphs(split->graph, split->subgraphs);
  EXPECT_TRUE(reference_graph.ok()) << reference_graph.error().message;
  if (!reference_graph.ok()) return {};
  compiled.reference_graph = std::move(*reference_graph);
  auto lowered = part.cpu->lower(split->graph, *part.cpu, {});
  EXPECT_TRUE(lowered.ok()) << lowered.error().message;
  if (!lowered.ok()) return {};
  const auto memory_plan = driver::compile_subgraphs(split->subgraphs, {}, &*lowered);
  EXPECT_TRUE(memory_plan.ok()) << memory_plan.error().message;
  if (!memory_plan.ok()) return {};
  auto emitted = emit::write_program(*lowered, *memory_plan, *part.cpu, {});
  EXPECT_TRUE(emitted.ok()) << emitted.error().message;
  if (!emitted.ok()) return {};
  compiled.is_delegated = !split->subgraphs.empty();
  compiled.pte = std::move(emitted->bytes);
  return compiled;
}

Series inputs_of(const ir::Graph& graph, uint64_t seed) {
  constexpr size_t kCallsWithState = 3;
  Series inputs;
  while (inputs.size() < (graph.states().empty() ? 1 : kCallsWithState)) {
    inputs.push_back(test::random_inputs(graph, seed + inputs.size()));
  }
  return inputs;
}

/// Runs the graph in the reference evaluator and in the production runtime, and compares the bytes.
void check_one(const ir::Graph& graph, uint64_t seed, const engine::Part& part, Tally* tally) {
  const std::string repeat =
      fmt::format("THIMBLE_ENGINE={} THIMBLE_SEED={}", part.engines[0].name, seed);
  SCOPED_TRACE(repeat + "\n" + ir::print(graph));
  const auto compiled = compile(graph, part, tally);
  if (!compiled) return;
  const Series inputs = inputs_of(graph, seed);
  const auto expected = test::run_on_evaluator(compiled->reference_graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  auto model = hostrun::HostModel::load(compiled->pte, "test.pte");
  ASSERT_TRUE(model.ok()) << model.error().message;
  for (size_t call = 0; call < inputs.size(); ++call) {
    const auto outputs = model->run(inputs[call]);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    ASSERT_TRUE(*outputs == (*expected)[call]) << "call " << call;
  }
  tally->delegated += compiled->is_delegated ? 1 : 0;
}

ir::Tensor random_codes(const ir::Shape& shape, std::mt19937_64& random) {
  ir::Tensor tensor = ir::zeros(ir::DType::kI8, shape);
  for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(random() >> 40);
  return tensor;
}

/// Two 1 x 1 convolutions, one with a multiplier per channel, and the maximum of both results. They
/// are common in networks and rare in the other random graphs.
ir::Graph pointwise_graph(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  ir::Graph graph;
  const int64_t in = between(1, 20), out = between(1, 20);
  const ir::Quant quant = ir::per_tensor(0.05, static_cast<int32_t>(between(-20, 20)));
  const ir::Shape image = {between(1, 2), in, between(1, 6), between(1, 6)};
  const ir::ValueId x = graph.add_input("x", {ir::DType::kI8, image, {}, quant});
  std::vector<ir::ValueId> results;
  for (const bool each : {true, false}) {
    const std::string name = each ? "each" : "all";
    std::vector<int32_t> mult, shift, bias;
    for (int64_t o = 0; o < (each ? out : 1); ++o) {
      mult.push_back(static_cast<int32_t>(between(1 << 30, INT32_MAX)));
      shift.push_back(static_cast<int32_t>(between(-12, -6)));
    }
    for (int64_t o = 0; o < out; ++o) bias.push_back(static_cast<int32_t>(between(-9999, 9999)));
    const auto constant = [&](const char* what, ir::Tensor tensor) {
      return graph.add_constant(name + what, std::make_shared<ir::Tensor>(std::move(tensor)), {});
    };
    const auto count = static_cast<int64_t>(mult.size());
    results.push_back(*graph.add(ir::OpKind::qconv2d,
                                 {x, constant("_w", random_codes({out, in, 1, 1}, random)),
                                  each ? constant("_b", ir::make_i32({out}, bias)) : ir::kNoValue,
                                  constant("_mult", ir::make_i32({count}, mult)),
                                  constant("_shift", ir::make_i32({count}, shift))},
                                 {{ir::attr::stride, std::vector<int64_t>{1, 1}},
                                  {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                                  {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                                  {ir::attr::x_zp, int64_t{quant.zero_point[0]}},
                                  {ir::attr::y_zp, int64_t{quant.zero_point[0]}},
                                  {ir::attr::min, between(-128, -50)},
                                  {ir::attr::max, between(50, 127)}},
                                 {}, {name, {}, quant}));
  }
  graph.add_output(*graph.add(ir::OpKind::maximum, results, {}, {}, {"y", {}, quant}));
  return graph;
}

/// Operators that are rare in random networks: slopes per channel, padding of channels, and a
/// product of activations.
constexpr const char* kRareOperators = R"(
  input %x: f32[1,4,5,6]
  const %slopes: f32[4,1,1] = 0x0000803e0000003f...
  %a: f32[1,4,5,6] = prelu(%x, %slopes)
  %padded: f32[1,7,5,6] = pad(%a) {before=[0,1,0,0], after=[0,2,0,0]}
  %rows: f32[1,4,30] = reshape(%a) {shape=[1,4,30]}
  %products: f32[1,4,4] = matmul(%rows, %rows) {transpose_b=1, scale=0.1}
  output %padded
  output %products)";

/// Returns a float network, quantized with the engine's preferences. Its scales and zero points are
/// those of a real network, which an engine with its own arithmetic may require.
ir::Graph quantized_network(uint64_t seed, const engine::Npu& engine) {
  const ir::Graph made =
      seed % 80 == 0 ? test::parsed(kRareOperators) : test::random_network(seed, 8);
  const auto network = passes::run_float_passes(made);
  EXPECT_TRUE(network.ok()) << network.error().message;
  if (!network.ok()) return {};
  quant::QuantSpec spec;
  if (engine.preferences != nullptr) {
    spec.symmetric_products = engine.preferences->symmetric_products;
    spec.tables.assign(engine.preferences->tables.begin(), engine.preferences->tables.end());
  }
  quant::QuantizeOptions options;
  options.io = quant::Io::kInt8;
  auto model =
      quant::quantize(*network, test::random_calibration(*network, seed, 4), spec, options);
  EXPECT_TRUE(model.ok()) << model.error().message;
  return model.ok() ? std::move(model->graph) : ir::Graph();
}

/// Random graphs of one operator each, then of several.
void check_many(const engine::Part& part, Tally* tally) {
  const std::string only = from_environment("THIMBLE_SEED");
  const std::string count = from_environment("THIMBLE_GRAPHS");
  const uint64_t graphs = count.empty() ? 1500 : std::strtoull(count.c_str(), nullptr, 10);
  const uint64_t first = only.empty() ? 0 : std::strtoull(only.c_str(), nullptr, 10);
  const uint64_t end = only.empty() ? graphs : first + 1;
  for (uint64_t seed = first; seed < end && !testing::Test::HasFatalFailure(); ++seed) {
    const int ops = seed % 3 == 0 ? static_cast<int>(2 + seed % 7) : 1;
    check_one(test::random_integer_graph(seed, {ops, false}), seed, part, tally);
    if (seed % 8 == 0) check_one(pointwise_graph(seed), seed, part, tally);
    if (seed % 4 == 0) check_one(test::random_wide_graph(seed, ops), seed, part, tally);
    if (seed % 8 == 0)
      check_one(quantized_network(seed, *part.engines[0].engine), seed, part, tally);
  }
}

TEST(Engines, OutputsEqualReferenceEvaluator) {
  for (const engine::Part& part : parts()) {
    const engine::PartNpu& use = part.engines[0];
    Tally tally;
    check_many(part, &tally);
    if (HasFatalFailure()) return;
    if (!from_environment("THIMBLE_SEED").empty()) continue;
    std::printf("%s: %d\n", use.name.c_str(), tally.delegated);
    if (from_environment("THIMBLE_GRAPHS").empty()) {
      EXPECT_GE(tally.delegated, 250) << "graphs that " << use.name << " ran in part";
    }
    if (use.engine->supported == nullptr) continue;
    std::set<std::string> listed;
    for (const engine::OpSupport& row : use.engine->supported(use)) listed.insert(row.op);
    for (const auto& [op, times] : tally.ran) {
      EXPECT_TRUE(listed.contains(op)) << use.name << " runs " << op << " but does not list it";
    }
    for (const std::string& op : listed) {
      constexpr int kOften = 50;  // with 50 refusals, the operator is not supported
      EXPECT_TRUE(tally.ran[op] > 0 || tally.asked[op] < kOften)
          << use.name << " lists " << op << " but ran none of " << tally.asked[op];
    }
  }
}

TEST(Engines, EveryRefusalHasAReason) {
  for (const engine::Part& part : parts()) {
    const engine::PartNpu& use = part.engines[0];
    int refused = 0;
    for (uint64_t seed = 0; seed < 300; ++seed) {
      const ir::Graph graph = test::random_wide_graph(seed, 3);
      for (const ir::Op& op : graph.ops()) {
        const engine::Legality verdict = use.engine->legal(graph, op, use);
        EXPECT_EQ(verdict.legal, verdict.reason.empty()) << use.name << ": " << verdict.reason;
        refused += verdict.legal ? 0 : 1;
      }
    }
    EXPECT_GT(refused, 0) << use.name;
  }
}

}  // namespace
}  // namespace thimble
