// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parses text, runs a pass, and returns text; and checks that the values did not change.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "eval/evaluate.h"
#include "ir/dce.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ir_random_graph.h"

namespace thimble::test {

inline ir::Graph parsed(const std::string& text) {
  auto graph = ir::parse(text, "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? *graph : ir::Graph{};
}

/// Largest difference of any output, relative to the largest |output|; 1e9 if NaNs differ.
inline double largest_difference(const ir::Graph& a, const ir::Graph& b, uint64_t seed) {
  const auto inputs = random_inputs(a, seed);
  const auto expected = eval::evaluate(a, inputs);
  const auto got = eval::evaluate(b, inputs);
  EXPECT_TRUE(expected.ok() && got.ok());
  double largest = 0;
  for (size_t i = 0; i < expected->size(); ++i) {
    const ir::Tensor& x = (*expected)[i];
    const ir::Tensor& y = (*got)[i];
    EXPECT_EQ(x.shape, y.shape);
    EXPECT_EQ(x.dtype, y.dtype);
    if (x.dtype != ir::DType::kF32) {
      if (x != y) return 1e9;
      continue;
    }
    double scale = 1;
    for (const float value : x.data<float>()) {
      if (std::isfinite(value)) scale = std::max(scale, std::abs(static_cast<double>(value)));
    }
    for (size_t k = 0; k < x.data<float>().size(); ++k) {
      const double p = static_cast<double>(x.data<float>()[k]);
      const double q = static_cast<double>(y.data<float>()[k]);
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      if (!std::isfinite(p) || !std::isfinite(q)) return 1e9;
      largest = std::max(largest, std::abs(p - q) / scale);
    }
  }
  return largest;
}

/// Returns the names of the operators in order: "conv2d add".
inline std::string op_names(const ir::Graph& graph) {
  std::string names;
  for (const ir::Op& op : graph.ops()) {
    names += (names.empty() ? "" : " ") + std::string(ir::op_name(op.kind));
  }
  return names;
}

/// Runs the pass and removes unused values. The result must be verified and have equal outputs.
inline ir::Graph run_pass(Result<ir::Graph> (*pass)(const ir::Graph&), const std::string& text) {
  const ir::Graph before = parsed(text);
  auto after = pass(before);
  EXPECT_TRUE(after.ok()) << (after.ok() ? "" : after.error().message);
  if (!after) return {};
  ir::Graph result = ir::remove_unused(*after);
  EXPECT_TRUE(ir::verify(result).ok());
  EXPECT_LT(largest_difference(before, result, 1), 1e-5) << ir::print(result);
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    EXPECT_EQ(before.type(before.outputs()[i]), result.type(result.outputs()[i]));
  }
  return result;
}

}  // namespace thimble::test
