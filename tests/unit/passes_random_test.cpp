// SPDX-License-Identifier: Apache-2.0
// Each pass, and the whole pass pipeline, keeps the values of random graphs: graphs of all
// operators, which the passes rarely change, and graphs of the patterns that the passes rewrite.

#include "passes/fold_batch_norm.h"
#include "passes/fold_constants.h"
#include "passes/hoist_clamp.h"
#include "passes/merge_pad.h"
#include "passes/pipeline.h"
#include "passes/remove_noops.h"
#include "passes_support.h"

namespace thimble::test {
namespace {

using ir::OpKind;
using ir::ValueId;
using Pass = Result<ir::Graph> (*)(const ir::Graph&);

/// Float images in chains of convolutions, factors per channel, pads, pools, clamps, data movement
/// and operators on constants. Some values have several readers or are outputs.
class PatternMaker {
 public:
  explicit PatternMaker(uint64_t seed) : random_(seed) {}

  ir::Graph make(size_t op_count) {
    values_ = {graph_.add_input("x", {ir::DType::kF32, {1, 4, 6, 5}, {}, {}}),
               graph_.add_input("z", {ir::DType::kF32, {1, 4, 6, 5}, {}, {}})};
    while (graph_.ops().size() < op_count) step();
    graph_.add_output(values_.back());
    for (const ValueId id : values_) {
      if (random_.chance(10)) graph_.add_output(id);
    }
    return std::move(graph_);
  }

 private:
  /// Returns the last value or, rarely, any other one.
  ValueId pick() {
    const int64_t last = std::ssize(values_) - 1;
    return values_[static_cast<size_t>(random_.chance(85) ? last : random_.between(0, last))];
  }
  ir::Shape shape(ValueId id) const { return graph_.type(id).shape; }

  /// Returns a constant of magnitudes from 1/4 to 3/2: a pass may divide by it.
  ValueId constant(const ir::Shape& shape) {
    ir::Tensor tensor = ir::zeros(ir::DType::kF32, shape);
    for (float& value : tensor.data<float>()) {
      value = static_cast<float>(random_.real(0.25, 1.5) * (random_.chance(50) ? 1 : -1));
    }
    return graph_.add_constant("c", std::make_shared<ir::Tensor>(std::move(tensor)));
  }
  /// Returns a value that is computed from constants, or a constant.
  ValueId computed(const ir::Shape& shape) {
    if (random_.chance(50)) return constant(shape);
    const OpKind kind = random_.chance(50) ? OpKind::add : OpKind::sub;
    return *graph_.add(kind, {constant(shape), constant({1})}, {});
  }

  void add(OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs = {}) {
    const auto made = graph_.add(kind, std::move(inputs), std::move(attrs));
    if (made.ok()) values_.push_back(*made);  // a window may be larger than its image
  }

  void convolution() {
    const ValueId x = pick();
    const int64_t in = shape(x)[1], out = random_.between(1, 5), kernel = random_.between(1, 3);
    const ValueId bias = random_.chance(70) ? computed({out}) : ir::kNoValue;
    add(OpKind::conv2d, {x, computed({out, in, kernel, kernel}), bias},
        {{ir::attr::stride, std::vector<int64_t>{1, random_.between(1, 2)}},
         {ir::attr::padding, std::vector<int64_t>{0, random_.between(0, 1), 1, 0}},
         {ir::attr::dilation, std::vector<int64_t>{1, 1}}});
  }

  void factor() {
    const ValueId x = pick();
    const int64_t channels = shape(x)[1];
    if (random_.chance(40)) {
      return add(OpKind::batch_norm, {x, constant({channels}), constant({channels})});
    }
    constexpr OpKind kKinds[] = {OpKind::mul, OpKind::div, OpKind::add, OpKind::sub};
    const ValueId c = random_.chance(50) ? constant({1, channels, 1, 1}) : computed({1});
    add(kKinds[random_.between(0, 3)], {x, c});
  }

  void pad() {
    const auto end = [&] { return random_.between(0, 2); };
    add(OpKind::pad, {pick()},
        {{ir::attr::before, std::vector<int64_t>{0, random_.chance(10) ? 1 : 0, end(), end()}},
         {ir::attr::after, std::vector<int64_t>{0, 0, end(), end()}},
         {ir::attr::value, random_.chance(80) ? 0.0 : 0.5}});
  }

  void clamp() {
    add(OpKind::clamp, {pick()},
        {{ir::attr::float_min, random_.real(-1, 0)}, {ir::attr::float_max, random_.real(0.5, 6)}});
  }

