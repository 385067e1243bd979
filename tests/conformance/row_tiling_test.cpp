// SPDX-License-Identifier: Apache-2.0
// Row tiling, and buffers that alias or overlap. On random image networks, for every range of
// operators and several tile heights, the evaluator's result on the tiled graph equals its result
// on the input graph. So does the production runtime's result; its arena is refilled before every
// run. A failure prints the seed; THIMBLE_SEED=n runs that seed alone.

#include "memory/row_tiling.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "../unit/ir_random_graph.h"
#include "emit/decompile.h"
#include "emit/emit.h"
#include "engine/engine.h"
#include "formats/pte/read.h"
#include "ir/print.h"
#include "memory/budget.h"
#include "memory/buffer_aliasing.h"
#include "run_series.h"

namespace thimble {
namespace {

using ir::OpKind;
using ir::ValueId;
using memory::RowTiling;

/// Convolutions, poolings and additions of images with few rows; channels are multiples of 16.
class Network {
 public:
  explicit Network(uint64_t seed) : random_(seed) {
    graph_.name = "forward";
    const int64_t height = random_.between(8, 20), width = random_.between(3, 9);
    values_ = {graph_.add_input("x", image({1, 16 * random_.between(1, 2), height, width}))};
    for (int64_t ops = random_.between(2, 7); ops > 0; --ops) step();
    graph_.add_output(values_.back());
  }
  ir::Graph take() { return std::move(graph_); }

 private:
  static ir::Type image(ir::Shape shape) {
    ir::Type type;
    type.dtype = ir::DType::kI8;
    type.shape = std::move(shape);
    type.quant = ir::per_tensor(0.5, 3);
    return type;
  }
  void keep(Result<ValueId> value) {
    ASSERT_TRUE(value.ok()) << value.error().message;
    values_.push_back(*value);
  }

  void step() {
    const ValueId x = values_.back();
    const ir::Shape shape = graph_.type(x).shape;
    const int64_t kind = std::min(shape[2], shape[3]) < 3 ? 0 : random_.between(0, 5);
    if (kind <= 1) return conv(x, shape[1] * random_.between(1, 2), 1, 1, 1);
    if (kind == 2) return conv(x, shape[1], 3, random_.between(1, 2), shape[1]);
    if (kind == 3) return conv(x, 16, random_.between(1, 3), 1, 1);
    if (kind == 4 && shape[2] > 4) return pool(x);
    for (size_t i = values_.size() - 1; i-- > 0;) {
      if (graph_.type(values_[i]).shape == shape) return add(values_[i], x);
    }
    conv(x, shape[1], 3, 1, 1);
  }

  ValueId constant(ir::DType dtype, const ir::Shape& shape) {
    ir::Tensor tensor = ir::zeros(dtype, shape);
    if (dtype == ir::DType::kI8) tensor = test::random_tensor(random_, dtype, shape);
    return graph_.add_constant("c", std::make_shared<const ir::Tensor>(std::move(tensor)));
  }
  ValueId numbers(int64_t count, int64_t low, int64_t high) {
    std::vector<int32_t> values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(static_cast<int32_t>(random_.between(low, high)));
    }
    return graph_.add_constant("n",
                               std::make_shared<const ir::Tensor>(ir::make_i32({count}, values)));
  }

