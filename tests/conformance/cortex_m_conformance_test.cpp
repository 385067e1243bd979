// SPDX-License-Identifier: Apache-2.0
// Random integer graphs through the Cortex-M cores. The reference evaluator's result on the input
// graph must equal its result on the lowered graph, its result on the graph decompiled from the
// written file, and the production runtime's result on that file. A failure prints the seed;
// THIMBLE_SEED=n runs that seed alone, THIMBLE_GRAPHS=n sets the number of graphs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "../unit/ir_random_graph.h"
#include "abi/limits.h"
#include "abi/pte_ops.h"
#include "emit/decompile.h"
#include "emit/emit.h"
#include "engine/engine.h"
#include "formats/pte/read.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "memory/buffer_aliasing.h"
#include "random_integer_graph.h"
#include "random_wide_graph.h"
#include "run_series.h"
#include "tests/matrix/ledger.h"

namespace thimble {
namespace {

using engine::Dialect;
using test::run_on_evaluator;
using test::run_on_host;
using test::Series;

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

using Generate = ir::Graph (*)(uint64_t seed, bool stock);

ir::Graph narrow_graph(uint64_t seed, bool stock) {
  return test::random_integer_graph(seed, {static_cast<int>(2 + seed % 9), stock});
}
ir::Graph wide_graph(uint64_t seed, bool) {
  return test::random_wide_graph(seed, static_cast<int>(2 + seed % 9));
}

/// The file, read back and run, says the same.
bool check_file(const engine::Lowered& lowered, const Series& inputs, const Series& expected,
                const engine::Core& target, Dialect dialect) {
  const std::string text = ir::print(lowered.graph);
  SCOPED_TRACE(lowered.owns_inputs ? "inputs in the arena" : "inputs of the caller");
  const engine::Lowered placed =
      dialect == Dialect::kNative ? memory::remove_copies(lowered) : lowered;
  const auto emitted = emit::write_program(placed, memory::plan_memory(placed), target, {dialect});
  EXPECT_TRUE(emitted.ok()) << (emitted.ok() ? "" : emitted.error().message) << text;
  if (!emitted.ok()) return false;
  const auto program = formats::pte::read(emitted->bytes, "test.pte");
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message);
  if (!program.ok()) return false;
  const auto decompiled = emit::decompile(*program);
  EXPECT_TRUE(decompiled.ok()) << (decompiled.ok() ? "" : decompiled.error().message) << text;
  if (!decompiled.ok()) return false;
  const auto from_lifted = run_on_evaluator(*decompiled, inputs);
  EXPECT_TRUE(from_lifted.ok()) << (from_lifted.ok() ? "" : from_lifted.error().message);
  if (!from_lifted.ok()) return false;
  EXPECT_EQ(*from_lifted, expected) << text << ir::print(*decompiled);
  const bool equal = run_on_host(lowered.graph, emitted->bytes, inputs) == expected;
  EXPECT_TRUE(equal) << text;
  return equal && *from_lifted == expected;
}

/// Returns true if a value has an order other than the two of ExecuTorch's copies. A compiler that
/// writes the file of such a graph gives the value the standard order.
bool has_other_order(const ir::Graph& graph) {
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const ir::DimOrder& order = graph.value(static_cast<ir::ValueId>(i)).type.dim_order;
    if (!order.empty() && order != ir::channels_last_order()) return true;
  }
  return false;
}

/// Returns true if the core accepts the graph.
bool check_one(uint64_t seed, const char* target_name, Dialect dialect, Generate generate) {
  const bool stock = dialect == Dialect::kStock;
  const ir::Graph graph = generate(seed, stock);
  const std::string repeat =
      "THIMBLE_SEED=" + std::to_string(seed) + " on " + target_name + (stock ? ", stock" : "");
  SCOPED_TRACE(repeat);
  EXPECT_TRUE(ir::verify(graph).ok());
  Series inputs;
  constexpr size_t kCallsWithState = 3;
  while (inputs.size() < (graph.states().empty() ? 1 : kCallsWithState)) {
    inputs.push_back(test::random_inputs(graph, seed + inputs.size()));
  }
  const auto expected = run_on_evaluator(graph, inputs);
  EXPECT_TRUE(expected.ok()) << (expected.ok() ? "" : expected.error().message);
  if (!expected.ok()) return false;

  const engine::Core& target = **engine::find_core(target_name);
  const auto lowered = target.lower(graph, target, {dialect});
  if (!lowered.ok()) {
    EXPECT_EQ(lowered.error().kind, ErrorKind::kUnsupported) << lowered.error().message << "\n"
                                                             << ir::print(graph);
    return false;
  }
  EXPECT_TRUE(ir::verify(lowered->graph).ok());
  const auto from_lowered = run_on_evaluator(lowered->graph, inputs);
  EXPECT_TRUE(from_lowered.ok()) << (from_lowered.ok() ? "" : from_lowered.error().message);
  if (!from_lowered.ok()) return false;
  EXPECT_EQ(*from_lowered, *expected) << ir::print(graph) << ir::print(lowered->graph);

  if (dialect == Dialect::kStockAndNative && has_other_order(lowered->graph)) return true;
  bool equal = check_file(*lowered, inputs, *from_lowered, target, dialect);
  engine::Lowered owner = *lowered;
  owner.owns_inputs = true;
  equal &= check_file(owner, inputs, *from_lowered, target, dialect);
  for (const engine::KernelCall& call : lowered->calls) {
    test::record_comparison(abi::info(call.op).name, engine::call_types(*lowered, call),
                            test::kHost, test::Scope::kGraph, equal);
  }
  return true;
}