  void pool() {
    const OpKind kind = random_.chance(70) ? OpKind::max_pool2d : OpKind::avg_pool2d;
    ir::Attrs attrs{{ir::attr::kernel, std::vector<int64_t>{2, random_.between(1, 2)}},
                    {ir::attr::stride, std::vector<int64_t>{1, 1}},
                    {ir::attr::padding, std::vector<int64_t>{1, 0, 0, 0}}};
    if (kind == OpKind::max_pool2d) attrs.set(ir::attr::dilation, std::vector<int64_t>{1, 1});
    add(kind, {pick()}, attrs);
  }

  void movement() {
    const ValueId x = pick();
    const ir::Shape s = shape(x);
    const bool none = random_.chance(40);  // an operator that changes nothing
    switch (random_.between(0, 5)) {
      case 0:
        return add(OpKind::copy, {x});
      case 1:
        return add(OpKind::reshape, {x},
                   {{ir::attr::shape, none ? s : ir::Shape{1, s[2], s[1], s[3]}}});
      case 2:
        return add(OpKind::permute, {x},
                   {{ir::attr::dims,
                     none ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0, 1, 3, 2}}});
      case 3:
        return add(OpKind::slice, {x},
                   {{ir::attr::dim, int64_t{2}},
                    {ir::attr::start, int64_t{none ? 0 : 1}},
                    {ir::attr::end, s[2]}});
      case 4:
        return add(OpKind::expand, {x}, {{ir::attr::shape, s}});
      default:
        return add(OpKind::concat, none ? std::vector{x} : std::vector{x, pick()},
                   {{ir::attr::dim, int64_t{1}}});
    }
  }

  void step() {
    switch (random_.between(0, 6)) {
      case 0:
      case 1:
        return convolution();
      case 2:
        return factor();
      case 3:
        return pad();
      case 4:
        return clamp();
      case 5:
        pool();
        break;
      default:
        movement();
    }
    if (random_.chance(60)) clamp();
  }

  Random random_;
  ir::Graph graph_;
  std::vector<ValueId> values_;
};

struct Counts {
  int compared = 0;
  int changed = 0;  // of the compared graphs
};

/// Runs the pass on the graph and compares the outputs.
void check_one(Pass pass, const ir::Graph& before, uint64_t seed, Counts& counts) {
  const auto after = pass(before);
  ASSERT_TRUE(after.ok()) << "seed " << seed << ": " << after.error().message;
  const Status verified = ir::verify(*after);
  ASSERT_TRUE(verified.ok()) << "seed " << seed << ": " << verified.error().message;
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    ASSERT_EQ(before.type(before.outputs()[i]), after->type(after->outputs()[i]))
        << "seed " << seed;
  }
  // A rounding error in a float may change the result of a quantize at a tie.
  const bool folds = op_names(before).find("batch_norm") != std::string::npos ||
                     op_names(before).find("conv2d") != std::string::npos ||
                     op_names(before).find("linear") != std::string::npos;
  if (folds && op_names(before).find("quantize") != std::string::npos) return;
  ASSERT_LT(largest_difference(before, *after, seed), 1e-4) << "seed " << seed;
  ++counts.compared;
  const auto text = [](const ir::Graph& graph) { return ir::print(ir::remove_unused(graph)); };
  counts.changed += text(before) != text(*after) ? 1 : 0;
}

/// `changed_min`: number of pattern graphs that the pass must change.
void expect_same_values(Pass pass, int changed_min) {
  constexpr int kGraphs = 300;
  Counts all_operators, patterns;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    ASSERT_NO_FATAL_FAILURE(check_one(pass, random_graph(seed, 30), seed, all_operators));
    ASSERT_NO_FATAL_FAILURE(check_one(pass, PatternMaker(seed).make(14), seed, patterns));
  }
  EXPECT_GE(all_operators.compared, kGraphs / 2);
  EXPECT_EQ(patterns.compared, kGraphs);
  EXPECT_GE(patterns.changed, changed_min);
}

TEST(PassesOnRandomGraphs, FoldBatchNorm) {
  expect_same_values(passes::fold_batch_norm, 110);
}
TEST(PassesOnRandomGraphs, FoldConstants) {
  expect_same_values(passes::fold_constants, 240);
}
TEST(PassesOnRandomGraphs, HoistClamp) {
  expect_same_values(passes::hoist_clamp, 35);
}
TEST(PassesOnRandomGraphs, MergePad) {
  expect_same_values(passes::merge_pad, 40);
}
TEST(PassesOnRandomGraphs, RemoveNoops) {
  expect_same_values(passes::remove_noops, 140);
}
TEST(PassesOnRandomGraphs, Pipeline) {
  expect_same_values(passes::run_float_passes, 270);
}

}  // namespace
}  // namespace thimble::test
