// SPDX-License-Identifier: Apache-2.0
// Operators that stay in float32. Random graphs of one operator are compiled for a core with an FPU
// and run on the host. The outputs must agree with the reference evaluator's on the input graph,
// and the file must have a decompiled form.
//
// Bounds, in units in the last place of float32 (docs/numerics.md, "Float operators"): 1 for
// elementwise operators; 64 of the largest result for all others that do not only move data.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "../unit/ir_random_graph.h"
#include "abi/pte_ops.h"
#include "emit/decompile.h"
#include "emit/emit.h"
#include "engine/engine.h"
#include "ir/op_traits.h"
#include "ir/print.h"
#include "run_series.h"

namespace thimble {
namespace {

using ir::DType;
using ir::OpKind;
using test::Series;

constexpr uint64_t kSeeds = 30000;
constexpr int kGraphsPerOperator = 12;

/// Returns the only operator that computes float32 values; null if there is none or another one.
const ir::Op* float_op(const ir::Graph& graph) {
  if (graph.ops().size() != 1) return nullptr;
  const ir::Op& op = graph.ops()[0];
  return graph.type(op.output).dtype == DType::kF32 && op.kind != OpKind::dequantize ? &op
                                                                                     : nullptr;
}

double bound_of(OpKind kind) {
  if (ir::only_moves(kind)) return 0;
  return ir::is_elementwise(kind) ? 1 : 64;
}

/// Returns the largest difference in units in the last place: of each element for elementwise
/// operators, of the largest element for others. Infinite if one of two elements is not finite.
double difference(const ir::Tensor& expected, const ir::Tensor& found, bool each) {
  const auto a = expected.data<float>(), b = found.data<float>();
  float largest = 0;
  for (const float value : a) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  }
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const float size = std::max(each ? std::abs(a[i]) : largest, 0x1p-126F);
    const double unit = static_cast<double>(std::nextafter(size, INFINITY)) - double{size};
    const double ulps = std::abs(double{a[i]} - double{b[i]}) / unit;
    most = std::isnan(ulps) ? INFINITY : std::max(most, ulps);
  }
  return most;
}

TEST(Float, OperatorsAgreeWithTheEvaluator) {
  const engine::Core& core = **engine::find_core("cortex-m4");
  std::map<OpKind, int> compared;
  std::map<std::string, int> kernels;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const ir::Graph graph = test::random_graph(seed, 1);
    const ir::Op* const op = float_op(graph);
    if (op == nullptr || compared[op->kind] >= kGraphsPerOperator) continue;
    // Random filters have both signs, so their sums cancel: LogMel has filters like real ones.
    if (op->kind == OpKind::log_mel) continue;
    const auto lowered = core.lower(graph, core, {});
    if (!lowered.ok()) continue;
    const auto emitted = emit::write_program(*lowered, memory::plan_memory(*lowered), core, {});
    ASSERT_TRUE(emitted.ok()) << emitted.error().message;
    const Series inputs = {test::random_inputs(graph, seed)};
    const auto expected = test::run_on_evaluator(graph, inputs);
    ASSERT_TRUE(expected.ok());
    const Series found = test::run_on_host(lowered->graph, emitted->bytes, inputs);
    ASSERT_EQ(found.size(), 1U) << ir::print(graph);
    for (size_t i = 0; i < found[0].size(); ++i) {
      if (found[0][i].dtype != DType::kF32) {
        EXPECT_TRUE(found[0][i] == (*expected)[0][i]);
        continue;
      }
      EXPECT_LE(difference((*expected)[0][i], found[0][i], ir::is_elementwise(op->kind)),
                bound_of(op->kind))
          << "seed " << seed << "\n"
          << ir::print(graph);
    }
    const auto decompiled = emit::decompile(emitted->program);
    ASSERT_TRUE(decompiled.ok()) << decompiled.error().message << "\n" << ir::print(graph);
    ++compared[op->kind];
    for (const engine::KernelCall& call : lowered->calls) ++kernels[abi::info(call.op).name];
  }
  for (const abi::PteOpInfo& info : abi::kPteOps) {
    const std::string name = info.name;
    if (!name.ends_with(".f32")) continue;
    EXPECT_GT(kernels[name], 0) << name << ": no graph calls it";
  }
  for (const OpKind kind :
       {OpKind::adaptive_max_pool2d, OpKind::add, OpKind::asinh, OpKind::atan, OpKind::avg_pool2d,
        OpKind::batch_norm, OpKind::clamp, OpKind::conv_transpose2d, OpKind::cumsum, OpKind::matmul,
        OpKind::mean, OpKind::prelu, OpKind::resize_bilinear, OpKind::sigmoid, OpKind::softmax,
        OpKind::variance}) {
    EXPECT_GT(compared[kind], 0) << ir::op_name(kind);
  }
}