void check_many(const char* target_name, Dialect dialect, Generate generate = narrow_graph,
                int64_t most = 2000) {
  const int64_t only = from_environment("THIMBLE_SEED", -1);
  if (only >= 0) {
    check_one(static_cast<uint64_t>(only), target_name, dialect, generate);
    return;
  }
  const int64_t graphs = from_environment("THIMBLE_GRAPHS", most);
  int64_t taken = 0;
  for (int64_t seed = 0; seed < graphs && !testing::Test::HasFailure(); ++seed) {
    taken += check_one(static_cast<uint64_t>(seed), target_name, dialect, generate) ? 1 : 0;
  }
  // If many graphs were refused, the test would check almost nothing.
  EXPECT_GT(taken, graphs * 7 / 10);
}

TEST(CortexMConformance, NativeHelium) {
  check_many("cortex-m55", Dialect::kNative);
}
TEST(CortexMConformance, NativeInt16) {
  check_many("cortex-m55", Dialect::kNative, wide_graph);
}
TEST(CortexMConformance, StockHelium) {
  check_many("cortex-m55", Dialect::kStock);
}
TEST(CortexMConformance, StockDsp) {
  check_many("cortex-m4", Dialect::kStock);
}
TEST(CortexMConformance, StockScalar) {
  check_many("cortex-m3", Dialect::kStock);
}

TEST(CortexMConformance, StockAndNative) {
  check_many("cortex-m55", Dialect::kStockAndNative, narrow_graph, 500);
}

/// Returns the number of `expand` after lowering a product of an image and a gate of each channel.
int expands_of_gate(Dialect dialect, const std::string& image) {
  const std::string text =
      "graph @gate {\ninput %x: i8[1,8,4,4] quant(0.5, 3)\ninput %g: i8[1,8,1,1] quant(0.25, 1)\n" +
      image +
      "%y: i8[1,8,4,4] quant(0.25, -3) = qmul(%image, %g) {a_zp=3, b_zp=1, y_zp=-3, "
      "mult=1073741824, shift=-4, min=-128, max=127}\noutput %y\n}\n";
  const auto graph = ir::parse(text, "gate");
  EXPECT_TRUE(graph.ok()) << graph.error().message;
  const auto core = engine::find_core("cortex-m55");
  EXPECT_TRUE(core.ok());
  const auto lowered = (*core)->lower(*graph, **core, {dialect});
  EXPECT_TRUE(lowered.ok()) << lowered.error().message;
  return static_cast<int>(
      std::ranges::count(lowered->graph.ops(), ir::OpKind::expand, &ir::Op::kind));
}

TEST(CortexMConformance, StockKernelsReadOneElementPerChannelOfImages) {
  const std::string pool =
      "%image: i8[1,8,4,4] quant(0.5, 3) = max_pool2d(%x) {kernel=[1,1], stride=[1,1], "
      "padding=[0,0,0,0], dilation=[1,1]}\n";
  const std::string contiguous =
      "%t: i8[128] quant(0.5, 3) = reshape(%x) {shape=[128]}\n"
      "%image: i8[1,8,4,4] quant(0.5, 3) = reshape(%t) {shape=[1,8,4,4]}\n";
  EXPECT_EQ(expands_of_gate(Dialect::kStock, pool), 0);
  EXPECT_EQ(expands_of_gate(Dialect::kStockAndNative, pool), 0);
  EXPECT_EQ(expands_of_gate(Dialect::kNative, pool), 0);
  EXPECT_EQ(expands_of_gate(Dialect::kStock, contiguous), 1);
}

/// A sum of `products`, for a core: refused, or made into a file that the runtime takes.
Result<engine::Lowered> lower_sum(int64_t products) {
  const std::string text = fmt::format(
      "graph @long_sum {{\n"
      "input %x: i8[1,{0}] quant(0.5, 3)\n"
      "const %w: i8[2,{0}] = 0x05f0...\n"
      "const %m: i32[1] = 0x00000040\n"
      "const %s: i32[1] = 0xf0ffffff\n"
      "%y: i8[1,2] quant(0.5, 3) = qlinear(%x, %w, _, %m, %s) {{x_zp=3, y_zp=3, min=-128, "
      "max=127}}\n"
      "output %y\n}}\n",
      products);
  THIMBLE_TRY(const ir::Graph graph, ir::parse(text, "long_sum"));
  THIMBLE_TRY(const engine::Core* core, engine::find_core("cortex-m4"));
  return core->lower(graph, *core, {});
}

TEST(CortexMConformance, SumsBeyond32BitsAreRefused) {
  EXPECT_TRUE(lower_sum(abi::kMaxAccumulations).ok());
  const auto refused = lower_sum(abi::kMaxAccumulations + 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(refused.error().message.find("sums 65794 products"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace thimble
