// SPDX-License-Identifier: Apache-2.0
// Files made by ExecuTorch's own Cortex-M flow (tests/peers/executorch_make.py), in our runtime.
// References: the evaluator on the decompiled file, which must agree in every bit; and the outputs
// that ExecuTorch's Python reference computed. THIMBLE_EXECUTORCH_FILES names another folder of
// such files.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "abi/pte_ops.h"
#include "emit/check_stock.h"
#include "emit/decompile.h"
#include "eval/evaluate.h"
#include "formats/pte/read.h"
#include "formats/pte/write.h"
#include "hostrun/host.h"
#include "recorded_calls.h"
#include "tests/folders.h"

namespace thimble {
namespace {

namespace fs = std::filesystem;

/// Allowed difference between the Python reference and our outputs, which follow ExecuTorch's C++
/// kernels: distance in steps of the output's scale, and share of outputs that may differ.
struct Allowance {
  double steps = 0, scale = 0, share = 0;
};
const std::map<std::string, Allowance> kAllowances = {
    // quantized_avg_pool2d: the reference divides in float and rounds halves to even; the kernel
    // rounds halves away from zero. A sum of 4 int8 elements is a half in 1 of 4 windows, of 6 in 1
    // of 6.
    {"pools", {1, 0.0155, 0.25}},
    {"pools_nhwc", {1, 0.0155, 0.25}},
};
/// Files that the IR cannot represent completely, and the operator that the IR lacks.
const std::map<std::string, std::string> kNotDecompiled = {
    {"attention", "cortex_m::quantized_"}, {"float_island", "aten::"},
    {"float_elementwise", "aten::"},       {"float_movement", "aten::"},
    {"float_products", "aten::"},          {"float_reductions", "aten::"},
};

bool is_default_folder() {
  return std::getenv("THIMBLE_EXECUTORCH_FILES") == nullptr;
}

fs::path folder() {
  const char* const other = std::getenv("THIMBLE_EXECUTORCH_FILES");
  return other != nullptr ? fs::path(other) : test::source_folder() / "tests/data/executorch";
}

using Case = test::RecordedFile;

std::vector<Case> cases() {
  return test::recorded_files_in(folder());
}

void expect_near(const ir::Tensor& got, const ir::Tensor& expected, const Allowance& allowance) {
  ASSERT_EQ(got.dtype, expected.dtype);
  ASSERT_EQ(got.shape, expected.shape);
  if (got.bytes == expected.bytes) return;
  ASSERT_EQ(got.dtype, ir::DType::kF32);
  const auto a = got.data<float>();
  const auto b = expected.data<float>();
  size_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double distance = std::fabs(static_cast<double>(a[i]) - b[i]);
    // Sums of float32 may be computed in another order.
    const double rounding = 1e-6 * std::max(1.0, std::fabs(static_cast<double>(b[i])));
    different += distance > rounding ? 1 : 0;
    EXPECT_LE(distance, allowance.steps * allowance.scale * 1.01 + rounding) << "at " << i;
  }
  EXPECT_LE(static_cast<double>(different), allowance.share * static_cast<double>(a.size()));
}

TEST(ExecuTorchFiles, OutputsMatchExecuTorchReference) {
  const std::vector<Case> all = cases();
  EXPECT_GE(all.size(), 10U);
  for (const Case& c : all) {
    SCOPED_TRACE(c.name);
    auto model = hostrun::HostModel::load(c.bytes, c.name);
    ASSERT_TRUE(model.ok()) << model.error().message;
    const auto allowance = kAllowances.find(c.name);
    for (size_t call = 0; call < c.inputs.size(); ++call) {
      const auto outputs = model->run(c.inputs[call]);
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      ASSERT_EQ(outputs->size(), c.outputs[call].size());
      for (size_t i = 0; i < outputs->size(); ++i) {
        expect_near((*outputs)[i], c.outputs[call][i],
                    allowance == kAllowances.end() ? Allowance() : allowance->second);
      }
    }
  }
}

TEST(ExecuTorchFiles, OutputsEqualEvaluatorOnDecompiledFile) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const auto program = formats::pte::read(c.bytes, c.name);
    ASSERT_TRUE(program.ok()) << program.error().message;
    const auto graph = emit::decompile(*program);
    if (const auto lacking = kNotDecompiled.find(c.name); lacking != kNotDecompiled.end()) {
      ASSERT_FALSE(graph.ok()) << "can be decompiled: remove it from the list";
      EXPECT_EQ(graph.error().kind, ErrorKind::kUnsupported);
      EXPECT_NE(graph.error().message.find(lacking->second), std::string::npos)
          << graph.error().message;
      continue;
    }
    ASSERT_TRUE(graph.ok()) << graph.error().message;
    auto model = hostrun::HostModel::load(c.bytes, c.name);
    ASSERT_TRUE(model.ok()) << model.error().message;
    for (const auto& inputs : c.inputs) {
      const auto expected = eval::evaluate(*graph, inputs);
      ASSERT_TRUE(expected.ok()) << expected.error().message;
      const auto outputs = model->run(inputs);
      ASSERT_TRUE(outputs.ok()) << outputs.error().message;
      EXPECT_EQ(*outputs, *expected);
    }
  }
}

