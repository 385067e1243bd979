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
       {OpKind::add, OpKind::avg_pool2d, OpKind::batch_norm, OpKind::clamp,
        OpKind::conv_transpose2d, OpKind::cumsum, OpKind::matmul, OpKind::mean, OpKind::prelu,
        OpKind::resize_bilinear, OpKind::sigmoid, OpKind::softmax, OpKind::variance}) {
    EXPECT_GT(compared[kind], 0) << ir::op_name(kind);
  }
}

}  // namespace
}  // namespace thimble