/// Compiles a graph of one operator with the input x and compares its run with the evaluator's.
/// Returns the largest difference in units in the last place of the largest result.
double run_one(OpKind kind, const ir::Shape& shape, const std::vector<ir::Tensor>& constants,
               ir::Attrs attrs, uint64_t seed) {
  ir::Graph graph;
  std::vector<ir::ValueId> operands = {graph.add_input("x", {DType::kF32, shape, {}, {}})};
  for (const ir::Tensor& constant : constants) {
    operands.push_back(graph.add_constant("c", std::make_shared<const ir::Tensor>(constant)));
  }
  const auto y = graph.add(kind, operands, std::move(attrs), {}, {});
  EXPECT_TRUE(y.ok()) << y.error().message;
  graph.add_output(*y);
  const engine::Core& core = **engine::find_core("cortex-m4");
  const auto lowered = core.lower(graph, core, {});
  EXPECT_TRUE(lowered.ok()) << lowered.error().message;
  const auto emitted = emit::write_program(*lowered, memory::plan_memory(*lowered), core, {});
  EXPECT_TRUE(emitted.ok()) << emitted.error().message;
  const auto decompiled = emit::decompile(emitted->program);
  EXPECT_TRUE(decompiled.ok()) << decompiled.error().message;
  const Series inputs = {test::random_inputs(graph, seed)};
  const auto expected = test::run_on_evaluator(graph, inputs);
  const Series found = test::run_on_host(lowered->graph, emitted->bytes, inputs);
  EXPECT_TRUE(expected.ok() && found.size() == 1);
  return difference((*expected)[0][0], found[0][0], false);
}

TEST(Float, LogMelOfEveryKindOfWindow) {
  for (const int64_t n : {1, 2, 3, 16, 25, 40, 48, 64, 400, 512}) {
    const int64_t bins = n / 2 + 1, filters = std::min<int64_t>(bins, 8);
    std::vector<float> window, mel;
    for (int64_t i = 0; i < n; ++i) {
      window.push_back(static_cast<float>(
          0.6 - 0.4 * std::cos(6.28 * (static_cast<double>(i) + 0.5) / static_cast<double>(n))));
    }
    for (int64_t i = 0; i < filters * bins; ++i) {
      mel.push_back(i % filters == i / bins ? 0.25F + 0.01F * static_cast<float>(i % 7) : 0);
    }
    const ir::Shape shape = {2, n + 70};
    const ir::Tensor windows = ir::make_f32({n}, window);
    EXPECT_LE(run_one(OpKind::power_spectrum, shape, {windows}, {{ir::attr::hop, int64_t{33}}}, 1),
              1)
        << n;
    const ir::Attrs attrs = {{ir::attr::hop, int64_t{33}},
                             {ir::attr::floor, 1e-3},
                             {ir::attr::eps, 1e-6},
                             {ir::attr::scale, 4.34},
                             {ir::attr::float_offset, 2.5}};
    const ir::Tensor bank = ir::make_f32({filters, bins}, mel);
    EXPECT_LE(run_one(OpKind::log_mel, shape, {windows, bank}, attrs, 2), 64) << n;
  }
}

TEST(Float, PoolsWithUnevenWindows) {
  EXPECT_EQ(run_one(OpKind::adaptive_max_pool2d, {1, 3, 7, 10}, {},
                    {{ir::attr::size, std::vector<int64_t>{3, 4}}}, 1),
            0);
  EXPECT_EQ(run_one(OpKind::adaptive_max_pool2d, {2, 3, 1, 10}, {},
                    {{ir::attr::size, std::vector<int64_t>{1, 3}}}, 2),
            0);
  // The sums are in the same order as the evaluator's.
  EXPECT_EQ(run_one(OpKind::avg_pool2d, {1, 3, 7, 10}, {},
                    {{ir::attr::kernel, std::vector<int64_t>{3, 3}},
                     {ir::attr::stride, std::vector<int64_t>{2, 2}},
                     {ir::attr::padding, std::vector<int64_t>{0, 2, 2, 0}}},
                    3),
            0);
}

TEST(Float, TransposedConvolutionsWithDisjointWindows) {
  for (const auto& [kh, kw] : {std::pair<int64_t, int64_t>{2, 2}, {1, 3}, {3, 2}, {1, 1}}) {
    std::vector<float> w, bias = {0.5F, -0.25F, 1.5F};
    for (int64_t i = 0; i < 4 * 3 * kh * kw; ++i) {
      w.push_back(static_cast<float>(i % 11 - 5) / 7.0F);
    }
    const ir::Attrs attrs = {{ir::attr::stride, std::vector<int64_t>{kh, kw}},
                             {ir::attr::padding, std::vector<int64_t>{0, 0, 0, 0}},
                             {ir::attr::output_padding, std::vector<int64_t>{0, 0}},
                             {ir::attr::dilation, std::vector<int64_t>{1, 1}},
                             {ir::attr::groups, int64_t{1}}};
    EXPECT_LE(run_one(OpKind::conv_transpose2d, {2, 4, 3, 5},
                      {ir::make_f32({4, 3, kh, kw}, w), ir::make_f32({3}, bias)}, attrs, 1),
              64)
        << kh << "x" << kw;
  }
}

TEST(Float, CumulativeSumsOfLongRows) {
  for (const int64_t count : {256, 257, 300, 1000}) {
    for (const int64_t dim : {0, 1}) {
      const ir::Shape shape = dim == 0 ? ir::Shape{count, 3} : ir::Shape{3, count};
      EXPECT_LE(run_one(OpKind::cumsum, shape, {}, {{ir::attr::dim, dim}}, 1), 64) << count;
    }
  }
}

}  // namespace
}  // namespace thimble
