// SPDX-License-Identifier: Apache-2.0
// Two models in one arena run alternately a thousand times. Each gives the same results as alone,
// including its state, and the shared arena is smaller than the sum of both arenas.

#include "memory/shared_arena.h"

#include <gtest/gtest.h>

#include <cstring>

#include "../unit/ir_random_graph.h"
#include "base/aligned_bytes.h"
#include "emit/emit.h"
#include "engine/engine.h"
#include "memory/buffer_aliasing.h"
#include "random_integer_graph.h"
#include "runtime/include/thimble.h"

namespace thimble {
namespace {

/// A loaded file that receives the same inputs in the same order, independent of its memory.
class Runner {
 public:
  Runner(const Bytes& pte, const ir::Graph& graph, uint64_t seed) : graph_(graph), file_(pte) {
    for (uint64_t i = 0; i < kSamples; ++i) {
      std::vector<AlignedBytes>& sample = samples_.emplace_back();
      const std::vector<ir::Tensor> tensors = test::random_inputs(graph, seed + i);
      for (size_t k = 0; k < tensors.size(); ++k) {
        const Bytes data = ir::to_memory(tensors[k], graph.type(graph.inputs()[k]).dim_order);
        sample.emplace_back(data);
      }
    }
  }

  size_t needs() const {
    thimble_needs needs = {};
    EXPECT_EQ(thimble_size(file_.data(), file_.size(), thimble_all_kernels(), &needs), 0);
    return needs.arena_bytes + needs.state_bytes;
  }
  void load(AlignedBytes& memory) {
    runs_ = 0;
    const thimble_status status = thimble_init(&model_, file_.data(), file_.size(),
                                               thimble_all_kernels(), memory.data(), memory.size());
    ASSERT_EQ(status, 0) << thimble_status_text(status);
  }
  /// Runs the model once and returns the bytes of all outputs.
  Bytes run() {
    const std::vector<AlignedBytes>& sample = samples_[runs_++ % kSamples];
    for (size_t k = 0; k < sample.size(); ++k) {
      const size_t bytes = graph_.type(graph_.inputs()[k]).bytes();
      EXPECT_EQ(thimble_set_input(&model_, static_cast<uint32_t>(k), sample[k].data(), bytes), 0);
    }
    EXPECT_EQ(thimble_run(&model_), 0);
    Bytes outputs;
    for (uint32_t k = 0; k < thimble_output_count(&model_); ++k) {
      thimble_view view = {};
      EXPECT_EQ(thimble_output(&model_, k, &view), 0);
      const auto* data = static_cast<const std::byte*>(view.data);
      outputs.insert(outputs.end(), data, data + view.bytes);
    }
    return outputs;
  }

 private:
  static constexpr uint64_t kSamples = 5;
  const ir::Graph& graph_;
  AlignedBytes file_;
  std::vector<std::vector<AlignedBytes>> samples_;
  thimble_model model_ = {};
  size_t runs_ = 0;
};

struct Seen {
  int with_state = 0, pairs = 0, smaller = 0;
};

void check_pair(uint64_t seed, Seen* seen) {
  SCOPED_TRACE(seed);
  const engine::Core& target = **engine::find_core("cortex-m4");
  std::vector<engine::Lowered> models;
  for (const uint64_t s : {seed, seed + 1}) {
    auto lowered = target.lower(test::random_integer_graph(s, {6, false}), target, {});
    if (!lowered.ok()) return;
    models.push_back(memory::remove_copies(std::move(*lowered)));
  }
  const engine::Lowered* const both[] = {&models[0], &models[1]};
  const memory::SharedArena shared = memory::share_arena(both);
  std::vector<Runner> runners;
  for (size_t i = 0; i < 2; ++i) {
    const auto emitted = emit::write_program(models[i], shared.memory_plans[i], target, {});
    ASSERT_TRUE(emitted.ok()) << emitted.error().message;
    runners.emplace_back(emitted->bytes, models[i].graph, seed + 10 * i);
    ASSERT_LE(runners[i].needs(), static_cast<size_t>(shared.bytes));
  }
  constexpr int kRuns = 1000;
  test::Random random(seed);
  std::vector<size_t> turns;
  for (int i = 0; i < kRuns; ++i) turns.push_back(static_cast<size_t>(random.between(0, 1)));

  std::vector<Bytes> alone[2];
  for (size_t i = 0; i < 2; ++i) {
    AlignedBytes memory(runners[i].needs());
    runners[i].load(memory);
    for (const size_t turn : turns) {
      if (turn == i) alone[i].push_back(runners[i].run());
    }
  }
  AlignedBytes memory(static_cast<size_t>(shared.bytes));
  for (size_t i = 2; i-- > 0;) runners[i].load(memory);
  size_t next[2] = {0, 0};
  for (const size_t turn : turns) ASSERT_EQ(runners[turn].run(), alone[turn][next[turn]++]);
  ++seen->pairs;
  seen->smaller += shared.bytes < shared.separate_bytes ? 1 : 0;
  seen->with_state += models[0].graph.states().empty() ? 0 : 1;
}

TEST(ShareArena, SharedArenaGivesSameOutputsAsSeparateArenas) {
  Seen seen;
  for (uint64_t seed = 0; seed < 80 && !HasFailure(); seed += 2) check_pair(seed, &seen);
  EXPECT_GT(seen.pairs, 20);
  EXPECT_GT(seen.with_state, 0);
  EXPECT_GT(seen.smaller, seen.pairs / 2);
}

}  // namespace
}  // namespace thimble