  void conv(ValueId x, int64_t out, int64_t kernel, int64_t stride, int64_t groups) {
    const int64_t in = graph_.type(x).shape[1];
    const int64_t before = random_.between(0, kernel - 1), after = random_.between(0, kernel - 1);
    const ValueId weights = constant(ir::DType::kI8, {out, in / groups, kernel, kernel});
    const ValueId bias = numbers(out, -1000, 1000);
    const ValueId mult = numbers(out, 1 << 30, INT32_MAX);
    const ValueId shift = numbers(out, -9, -6);
    ir::Graph::ResultHint hint;
    hint.quant = ir::per_tensor(0.5, 3);
    keep(graph_.add(OpKind::qconv2d, {x, weights, bias, mult, shift},
                    {{ir::attr::stride, std::vector<int64_t>{stride, stride}},
                     {ir::attr::padding, std::vector<int64_t>{before, before, after, after}},
                     {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                     {ir::attr::groups, groups},
                     {ir::attr::x_zp, int64_t{3}},
                     {ir::attr::y_zp, int64_t{3}},
                     {ir::attr::min, int64_t{-128}},
                     {ir::attr::max, int64_t{127}}},
                    {}, hint));
  }
  /// A window of two rows with stride 2 leaves out the last row of an image of odd height.
  void pool(ValueId x) {
    const int64_t rows = random_.between(2, 3);
    keep(graph_.add(OpKind::max_pool2d, {x},
                    {{ir::attr::kernel, std::vector<int64_t>{rows, 1}},
                     {ir::attr::stride, std::vector<int64_t>{random_.between(1, 2), 1}},
                     {ir::attr::padding, rows == 3 ? std::vector<int64_t>{1, 0, 1, 0}
                                                   : std::vector<int64_t>{0, 0, 0, 0}},
                     {ir::attr::dilation, std::vector<int64_t>{1, 1}}}));
  }
  void add(ValueId a, ValueId b) {
    ir::Graph::ResultHint hint;
    hint.quant = ir::per_tensor(0.5, 3);
    keep(graph_.add(OpKind::qadd, {a, b},
                    {{ir::attr::a_zp, int64_t{3}},
                     {ir::attr::a_mult, int64_t{1} << 30},
                     {ir::attr::a_shift, int64_t{0}},
                     {ir::attr::b_zp, int64_t{3}},
                     {ir::attr::b_mult, int64_t{1} << 30},
                     {ir::attr::b_shift, int64_t{0}},
                     {ir::attr::y_zp, int64_t{3}},
                     {ir::attr::y_mult, int64_t{1} << 30},
                     {ir::attr::y_shift, int64_t{-19}},
                     {ir::attr::min, int64_t{-128}},
                     {ir::attr::max, int64_t{127}}},
                    {}, hint));
  }

  test::Random random_;
  ir::Graph graph_;
  std::vector<ValueId> values_;
};

struct Coverage {
  int graphs = 0, copies_saved = 0, overlaps = 0, smaller = 0, free_inputs = 0;
};

/// Returns the arena size in bytes of the compiled graph; -1 after a failure.
int64_t check_file(const ir::Graph& graph, const test::Series& inputs, const test::Series& expected,
                   bool owns_inputs, Coverage* seen) {
  const engine::Core& target = **engine::find_core("cortex-m4");
  auto lowered = target.lower(graph, target, {});
  EXPECT_TRUE(lowered.ok()) << lowered.error().message;
  if (!lowered.ok()) return -1;
  lowered->owns_inputs = owns_inputs;
  const engine::Lowered placed = memory::remove_copies(*lowered);
  seen->copies_saved += static_cast<int>(lowered->calls.size() - placed.calls.size());
  const memory::MemoryPlan memory_plan = memory::plan_memory(placed);
  std::vector<memory::Buffer> buffers;
  for (const memory::ArenaRange& range : memory_plan.ranges) buffers.push_back(range.buffer);
  EXPECT_TRUE(memory::is_valid(buffers, memory_plan.placement, memory_plan.overlaps));
  seen->overlaps += memory::is_valid(buffers, memory_plan.placement) ? 0 : 1;
  const auto emitted = emit::write_program(placed, memory_plan, target, {});
  EXPECT_TRUE(emitted.ok()) << emitted.error().message;
  if (!emitted.ok()) return -1;
  const auto program = formats::pte::read(emitted->bytes, "tiled.pte");
  EXPECT_TRUE(program.ok());
  if (!program.ok()) return -1;
  const auto decompiled = emit::decompile(*program);
  EXPECT_TRUE(decompiled.ok()) << decompiled.error().message;
  if (!decompiled.ok()) return -1;
  const auto from_lifted = test::run_on_evaluator(*decompiled, inputs);
  EXPECT_TRUE(from_lifted.ok() && *from_lifted == expected) << ir::print(*decompiled);
  const bool same = test::run_on_host(placed.graph, emitted->bytes, inputs) == expected;
  EXPECT_TRUE(same) << ir::print(graph);
  return same ? memory_plan.placement.peak_bytes : -1;
}

void check(uint64_t seed, Coverage* seen) {
  SCOPED_TRACE("THIMBLE_SEED=" + std::to_string(seed));
  const ir::Graph graph = Network(seed).take();
  const test::Series inputs = {test::random_inputs(graph, seed)};
  const auto expected = test::run_on_evaluator(graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  const int64_t whole = check_file(graph, inputs, *expected, /*owns_inputs=*/false, seen);
  const int64_t with_inputs = check_file(graph, inputs, *expected, /*owns_inputs=*/true, seen);
  ASSERT_GE(with_inputs, 0);
  seen->free_inputs += with_inputs == whole ? 1 : 0;
  for (const int64_t part : {2, 3, 5}) {
    const auto within =
        memory::lower_within_budget(graph, **engine::find_core("cortex-m4"), {}, whole / part);
    ASSERT_TRUE(within.ok()) << within.error().message;
    const auto answer = test::run_on_evaluator(within->lowered.graph, inputs);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    ASSERT_EQ(*answer, *expected) << ir::print(within->lowered.graph);
  }
  const auto count = static_cast<int>(graph.ops().size());
  for (int first = 0; first < count; ++first) {
    for (int last = first; last < count; ++last) {
      for (const int64_t rows : {1, 2, 3, 5}) {
        const RowTiling tiling = {first, last, rows};
        if (!memory::row_tiling_cost(graph, tiling)) continue;
        SCOPED_TRACE(fmt::format("operators {} to {} by {} rows", first, last, rows));
        const auto cut = memory::apply_row_tiling(graph, std::span(&tiling, 1));
        ASSERT_TRUE(cut.ok()) << cut.error().message;
        const auto answer = test::run_on_evaluator(*cut, inputs);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        ASSERT_EQ(*answer, *expected) << ir::print(graph) << ir::print(*cut);
        ++seen->graphs;
        const int64_t bytes = check_file(*cut, inputs, *expected, /*owns_inputs=*/false, seen);
        ASSERT_GE(check_file(*cut, inputs, *expected, /*owns_inputs=*/true, seen), 0);
        ASSERT_GE(bytes, 0);
        seen->smaller += bytes < whole ? 1 : 0;
      }
    }
  }
}

TEST(RowTiling, same_answers_in_less_memory) {
  Coverage seen;
  const char* only = std::getenv("THIMBLE_SEED");
  if (only != nullptr) return check(static_cast<uint64_t>(std::atoll(only)), &seen);
  for (uint64_t seed = 0; seed < 16 && !HasFailure(); ++seed) check(seed, &seen);
  EXPECT_GT(seen.graphs, 100);
  EXPECT_GT(seen.copies_saved, 400);
  EXPECT_GT(seen.overlaps, 50);
  EXPECT_GT(seen.smaller, 20);
  EXPECT_GT(seen.free_inputs, 0);
}

/// A range that can be tiled is refused as soon as an operator after it reads an inner result, or
/// an inner result is an output of the graph.
TEST(RowTiling, refuses_what_others_read) {
  int ranges = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const ir::Graph graph = Network(seed).take();
    const auto count = static_cast<int>(graph.ops().size());
    for (int first = 0; first + 1 < count; ++first) {
      const RowTiling pair = {first, first + 1, 2};
      if (!memory::row_tiling_cost(graph, pair)) continue;
      ++ranges;
      const ValueId inner = graph.ops()[static_cast<size_t>(first)].output;
      ir::Graph with_output = graph;
      with_output.add_output(inner);
      EXPECT_FALSE(memory::row_tiling_cost(with_output, pair))
          << "seed " << seed << " at " << first;
      ir::Graph with_reader = graph;
      const auto copy = with_reader.add(OpKind::copy, {inner}, {});
      ASSERT_TRUE(copy.ok()) << copy.error().message;
      EXPECT_FALSE(memory::row_tiling_cost(with_reader, pair))
          << "seed " << seed << " at " << first;
      // A reader of the last result does not matter.
      ir::Graph with_last_reader = graph;
      const ValueId last = graph.ops()[static_cast<size_t>(first) + 1].output;
      ASSERT_TRUE(with_last_reader.add(OpKind::copy, {last}, {}).ok());
      EXPECT_TRUE(memory::row_tiling_cost(with_last_reader, pair)) << "seed " << seed;
    }
  }
  EXPECT_GE(ranges, 120) << "ranges that can be tiled";
}

}  // namespace
}  // namespace thimble
