// SPDX-License-Identifier: Apache-2.0
// The fast engines, compared with the reference evaluator: floats within rounding, integers bit for
// bit.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/print.h"
#include "quant/fast/stable_math.h"
#include "quant/fast_float.h"
#include "quant/simulate.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using quant::FastExecutor;

TEST(FastFloat, AgreesWithTheEvaluatorOnRandomNetworks) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const ir::Graph graph = random_network(seed, 20);
    const auto inputs = random_inputs(graph, seed);
    std::vector<ir::Tensor> fast;
    FastExecutor engine(graph, quant::float_kernels());
    engine.run(inputs, [&](const ir::Op&, const ir::Tensor& result) { fast.push_back(result); });
    size_t index = 0;
    const auto outputs =
        eval::evaluate(graph, inputs, [&](const ir::Op& op, const ir::Tensor& expected) {
          const auto a = expected.data<float>();
          const auto b = fast[index++].data<float>();
          ASSERT_EQ(expected.shape, fast[index - 1].shape);
          double largest = 1;
          for (const float value : a) largest = std::max(largest, std::abs(double{value}));
          for (size_t i = 0; i < a.size(); ++i) {
            ASSERT_NEAR(a[i], b[i], 1e-5 * largest) << "seed " << seed << " " << op_name(op.kind);
          }
        });
    ASSERT_TRUE(outputs.ok());
  }
}

/// Positions are i32 and i64 in the float graph.
TEST(FastFloat, MaximaOfIntegersEqualTheEvaluator) {
  for (const ir::DType dtype : {ir::DType::kI32, ir::DType::kI64}) {
    for (const ir::OpKind kind : {ir::OpKind::maximum, ir::OpKind::minimum}) {
      ir::Graph graph;
      const auto a = graph.add_input("a", {dtype, {3, 70}, {}, {}});
      const auto b = graph.add_input("b", {dtype, {70}, {}, {}});
      const auto y = graph.add(kind, {a, b}, {});
      ASSERT_TRUE(y.ok()) << y.error().message;
      graph.add_output(*y);
      const auto inputs = random_inputs(graph, 1);
      FastExecutor engine(graph, quant::float_kernels());
      const auto expected = eval::evaluate(graph, inputs);
      ASSERT_TRUE(expected.ok());
      engine.run(inputs, [&](const ir::Op& /*op*/, const ir::Tensor& result) {
        EXPECT_EQ(result, (*expected)[0]);
      });
    }
  }
}

TEST(Simulate, EqualsTheEvaluatorOnRandomGraphsOfAllOperators) {
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    const ir::Graph graph = random_graph(seed, 25);
    const auto inputs = random_inputs(graph, seed);
    const auto expected = eval::evaluate(graph, inputs);
    const auto got = quant::simulate(graph, inputs);
    ASSERT_TRUE(expected.ok() && got.ok());
    for (size_t i = 0; i < expected->size(); ++i) {
      ASSERT_TRUE((*expected)[i].bytes == (*got)[i].bytes) << "seed " << seed << " output " << i;
    }
  }
}

TEST(Simulate, AccumulatorsAbove2To24AreExact) {
  // 1000 products of 255 * 127 exceed 2^24.
  constexpr int64_t kTerms = 1000;
  ir::Graph graph;
  const auto x = graph.add_input("x", {ir::DType::kI8, {3, kTerms}, {}, {}});
  Random random(1);
  ir::Tensor w = ir::zeros(ir::DType::kI8, {2, kTerms});
  for (int8_t& code : w.data<int8_t>()) code = static_cast<int8_t>(random.between(100, 127));
  const auto constant = [&](ir::Tensor tensor) {
    return graph.add_constant("c", std::make_shared<ir::Tensor>(std::move(tensor)));
  };
  const std::vector<int32_t> mult = {1 << 30, (1 << 30) + 12345}, shift = {-17, -18};
  const auto y = graph.add(ir::OpKind::qlinear,
                           {x, constant(std::move(w)), ir::kNoValue,
                            constant(ir::make_i32({2}, mult)), constant(ir::make_i32({2}, shift))},
                           {{ir::attr::x_zp, int64_t{-128}},
                            {ir::attr::y_zp, int64_t{-128}},
                            {ir::attr::min, int64_t{-128}},
                            {ir::attr::max, int64_t{127}}});
  ASSERT_TRUE(y.ok()) << y.error().message;
  graph.add_output(*y);
  ir::Tensor codes = ir::zeros(ir::DType::kI8, {3, kTerms});
  for (int8_t& code : codes.data<int8_t>()) code = static_cast<int8_t>(random.between(0, 127));
  const std::vector<ir::Tensor> inputs = {codes};
  EXPECT_EQ((*eval::evaluate(graph, inputs))[0], (*quant::simulate(graph, inputs))[0]);
}

