// Random integer graphs through the Cortex-M targets: the evaluator's answer on the graph that went
// in equals its answer on the lowered graph, on the graph lifted from the written file, and the
// production runtime's on that file. A failure prints the seed; THIMBLE_SEED=n runs that one alone,
// THIMBLE_GRAPHS=n changes how many are tried.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "../unit/ir_random_graph.h"
#include "emit/emit.h"
#include "emit/lift.h"
#include "eval/evaluate.h"
#include "formats/pte/read.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "random_integer_graph.h"
#include "random_wide_graph.h"
#include "runtime/include/thimble.h"
#include "target/target.h"

namespace thimble {
namespace {

using target::Dialect;

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

struct alignas(16) Chunk {
  std::byte bytes[16];
};
std::vector<Chunk> aligned(std::span<const std::byte> bytes) {
  std::vector<Chunk> result(bytes.size() / 16 + 1);
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

/// Inputs or outputs of several calls, one behind the other: state goes on from call to call.
using Series = std::vector<std::vector<ir::Tensor>>;

Result<Series> run_on_evaluator(const ir::Graph& graph, const Series& calls) {
  eval::StateTensors state = eval::initial_state(graph);
  Series outputs;
  for (const auto& inputs : calls) {
    THIMBLE_TRY(auto result, eval::evaluate(graph, inputs, state));
    outputs.push_back(std::move(result));
  }
  return outputs;
}

/// One call, inputs and outputs in the graph's memory orders.
std::vector<ir::Tensor> call_host(thimble_model& model, const ir::Graph& graph,
                                  std::span<const ir::Tensor> inputs) {
  std::vector<std::vector<Chunk>> buffers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto bytes = ir::to_memory(inputs[i], graph.type(graph.inputs()[i]).dim_order);
    buffers.push_back(aligned(bytes));
    EXPECT_EQ(
        thimble_set_input(&model, static_cast<uint32_t>(i), buffers.back().data(), bytes.size()),
        0);
  }
  EXPECT_EQ(thimble_run(&model), 0);
  std::vector<ir::Tensor> outputs;
  for (uint32_t i = 0; i < thimble_output_count(&model); ++i) {
    thimble_view view = {};
    EXPECT_EQ(thimble_output(&model, i, &view), 0);
    const ir::Type& type = graph.type(graph.outputs()[i]);
    EXPECT_EQ(view.bytes, type.bytes());
    ir::DimOrder order(view.dim_order, view.dim_order + view.rank);
    EXPECT_TRUE(ir::same_memory(type.shape, order, type.dim_order));
    outputs.push_back(ir::from_memory({static_cast<const std::byte*>(view.data), view.bytes},
                                      type.dtype, type.shape, order));
  }
  return outputs;
}

Series run_on_host(const ir::Graph& graph, const Bytes& pte, const Series& calls) {
  const std::vector<Chunk> file = aligned(pte);
  thimble_needs needs = {};
  EXPECT_EQ(thimble_size(file.data(), pte.size(), thimble_all_kernels(), &needs), 0);
  std::vector<Chunk> memory((needs.arena_bytes + needs.state_bytes) / 16 + 1);
  thimble_model model;
  const thimble_status status = thimble_init(&model, file.data(), pte.size(), thimble_all_kernels(),
                                             memory.data(), needs.arena_bytes + needs.state_bytes);
  EXPECT_EQ(status, 0) << thimble_status_text(status);
  if (status != 0) return {};
  Series outputs;
  for (const auto& inputs : calls) outputs.push_back(call_host(model, graph, inputs));
  if (needs.saved_bytes == 0) return outputs;

  // Saved before the last call and restored, the model repeats it; reset, it repeats the first.
  std::vector<std::byte> saved(needs.saved_bytes);
  EXPECT_EQ(thimble_reset(&model), 0);
  for (size_t i = 0; i + 1 < calls.size(); ++i) call_host(model, graph, calls[i]);
  EXPECT_EQ(thimble_save(&model, saved.data(), saved.size()), 0);
  EXPECT_EQ(call_host(model, graph, calls.back()), outputs.back());
  EXPECT_EQ(thimble_reset(&model), 0);
  EXPECT_EQ(call_host(model, graph, calls.front()), outputs.front());
  EXPECT_EQ(thimble_restore(&model, saved.data(), saved.size()), 0);
  EXPECT_EQ(call_host(model, graph, calls.back()), outputs.back());
  return outputs;
}

using Generate = ir::Graph (*)(uint64_t seed, bool stock);

ir::Graph narrow_graph(uint64_t seed, bool stock) {
  return test::random_integer_graph(seed, {static_cast<int>(2 + seed % 9), stock});
}
ir::Graph wide_graph(uint64_t seed, bool) {
  return test::random_wide_graph(seed, static_cast<int>(2 + seed % 9));
}

/// True if the target took the graph.
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

  const target::Target& target = **target::find_target(target_name);
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

  const auto emitted = emit::emit(*lowered, emit::make_schedule(*lowered), target, {dialect});
  EXPECT_TRUE(emitted.ok()) << (emitted.ok() ? "" : emitted.error().message)
                            << ir::print(lowered->graph);
  if (!emitted.ok()) return false;
  const auto program = formats::pte::read(emitted->bytes, "test.pte");
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message);
  if (!program.ok()) return false;
  const auto lifted = emit::lift(*program);
  EXPECT_TRUE(lifted.ok()) << (lifted.ok() ? "" : lifted.error().message)
                           << ir::print(lowered->graph);
  if (!lifted.ok()) return false;
  const auto from_lifted = run_on_evaluator(*lifted, inputs);
  EXPECT_TRUE(from_lifted.ok()) << (from_lifted.ok() ? "" : from_lifted.error().message);
  if (!from_lifted.ok()) return false;
  EXPECT_EQ(*from_lifted, *from_lowered) << ir::print(lowered->graph) << ir::print(*lifted);
  EXPECT_EQ(run_on_host(lowered->graph, emitted->bytes, inputs), *from_lowered)
      << ir::print(lowered->graph);
  return true;
}

void check_many(const char* target_name, Dialect dialect, Generate generate = narrow_graph) {
  const int64_t only = from_environment("THIMBLE_SEED", -1);
  if (only >= 0) {
    check_one(static_cast<uint64_t>(only), target_name, dialect, generate);
    return;
  }
  const int64_t graphs = from_environment("THIMBLE_GRAPHS", 2000);
  int64_t taken = 0;
  for (int64_t seed = 0; seed < graphs && !testing::Test::HasFailure(); ++seed) {
    taken += check_one(static_cast<uint64_t>(seed), target_name, dialect, generate) ? 1 : 0;
  }
  // Refusals must stay the exception, or the test checks nothing.
  EXPECT_GT(taken, graphs * 8 / 10);
}

TEST(CortexMConformance, native_helium) {
  check_many("cortex-m55", Dialect::kNative);
}
TEST(CortexMConformance, native_int16) {
  check_many("cortex-m55", Dialect::kNative, wide_graph);
}
TEST(CortexMConformance, stock_helium) {
  check_many("cortex-m55", Dialect::kStock);
}
TEST(CortexMConformance, stock_dsp) {
  check_many("cortex-m4", Dialect::kStock);
}
TEST(CortexMConformance, stock_scalar) {
  check_many("cortex-m3", Dialect::kStock);
}

}  // namespace
}  // namespace thimble
