// SPDX-License-Identifier: Apache-2.0
// Calls of the core that run while a delegate works: order, memory plan, and the proof of both.

#include "memory/delegate_overlap.h"

#include <gtest/gtest.h>

#include <string>

#include "ir_random_graph.h"

namespace thimble::memory {
namespace {

using ir::ValueId;

constexpr int64_t kBytes = 64;

/// A program of calls over values of 64 bytes, or of other sizes.
struct Program {
  engine::Lowered lowered;
  std::vector<double> times;

  ValueId input(const std::string& name, int64_t bytes = kBytes) {
    return lowered.graph.add_input(name, {ir::DType::kI8, {bytes}, {}, {}});
  }

  ValueId call(std::vector<ValueId> operands, double time, int64_t bytes, int delegate,
               const std::string& name) {
    const ir::Attrs attrs = {{ir::attr::subgraph, int64_t{0}},
                             {ir::attr::output, int64_t{0}},
                             {ir::attr::type, static_cast<int64_t>(ir::DType::kI8)},
                             {ir::attr::shape, std::vector<int64_t>{bytes}},
                             {ir::attr::nhwc, int64_t{0}}};
    engine::KernelCall call;
    call.ir_op = static_cast<int>(lowered.graph.ops().size());
    auto made =
        lowered.graph.add(ir::OpKind::delegate, operands, attrs, {}, {name, ir::DimOrder{}, {}});
    EXPECT_TRUE(made.ok());
    call.out = *made;
    call.delegate = delegate;
    for (const ValueId operand : operands) call.arguments.emplace_back(engine::ValueRef{operand});
    lowered.calls.push_back(call);
    times.push_back(time);
    return *made;
  }

  /// A call of the core.
  ValueId core(std::vector<ValueId> operands, double time, const std::string& name,
               int64_t bytes = kBytes) {
    return call(std::move(operands), time, bytes, -1, name);
  }

  /// A call of a delegate whose scratch has its inputs and its output one after another.
  ValueId npu(std::vector<ValueId> operands, double time, const std::string& name,
              const std::string& engine = "npu") {
    engine::Delegate delegate;
    delegate.engine = engine;
    delegate.runs_in_background = true;
    for (const ValueId operand : operands) {
      const auto bytes = static_cast<int64_t>(lowered.graph.type(operand).bytes());
      delegate.inputs.push_back({delegate.scratch_bytes, bytes});
      delegate.scratch_bytes += bytes;
    }
    delegate.outputs = {{delegate.scratch_bytes, kBytes}};
    delegate.scratch_bytes += kBytes;
    lowered.delegates.push_back(delegate);
    return call(std::move(operands), time, kBytes, static_cast<int>(lowered.delegates.size()) - 1,
                name);
  }