/// Files come from outside. A damaged file is refused, or it runs inside its own memory (build with
/// THIMBLE_SANITIZE).
TEST(ExecuTorchFiles, DamagedFilesAreRefusedOrRun) {
  std::mt19937 random(3);
  int refused = 0;
  for (const Case& c : cases()) {
    if (c.bytes.size() > 20000) continue;
    SCOPED_TRACE(c.name);
    for (int i = 0; i < 150; ++i) {
      Bytes bytes = c.bytes;
      for (uint32_t change = 0; change <= random() % 3; ++change) {
        bytes[random() % bytes.size()] = static_cast<std::byte>(random() % 256);
      }
      auto model = hostrun::HostModel::load(bytes, c.name);
      refused += model.ok() ? 0 : 1;
      const bool same_interface = model.ok() && model->run(c.inputs[0]).ok();
      (void)same_interface;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(ExecuTorchFiles, MemoryOfMoreThan4GiBIsRefused) {
  const Case c = cases().front();
  auto program = formats::pte::read(c.bytes, c.name);
  ASSERT_TRUE(program.ok()) << program.error().message;
  program->plans[0].memory_sizes.back() = std::numeric_limits<int64_t>::max();
  const auto bytes = formats::pte::write(*program);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  const auto model = hostrun::HostModel::load(*bytes, "x.pte");
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().message,
            "x.pte: the plan has a memory of 9223372036854775807 bytes, expected at most "
            "4294967295");
}

/// Our list of ExecuTorch's operators agrees with the files that ExecuTorch writes.
TEST(ExecuTorchFiles, UseOnlyListedStockOperators) {
  std::set<std::string> seen;
  for (const Case& c : cases()) {
    const auto program = formats::pte::read(c.bytes, c.name);
    ASSERT_TRUE(program.ok()) << program.error().message;
    const Status stock = emit::check_stock(*program);
    EXPECT_TRUE(stock.ok()) << c.name << ": " << stock.error().message;
    for (const auto& op : program->plans[0].operators) seen.insert(formats::pte::full_name(op));
  }
  // Together the files call nearly all operators of the cortex_m dialect.
  const auto cortex_m = std::count_if(seen.begin(), seen.end(), [](const std::string& name) {
    return name.starts_with("cortex_m::");
  });
  EXPECT_GE(cortex_m, 21);
}

TEST(ExecuTorchFiles, OtherOperatorsAndOverloadsAreNotStock) {
  const std::vector<Case> all = cases();
  ASSERT_FALSE(all.empty());
  const auto program = formats::pte::read(all[0].bytes, all[0].name);
  ASSERT_TRUE(program.ok());
  const auto refused = [&](auto change, const std::string& reason) {
    formats::pte::Program other = *program;
    change(other.plans[0]);
    const Status stock = emit::check_stock(other);
    ASSERT_FALSE(stock.ok()) << reason;
    EXPECT_EQ(stock.error().kind, ErrorKind::kUnsupported);
    EXPECT_NE(stock.error().message.find(reason), std::string::npos) << stock.error().message;
  };
  using Plan = formats::pte::ExecutionPlan;
  const auto first_call = [](Plan& plan) -> formats::pte::KernelCall& {
    return std::get<formats::pte::KernelCall>(plan.chains[0].instructions[0]);
  };
  refused([](Plan& plan) { plan.operators[0].name = "thimble::linear"; },
          "thimble::linear.out is not an operator of ExecuTorch");
  refused([](Plan& plan) { plan.operators[0].overload = "other"; },
          "is not an operator of ExecuTorch");
  refused([&](Plan& plan) { first_call(plan).args.pop_back(); }, "arguments, expected");
  refused([&](Plan& plan) { first_call(plan).args[0] = first_call(plan).args[1]; },
          "argument 0 is not of kind 'T'");
}

/// Removes arguments from calls of the operator.
void cut_arguments(formats::pte::Program* program, const std::string& name,
                   const std::vector<size_t>& dropped) {
  formats::pte::ExecutionPlan& plan = program->plans[0];
  for (formats::pte::Instruction& instruction : plan.chains[0].instructions) {
    auto* const call = std::get_if<formats::pte::KernelCall>(&instruction);
    const auto& op = plan.operators[static_cast<size_t>(call->op_index)];
    if (formats::pte::full_name(op) != name) continue;
    for (const size_t argument : dropped) {
      call->args.erase(call->args.begin() + static_cast<std::ptrdiff_t>(argument));
    }
  }
}

TEST(ExecuTorchFiles, FilesOfEarlierReleasesRun) {
  // Arguments that earlier releases did not have, from the last argument to the first.
  const std::tuple<std::string, std::string, std::vector<size_t>> drifts[] = {
      {"residual", "cortex_m::quantized_add.out", {12, 11}},
      {"residual", "cortex_m::quantized_conv2d.out", {12}},
      {"separable", "cortex_m::quantized_depthwise_conv2d.out", {13}},
      {"separable", "cortex_m::quantized_avg_pool2d.out", {4}},
      {"separable", "cortex_m::quantized_avg_pool2d.out", {8, 4}},
      {"upward", "cortex_m::quantized_transpose_conv2d.out", {14, 13}},
      {"attention", "cortex_m::quantized_batch_matmul.out", {7}},
  };
  const std::vector<Case> all = cases();
  for (const auto& [name, op, dropped] : drifts) {
    SCOPED_TRACE(name + " " + op);
    const auto c =
        std::find_if(all.begin(), all.end(), [&](const Case& x) { return x.name == name; });
    EXPECT_TRUE(c != all.end() || !is_default_folder()) << "no file of this name";
    if (c == all.end()) continue;
    auto program = formats::pte::read(c->bytes, c->name);
    ASSERT_TRUE(program.ok());
    cut_arguments(&*program, op, dropped);
    const auto older = formats::pte::write(*program);
    ASSERT_TRUE(older.ok());
    EXPECT_FALSE(emit::check_stock(*program).ok());
    auto now = hostrun::HostModel::load(c->bytes, c->name);
    auto then = hostrun::HostModel::load(*older, c->name);
    ASSERT_TRUE(now.ok());
    ASSERT_TRUE(then.ok()) << then.error().message;
    const auto expected = now->run(c->inputs[0]);
    const auto outputs = then->run(c->inputs[0]);
    ASSERT_TRUE(expected.ok() && outputs.ok());
    EXPECT_EQ(*outputs, *expected);

    // Fewer arguments than in any release.
    cut_arguments(&*program, op, {2, 1});
    const auto broken = formats::pte::write(*program);
    ASSERT_TRUE(broken.ok());
    const auto refused = hostrun::HostModel::load(*broken, c->name);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find(op), std::string::npos) << refused.error().message;
  }
}

TEST(ExecuTorchFiles, FilesWithSeveralMemoriesRun) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    auto program = formats::pte::read(c.bytes, c.name);
    ASSERT_TRUE(program.ok());
    formats::pte::ExecutionPlan& plan = program->plans[0];
    const int64_t bytes = plan.memory_sizes.at(1);
    // Every other tensor moves to a second planned memory; offsets do not change.
    plan.memory_sizes = {0, bytes + 4, bytes};
    for (formats::pte::EValue& value : plan.values) {
      auto* const tensor = std::get_if<formats::pte::Tensor>(&value);
      if (tensor == nullptr || !tensor->allocation) continue;
      const uint32_t id = 1 + static_cast<uint32_t>(tensor->allocation->offset / 16 % 2);
      tensor->allocation->memory_id = id;
    }
    const auto split = formats::pte::write(*program);
    ASSERT_TRUE(split.ok());
    auto one_memory = hostrun::HostModel::load(c.bytes, c.name);
    auto two_memories = hostrun::HostModel::load(*split, c.name);
    ASSERT_TRUE(two_memories.ok()) << two_memories.error().message;
    EXPECT_EQ(two_memories->arena_bytes(), (bytes + 4 + 15) / 16 * 16 + bytes);
    const auto expected = one_memory->run(c.inputs[0]);
    const auto outputs = two_memories->run(c.inputs[0]);
    ASSERT_TRUE(expected.ok() && outputs.ok());
    EXPECT_EQ(*outputs, *expected);
  }
}

}  // namespace
}  // namespace thimble
