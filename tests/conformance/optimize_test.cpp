// SPDX-License-Identifier: Apache-2.0
// Kernels selected for flash size or for least scratch give the same outputs as kernels selected
// for speed. On random integer graphs, the reference evaluator's result on the input graph equals
// its result on the graph decompiled from the written file, and the production runtime's result. A
// failure prints the seed; THIMBLE_SEED=n runs that seed alone.

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "../unit/ir_random_graph.h"
#include "emit/decompile.h"
#include "emit/emit.h"
#include "engine/engine.h"
#include "formats/pte/read.h"
#include "ir/print.h"
#include "memory/buffer_aliasing.h"
#include "random_integer_graph.h"
#include "run_series.h"

namespace thimble {
namespace {

using engine::Lowered;
using test::Series;

int64_t constant_bytes(const Lowered& lowered) {
  int64_t bytes = 0;
  for (const engine::KernelCall& call : lowered.calls) {
    for (const engine::Argument& argument : call.arguments) {
      const auto* constant = std::get_if<engine::Constant>(&argument);
      if (constant != nullptr) bytes += static_cast<int64_t>(constant->bytes->size());
    }
  }
  return bytes;
}

void check_file(const Lowered& lowered, const engine::Core& target, const Series& inputs,
                const Series& expected) {
  const Lowered placed = memory::remove_copies(lowered);
  const auto emitted = emit::write_program(placed, memory::plan_memory(placed), target, {});
  ASSERT_TRUE(emitted.ok()) << emitted.error().message;
  const auto program = formats::pte::read(emitted->bytes, "optimize.pte");
  ASSERT_TRUE(program.ok());
  const auto decompiled = emit::decompile(*program);
  ASSERT_TRUE(decompiled.ok()) << decompiled.error().message;
  const auto from_lifted = test::run_on_evaluator(*decompiled, inputs);
  ASSERT_TRUE(from_lifted.ok() && *from_lifted == expected) << ir::print(*decompiled);
  ASSERT_EQ(test::run_on_host(lowered.graph, emitted->bytes, inputs), expected)
      << ir::print(lowered.graph);
}

struct Coverage {
  int64_t bytes_saved = 0;
  int other_for_flash = 0, other_for_scratch = 0;
};

void check_one(uint64_t seed, const engine::Core& target, Coverage* seen) {
  SCOPED_TRACE(fmt::format("THIMBLE_SEED={} on {}", seed, target.name));
  const ir::Graph graph = test::random_integer_graph(seed, {static_cast<int>(2 + seed % 9), false});
  const Series inputs = {test::random_inputs(graph, seed)};
  const auto expected = test::run_on_evaluator(graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.error().message;
  engine::Options options;
  options.regularize_groups = false;  // the calls of all goals are compared one by one
  const auto speed = target.lower(graph, target, options);
  if (!speed.ok()) return;

  options.optimize = engine::Optimize::kFlash;
  const auto flash = target.lower(graph, target, options);
  options.optimize = engine::Optimize::kSize;
  options.min_scratch_ops.resize(speed->graph.ops().size());
  std::iota(options.min_scratch_ops.begin(), options.min_scratch_ops.end(), 0);
  const auto min_scratch_ops = target.lower(graph, target, options);
  ASSERT_TRUE(flash.ok() && min_scratch_ops.ok());
  ASSERT_EQ(flash->calls.size(), speed->calls.size());
  // For the least memory, no operand of a product is transposed.
  if (min_scratch_ops->calls.size() < speed->calls.size()) return;
  ASSERT_EQ(min_scratch_ops->calls.size(), speed->calls.size());
  for (size_t i = 0; i < speed->calls.size(); ++i) {
    seen->other_for_flash += flash->calls[i].op != speed->calls[i].op ? 1 : 0;
    seen->other_for_scratch += min_scratch_ops->calls[i].op != speed->calls[i].op ? 1 : 0;
    ASSERT_LE(engine::scratch_bytes(min_scratch_ops->calls[i]),
              engine::scratch_bytes(speed->calls[i]));
  }
  const int64_t saved = constant_bytes(*speed) - constant_bytes(*flash);
  ASSERT_GE(saved, 0);
  seen->bytes_saved += saved;
  check_file(*flash, target, inputs, *expected);
  check_file(*min_scratch_ops, target, inputs, *expected);
}

void check_many(std::string_view name) {
  const engine::Core& target = **engine::find_core(name);
  Coverage seen;
  const char* only = std::getenv("THIMBLE_SEED");
  if (only != nullptr) return check_one(static_cast<uint64_t>(std::atoll(only)), target, &seen);
  for (uint64_t seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
    check_one(seed, target, &seen);
  }
  EXPECT_GT(seen.other_for_flash, 20);
  EXPECT_GT(seen.bytes_saved, 20 * 1000);
  EXPECT_GT(seen.other_for_scratch, 20);
}

TEST(Optimize, Armv6MCore) {
  check_many("cortex-m0plus");
}
TEST(Optimize, ScalarCore) {
  check_many("cortex-m3");
}
TEST(Optimize, DspCore) {
  check_many("cortex-m4");
}
TEST(Optimize, HeliumCore) {
  check_many("cortex-m55");
}

}  // namespace
}  // namespace thimble