/// A product of two inputs: matrices [rows, depth] and [depth, columns] with leading dimensions.
struct ProductCase {
  ir::Shape a, b;
  bool transposed;
};
const std::vector<ProductCase> kProducts = {
    {{5, 3}, {3, 11}, false},          {{2, 3, 5, 17}, {2, 3, 17, 8}, false},
    {{2, 1, 4, 40}, {3, 9, 40}, true}, {{1, 7}, {2, 16, 7}, true},
    {{1, 1}, {1, 1}, false},
};

ir::Graph product(const ProductCase& c, ir::OpKind kind, const ir::Type& a, const ir::Type& b,
                  ir::Attrs attrs) {
  ir::Graph graph;
  attrs.set(ir::attr::transpose_b, int64_t{c.transposed});
  const auto x = graph.add_input("a", a), w = graph.add_input("b", b);
  graph.add_output(*graph.add(kind, {x, w}, std::move(attrs)));
  return graph;
}

TEST(FastFloat, MatrixProductsEqualTheEvaluator) {
  for (const ProductCase& c : kProducts) {
    const ir::Graph graph = product(c, ir::OpKind::matmul, {ir::DType::kF32, c.a, {}, {}},
                                    {ir::DType::kF32, c.b, {}, {}}, {{ir::attr::scale, 0.37}});
    const auto inputs = random_inputs(graph, 7);
    FastExecutor engine(graph, quant::float_kernels());
    engine.run(inputs, {});
    EXPECT_EQ((*eval::evaluate(graph, inputs))[0], engine.outputs()[0]) << ir::list_text(c.a);
  }
}

/// A recurrent layer with random weights: x [6,2,5], hidden size 11.
ir::Graph recurrent_layer(ir::OpKind kind, int64_t gates, bool biases, ir::Attrs attrs) {
  constexpr int64_t kSteps = 6, kBatch = 2, kInputs = 5, kHidden = 11;
  ir::Graph graph;
  Random random(3);
  const auto constant = [&](const ir::Shape& shape) {
    ir::Tensor tensor = ir::zeros(ir::DType::kF32, shape);
    for (float& value : tensor.data<float>()) {
      value = static_cast<float>(random.between(-1000, 1000)) / 1000;
    }
    return graph.add_constant("c", std::make_shared<ir::Tensor>(std::move(tensor)));
  };
  std::vector<ir::ValueId> operands = {
      graph.add_input("x", {ir::DType::kF32, {kSteps, kBatch, kInputs}, {}, {}}),
      constant({1, kBatch, kHidden})};
  if (kind == ir::OpKind::lstm) operands.push_back(constant({1, kBatch, kHidden}));
  operands.push_back(constant({gates * kHidden, kInputs}));
  operands.push_back(constant({gates * kHidden, kHidden}));
  for (int i = 0; i < 2; ++i) {
    operands.push_back(biases ? constant({gates * kHidden}) : ir::kNoValue);
  }
  graph.add_output(*graph.add(kind, operands, std::move(attrs)));
  return graph;
}

TEST(FastFloat, RecurrentLayersAgreeWithTheEvaluator) {
  for (const bool biases : {false, true}) {
    for (const int64_t option : {0, 1}) {
      const ir::Graph graphs[] = {
          recurrent_layer(ir::OpKind::lstm, 4, biases,
                          {{ir::attr::reverse, option}, {ir::attr::cell, 1 - option}}),
          recurrent_layer(ir::OpKind::lstm, 4, biases, {}),
          recurrent_layer(ir::OpKind::gru, 3, biases, {{ir::attr::reverse, option}}),
          recurrent_layer(ir::OpKind::rnn, 1, biases, {{ir::attr::relu, option}}),
      };
      for (const ir::Graph& graph : graphs) {
        const auto inputs = random_inputs(graph, 5);
        FastExecutor engine(graph, quant::float_kernels());
        engine.run(inputs, {});
        const auto expected = eval::evaluate(graph, inputs);
        ASSERT_TRUE(expected.ok());
        const ir::Tensor got = engine.outputs()[0];
        for (size_t i = 0; i < got.data<float>().size(); ++i) {
          // The functions differ by less than one rounding of double.
          EXPECT_FLOAT_EQ(got.data<float>()[i], (*expected)[0].data<float>()[i]);
        }
      }
    }
  }
}

