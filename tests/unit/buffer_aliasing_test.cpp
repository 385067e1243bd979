// SPDX-License-Identifier: Apache-2.0
// Values that share memory, on small programs whose least memory is known: results written over
// operands, and operands of a concatenation in their place in the result.

#include "memory/buffer_aliasing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "memory/memory_plan.h"

namespace thimble::memory {
namespace {

using ir::ValueId;

constexpr int64_t kBytes = 64;

/// A program of opaque calls, which read all operands, and of concatenations.
struct Program {
  engine::Lowered lowered;

  ValueId input(const std::string& name) {
    return lowered.graph.add_input(name, {ir::DType::kI8, {kBytes}, {}, {}});
  }

  /// `in_place`: the operand that the result may overwrite; -1: none.
  ValueId call(const std::vector<ValueId>& operands, int in_place = -1, int64_t bytes = kBytes) {
    return add(operands,
               {{ir::attr::subgraph, int64_t{0}},
                {ir::attr::output, int64_t{0}},
                {ir::attr::type, static_cast<int64_t>(ir::DType::kI8)},
                {ir::attr::shape, std::vector<int64_t>{bytes}},
                {ir::attr::nhwc, int64_t{0}}},
               in_place);
  }

  /// Without a call, the concatenation consists of its operands.
  ValueId concat(const std::vector<ValueId>& operands) {
    auto made = lowered.graph.add(ir::OpKind::concat, operands, {{ir::attr::dim, int64_t{0}}}, {},
                                  {"", ir::DimOrder{}, {}});
    EXPECT_TRUE(made.ok()) << made.error().message;
    return *made;
  }

  [[nodiscard]] int64_t peak() const { return plan_memory(lowered).placement.peak_bytes; }

 private:
  ValueId add(const std::vector<ValueId>& operands, const ir::Attrs& attrs, int in_place) {
    engine::KernelCall call;
    call.ir_op = static_cast<int>(lowered.graph.ops().size());
    auto made =
        lowered.graph.add(ir::OpKind::delegate, operands, attrs, {}, {"", ir::DimOrder{}, {}});
    EXPECT_TRUE(made.ok()) << made.error().message;
    call.out = *made;
    call.in_place = in_place;
    for (const ValueId operand : operands) call.arguments.emplace_back(engine::ValueRef{operand});
    lowered.calls.push_back(call);
    return *made;
  }
};

TEST(BufferAliasing, ChainInPlaceNeedsOneBuffer) {
  Program program;
  ValueId value = program.call({program.input("x")});
  for (int i = 0; i < 3; ++i) value = program.call({value}, 0);
  program.lowered.graph.add_output(value);
  EXPECT_EQ(program.peak(), kBytes);
}

TEST(BufferAliasing, OperandsThatAreReadLaterAreNotOverwritten) {
  Program program;
  const ValueId a = program.call({program.input("x")});
  const ValueId b = program.call({a}, 0);
  program.lowered.graph.add_output(program.call({b, a}, 0));
  EXPECT_EQ(program.peak(), 2 * kBytes);
}

TEST(BufferAliasing, ResultsOfAnotherSizeDoNotOverwrite) {
  Program program;
  const ValueId a = program.call({program.input("x")});
  program.lowered.graph.add_output(program.call({a}, 0, kBytes / 2));
  EXPECT_EQ(program.peak(), kBytes + kBytes / 2);
}

TEST(BufferAliasing, OperandsAreInTheConcatenation) {
  Program program;
  const ValueId x = program.input("x");
  const ValueId a = program.call({x}), b = program.call({x});
  const ValueId both = program.concat({a, b});
  program.lowered.graph.add_output(program.call({both}));
  EXPECT_EQ(program.peak(), 3 * kBytes);
  const MemoryPlan plan = plan_memory(program.lowered);
  const auto range_of = [&](ValueId value) {
    return static_cast<size_t>(plan.range_of_value[static_cast<size_t>(value)]);
  };
  const int64_t begin = plan.placement.offsets[range_of(both)];
  EXPECT_EQ(plan.placement.offsets[range_of(a)], begin);
  EXPECT_EQ(plan.placement.offsets[range_of(b)], begin + kBytes);
}

/// The concatenation is written over its operands; each of them is a result in place.
TEST(BufferAliasing, ConcatenationOfResultsInPlace) {
  Program program;
  const ValueId x = program.input("x");
  const ValueId a = program.call({program.call({x})}, 0);
  const ValueId b = program.call({program.call({x})}, 0);
  program.lowered.graph.add_output(program.call({program.concat({a, b})}, -1, kBytes / 2));
  EXPECT_EQ(program.peak(), 2 * kBytes + kBytes / 2);
}

/// A value cannot be at two places.
TEST(BufferAliasing, ConcatenationsInTwoOrdersAreNoViews) {
  for (const bool same : {true, false}) {
    Program program;
    const ValueId x = program.input("x");
    const ValueId a = program.call({x}), b = program.call({x});
    const ValueId one = program.concat({a, b});
    const ValueId other = program.concat(same ? std::vector{a, b} : std::vector{b, a});
    program.lowered.graph.add_output(program.call({one, other}, -1, kBytes / 4));
    EXPECT_EQ(BufferAliasing::views_fit(program.lowered), same);
    if (same) {
      EXPECT_EQ(program.peak(), 2 * kBytes + kBytes / 4);
    }
  }
}

}  // namespace
}  // namespace thimble::memory