  /// The order of the results, with the overlap of each delegate: "a d+1 b".
  [[nodiscard]] std::string order() const {
    std::string text;
    for (const engine::KernelCall& call : lowered.calls) {
      text += (text.empty() ? "" : " ") + lowered.graph.value(call.out).name;
      if (call.overlap != 0) text += "+" + std::to_string(call.overlap);
    }
    return text;
  }
};

/// Result of overlap_delegates() for the program.
struct Done {
  double saved = 0;
  MemoryPlan before, after;
};
Done overlapped(Program& program, bool smallest = false) {
  Done done;
  done.before = plan_memory(program.lowered);
  done.after = plan_memory(program.lowered);
  done.saved = overlap_delegates({program.times, smallest, {}}, &program.lowered, &done.after);
  const std::optional<std::string> conflict = find_overlap_conflict(program.lowered, done.after);
  EXPECT_FALSE(conflict) << *conflict;
  return done;
}

/// Two branches of two inputs, joined at the end; the core's branch comes first.
Program two_branches(double npu_time) {
  Program program;
  const ValueId x = program.input("x"), y = program.input("y");
  const ValueId a = program.core({x}, 10, "a");
  const ValueId b = program.core({y}, 20, "b");
  const ValueId c = program.core({b}, 30, "c");
  const ValueId d = program.npu({a}, npu_time, "d");
  program.lowered.graph.add_output(program.core({c, d}, 5, "e"));
  return program;
}

TEST(DelegateOverlap, CallsOfOtherBranchRunAfterTheStart) {
  Program program = two_branches(1000);
  const Done done = overlapped(program);
  EXPECT_EQ(program.order(), "a d+2 b c e");
  EXPECT_EQ(done.saved, 50);
}

TEST(DelegateOverlap, OnlyAsManyCallsAsTheDeviceNeeds) {
  Program program = two_branches(25);
  const Done done = overlapped(program);
  EXPECT_EQ(program.order(), "a b d+1 c e");
  EXPECT_EQ(done.saved, 25);
}

TEST(DelegateOverlap, LaterCallsAreMovedAhead) {
  Program program;
  const ValueId x = program.input("x"), y = program.input("y");
  const ValueId d = program.npu({x}, 100, "d");
  const ValueId e = program.core({d}, 5, "e");
  const ValueId b = program.core({y}, 90, "b");
  program.lowered.graph.add_output(program.core({b, e}, 5, "f"));
  EXPECT_EQ(overlapped(program).saved, 90);
  EXPECT_EQ(program.order(), "d+1 b e f");
}

TEST(DelegateOverlap, ChainKeepsOrderAndPlan) {
  Program program;
  const ValueId a = program.core({program.input("x")}, 10, "a");
  program.lowered.graph.add_output(program.core({program.npu({a}, 100, "d")}, 10, "b"));
  const Done done = overlapped(program);
  EXPECT_EQ(program.order(), "a d b");
  EXPECT_EQ(done.saved, 0);
  EXPECT_EQ(done.after.placement.offsets, done.before.placement.offsets);
}

/// The call that reads the delegate's input keeps the delegate from overwriting it in its scratch.
TEST(DelegateOverlap, InputOfTheDelegateMayBeReadMeanwhile) {
  Program program;
  const ValueId a = program.core({program.input("x")}, 10, "a");
  const ValueId d = program.npu({a}, 100, "d");
  const ValueId b = program.core({a}, 50, "b");
  program.lowered.graph.add_output(program.core({b, d}, 5, "e"));
  EXPECT_EQ(overlapped(program).saved, 50);
  EXPECT_EQ(program.order(), "a d+1 b e");
}

TEST(DelegateOverlap, InPlaceCallDoesNotOverwriteTheDelegatesInput) {
  Program program;
  const ValueId a = program.core({program.input("x")}, 10, "a");
  const ValueId d = program.npu({a}, 100, "d");
  const ValueId b = program.core({a}, 50, "b");
  program.lowered.calls.back().in_place = 0;
  program.lowered.graph.add_output(program.core({b, d}, 5, "e"));
  EXPECT_EQ(overlapped(program).saved, 50);
}

TEST(DelegateOverlap, OverlappingResultDoesNotOverwriteTheDelegatesInput) {
  Program program;
  const ValueId a = program.core({program.input("x")}, 10, "a");
  const ValueId d = program.npu({a}, 100, "d");
  const ValueId b = program.core({a}, 50, "b");
  program.lowered.calls.back().lead = 16;
  program.lowered.graph.add_output(program.core({b, d}, 5, "e"));
  EXPECT_EQ(overlapped(program).saved, 50);
}

TEST(DelegateOverlap, ArenaGrowsOnlyForTime) {
  const auto program_of = [](double time) {
    Program program;
    const ValueId a = program.core({program.input("x")}, 1000, "a", 16 * kBytes);
    const ValueId d = program.npu({program.core({a}, 1000, "b")}, 1000, "d");
    const ValueId big = program.core({program.input("y")}, time, "c", 15 * kBytes);
    program.lowered.graph.add_output(program.core({program.core({big}, 0, "f"), d}, 1000, "e"));
    return program;
  };
  Program fast = program_of(900);
  const Done done = overlapped(fast);
  EXPECT_EQ(done.saved, 900);
  EXPECT_GT(done.after.placement.peak_bytes, done.before.placement.peak_bytes);
  Program small = program_of(900);
  const Done least = overlapped(small, /*smallest=*/true);
  EXPECT_LE(least.after.placement.peak_bytes, least.before.placement.peak_bytes);
  // 0.5 % of the time is not worth a third of the arena.
  Program dear = program_of(20);
  EXPECT_EQ(overlapped(dear).saved, 0);
  // Without time there is no reason for memory.
  Program none = program_of(0.1);
  const Done kept = overlapped(none);
  EXPECT_EQ(kept.saved, 0);
  EXPECT_EQ(kept.after.placement.offsets, kept.before.placement.offsets);
}

TEST(DelegateOverlap, AnotherEngineMayRunMeanwhileTheSameMustNot) {
  for (const std::string other : {"npu", "second"}) {
    Program program;
    const ValueId d = program.npu({program.input("x")}, 100, "d");
    const ValueId f = program.npu({program.input("y")}, 60, "f", other);
    program.lowered.graph.add_output(program.core({d, f}, 5, "e"));
    EXPECT_EQ(overlapped(program).saved, other == "npu" ? 0 : 60);
    EXPECT_EQ(program.order(), other == "npu" ? "d f e" : "d+1 f e");
  }
}

TEST(DelegateOverlap, ConflictsAreFound) {
  Program program = two_branches(1000);
  MemoryPlan plan = overlapped(program).after;
  const auto range_of = [&](size_t call) {
    return static_cast<size_t>(
        plan.range_of_value[static_cast<size_t>(program.lowered.calls[call].out)]);
  };
  // b writes where the delegate works.
  MemoryPlan moved = plan;
  moved.placement.offsets[range_of(2)] =
      plan.placement.offsets[static_cast<size_t>(plan.scratch_of_call[1])];
  EXPECT_TRUE(find_overlap_conflict(program.lowered, moved));
  // e reads the delegate's result before the wait.
  engine::Lowered longer = program.lowered;
  longer.calls[1].overlap = 3;
  const std::optional<std::string> read = find_overlap_conflict(longer, plan);
  ASSERT_TRUE(read);
  EXPECT_NE(read->find("call 4 while call 1 works"), std::string::npos) << *read;
  longer.calls[1].overlap = 4;
  EXPECT_TRUE(find_overlap_conflict(longer, plan)) << "no such call";
  longer = program.lowered;
  longer.calls[0].overlap = 1;
  EXPECT_TRUE(find_overlap_conflict(longer, plan)) << "not a delegate";
}

/// Each value of a call that runs meanwhile is compared, whichever its place in the memory plan.
TEST(DelegateOverlap, ConflictsOfEachValueAreFound) {
  for (const bool x_first : {true, false}) {
    Program program;
    program.lowered.owns_inputs = true;
    const ValueId first = program.input("first"), second = program.input("second");
    const ValueId x = x_first ? first : second, y = x_first ? second : first;
    const ValueId d = program.npu({x}, 1000, "d");
    const ValueId b = program.core({y}, 20, "b");
    program.lowered.graph.add_output(program.core({b, d}, 5, "e"));
    program.lowered.calls[0].overlap = 1;
    const MemoryPlan plan = plan_memory(program.lowered);
    EXPECT_FALSE(find_overlap_conflict(program.lowered, plan));
    const auto scratch = static_cast<size_t>(plan.scratch_of_call[0]);
    for (const ValueId value : {y, b}) {
      const auto range = static_cast<size_t>(plan.range_of_value[static_cast<size_t>(value)]);
      MemoryPlan moved = plan;
      moved.placement.offsets[range] = plan.placement.offsets[scratch];
      EXPECT_TRUE(find_overlap_conflict(program.lowered, moved))
          << program.lowered.graph.value(value).name << ", range " << range;
    }
  }
}

/// Random programs: every accepted plan is proven, and saves what it reports.
TEST(DelegateOverlap, RandomProgramsAreProven) {
  int overlaps = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    test::Random random(seed);
    Program program;
    std::vector<ValueId> values = {program.input("x"), program.input("y", 2 * kBytes)};
    std::vector<bool> is_read = {true, true};
    const int64_t count = random.between(4, 14);
    for (int64_t i = 0; i < count; ++i) {
      std::vector<ValueId> operands;
      for (int64_t reads = random.between(1, 2); reads > 0; --reads) {
        const auto at = static_cast<size_t>(
            random.between(std::max<int64_t>(0, static_cast<int64_t>(values.size()) - 4),
                           static_cast<int64_t>(values.size()) - 1));
        operands.push_back(values[at]);
        is_read[at] = true;
      }
      const auto time = static_cast<double>(random.between(1, 100));
      const std::string name = "v" + std::to_string(i);
      if (random.chance(30)) {
        values.push_back(
            program.npu(operands, 3 * time, name, random.chance(20) ? "second" : "npu"));
      } else {
        values.push_back(program.core(operands, time, name, random.between(1, 6) * 32));
        engine::KernelCall& call = program.lowered.calls.back();
        if (random.chance(50)) call.in_place = 0;
        if (random.chance(30)) call.lead = random.between(0, 64);
      }
      is_read.push_back(false);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!is_read[i]) program.lowered.graph.add_output(values[i]);
    }
    const bool smallest = random.chance(50);
    const Done done = overlapped(program, smallest);
    if (smallest) {
      EXPECT_LE(done.after.placement.peak_bytes, done.before.placement.peak_bytes);
    }
    for (const engine::KernelCall& call : program.lowered.calls) overlaps += call.overlap;
    EXPECT_EQ(done.saved > 0, program.order().find('+') != std::string::npos) << "seed " << seed;
    // Each call comes after the calls of its operands.
    std::vector<bool> is_known(program.lowered.graph.value_count(), false);
    for (const ValueId input : program.lowered.graph.inputs()) {
      is_known[static_cast<size_t>(input)] = true;
    }
    for (const engine::KernelCall& call : program.lowered.calls) {
      engine::for_each_operand(call, [&](ValueId value) {
        EXPECT_TRUE(is_known[static_cast<size_t>(value)]) << "seed " << seed;
      });
      is_known[static_cast<size_t>(call.out)] = true;
    }
  }
  EXPECT_GT(overlaps, 100);
}

}  // namespace
}  // namespace thimble::memory