TEST(Simulate, MatrixProductsEqualTheEvaluator) {
  for (const ProductCase& c : kProducts) {
    for (const int64_t rounding : {0, 1}) {
      const ir::Graph graph = product(c, ir::OpKind::qmatmul, {ir::DType::kI8, c.a, {}, {}},
                                      {ir::DType::kI8, c.b, {}, {}},
                                      {{ir::attr::a_zp, int64_t{-128}},
                                       {ir::attr::b_zp, int64_t{127}},
                                       {ir::attr::y_zp, int64_t{-3}},
                                       {ir::attr::mult, int64_t{1} << 30},
                                       {ir::attr::shift, int64_t{-9}},
                                       {ir::attr::rounding, rounding}});
      const auto inputs = random_inputs(graph, 7);
      EXPECT_EQ((*eval::evaluate(graph, inputs))[0], (*quant::simulate(graph, inputs))[0])
          << ir::list_text(c.a);
    }
  }
}

TEST(Simulate, WrongInputsAreRefused) {
  ir::Graph graph;
  graph.add_output(graph.add_input("x", {ir::DType::kI8, {3}, {}, {}}));
  const std::vector<ir::Tensor> inputs = {ir::zeros(ir::DType::kF32, {3})};
  const auto result = quant::simulate(graph, inputs);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "input 0 (%x) is f32[3], expected i8[3]");
}

TEST(StableMath, FunctionsOfArraysEqualThoseOfOneElement) {
  std::vector<double> values;
  for (double x = -760; x < 760; x += 0.173) values.push_back(x);
  for (double x = -7; x < 7; x += 0.0017) values.push_back(x);
  for (double x = 1e-320; x < 1e10; x *= 29) values.insert(values.end(), {x, -x});
  // Blocks of special values, and one in a block of others.
  values.insert(values.end(), 9, -kInfinity);
  values.insert(values.end(), 9, std::numeric_limits<double>::quiet_NaN());
  values.insert(values.end(), {1, 2, kInfinity, 0, -0.0, 6, -6, 3, 4, 5});
  const auto expect_equal = [&](void (*array)(std::span<double>), double (*one)(double)) {
    std::vector<double> got = values;
    array(got);
    for (size_t i = 0; i < got.size(); ++i) {
      const double wanted = one(values[i]);
      EXPECT_TRUE(got[i] == wanted || (std::isnan(got[i]) && std::isnan(wanted)))
          << values[i] << ": " << got[i] << ", expected " << wanted;
    }
  };
  expect_equal(quant::stable_erf, quant::stable_erf);
  expect_equal(quant::stable_exp, quant::stable_exp);
  expect_equal(quant::stable_sigmoid, quant::stable_sigmoid);
  expect_equal(quant::stable_tanh, quant::stable_tanh);
}

TEST(StableMath, IsCloseToStandardLibrary) {
  for (double x = -700; x < 700; x += 0.37) {
    EXPECT_NEAR(quant::stable_exp(x) / std::exp(x), 1, 1e-14) << x;
    EXPECT_NEAR(quant::stable_tanh(x / 50), std::tanh(x / 50), 1e-15) << x;
  }
  for (double x = 1e-300; x < 1e300; x *= 3.7) {
    EXPECT_NEAR(quant::stable_log(x), std::log(x), 1e-15 * std::abs(std::log(x)) + 1e-15) << x;
  }
  for (double x = -300; x < 300; x += 0.0371) {
    EXPECT_NEAR(quant::stable_atan(x), std::atan(x), 1e-15) << x;
    EXPECT_NEAR(quant::stable_sin(x), std::sin(x), 1e-15) << x;
    EXPECT_NEAR(quant::stable_cos(x * 1000), std::cos(x * 1000), 1e-15) << x;
    EXPECT_NEAR(quant::stable_erf(x / 40), std::erf(x / 40), 4e-15) << x;
    for (const double exponent : {2.0, -1.0, 3.0, 0.37, -2.5}) {
      const double wanted = std::pow(x, exponent);
      const double got = quant::stable_pow(x, exponent);
      EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got) : std::abs(got / wanted - 1) < 1e-13)
          << x << " to the " << exponent;
    }
  }
  for (const double x : {0.0, 1.0, kInfinity}) {
    for (const double exponent : {0.0, 1.5, -2.0, 3.0}) {
      EXPECT_EQ(quant::stable_pow(x, exponent), std::pow(x, exponent)) << x << " " << exponent;
    }
  }
  EXPECT_EQ(quant::stable_erf(-7), -1);
  EXPECT_EQ(quant::stable_log(0), -kInfinity);
  EXPECT_TRUE(std::isnan(quant::stable_log(-1)));
  EXPECT_EQ(quant::stable_exp(0), 1);
  EXPECT_EQ(quant::stable_sigmoid(0), 0.5);
  EXPECT_EQ(quant::stable_exp(-1e4), 0);
}

}  // namespace
}  // namespace thimble::test
