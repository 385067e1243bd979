// SPDX-License-Identifier: Apache-2.0
// Preferences that an engine may pass to the quantizer (quant::QuantSpec): products of activations
// without zero points, tables of named functions only. And behaviour that needs no preference:
// factors, exponentials and sums with ranges of their own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/print.h"
#include "ir/verify.h"
#include "quant/named_function.h"
#include "quant/quantize.h"
#include "quant_random_network.h"

namespace thimble::test {
namespace {

using ir::OpKind;

constexpr std::string_view kNames[] = {"abs",  "clamp", "exp",      "hard_swish", "leaky_relu",
                                       "line", "log",   "logistic", "rsqrt",      "tanh"};

quant::QuantSpec with_tables() {
  quant::QuantSpec spec;
  spec.tables.assign(std::begin(kNames), std::end(kNames));
  return spec;
}

struct Quantized {
  ir::Graph graph;
  double db = 0;
};

/// Quantizes with random samples in [-2, 2].
Quantized quantized(const std::string& body, const quant::QuantSpec& spec) {
  const auto graph = ir::parse("graph @forward {\n" + body + "\n}", "test");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  const auto model = quant::quantize(*graph, random_calibration(*graph, 1, 16), spec, {});
  EXPECT_TRUE(model.ok()) << (model.ok() ? "" : model.error().message);
  EXPECT_TRUE(ir::verify(model->graph).ok());
  return {model->graph, model->report.output_sqnr_db[0]};
}

std::vector<OpKind> inner(const ir::Graph& graph) {
  std::vector<OpKind> kinds;
  for (const ir::Op& op : graph.ops()) {
    if (op.kind != OpKind::quantize && op.kind != OpKind::dequantize) kinds.push_back(op.kind);
  }
  return kinds;
}

using Kinds = std::vector<OpKind>;

constexpr const char* kSilu = R"(
input %x: f32[1,4,6,6]
%s: f32[1,4,6,6] = sigmoid(%x)
%y: f32[1,4,6,6] = mul(%x, %s)
output %y)";

/// Each of these functions has no name. Its table has the function's nearest value everywhere.
TEST(QuantPreferences, AnyFunctionIsOneTableWithoutPreference) {
  struct Case {
    const char* body;  // statements from %x to %y
    double (*f)(double);
  };
  const Case cases[] = {
      {"%s: f32[1,4,6,6] = sigmoid(%x)\n%y: f32[1,4,6,6] = mul(%x, %s)",
       [](double x) { return x / (1 + std::exp(-x)); }},
      {"%t: f32[1,4,6,6] = tanh(%x)\n%y: f32[1,4,6,6] = mul(%x, %t)",
       [](double x) { return x * std::tanh(x); }},
      {"%e: f32[1,4,6,6] = exp(%x)\n%y: f32[1,4,6,6] = add(%e, %x)",
       [](double x) { return std::exp(x) + x; }},
      {"%s: f32[1,4,6,6] = sigmoid(%x)\n%t: f32[1,4,6,6] = tanh(%x)\n"
       "%y: f32[1,4,6,6] = sub(%s, %t)",
       [](double x) { return 1 / (1 + std::exp(-x)) - std::tanh(x); }},
      {"%a: f32[1,4,6,6] = abs(%x)\n%e: f32[1,4,6,6] = exp(%a)\n%y: f32[1,4,6,6] = tanh(%e)",
       [](double x) { return std::tanh(std::exp(std::abs(x))); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    const ir::Graph graph =
        quantized("input %x: f32[1,4,6,6]\n" + std::string(c.body) + "\noutput %y", {}).graph;
    ASSERT_EQ(names_of(graph), "quantize lut dequantize");
    const ir::Op& lut = graph.ops()[1];
    const ir::Quant& from = *graph.type(lut.inputs[0]).quant;
    const ir::Quant& to = *graph.type(lut.output).quant;
    const auto table = graph.value(lut.inputs[1]).constant->data<int8_t>();
    for (int code = -128; code <= 127; ++code) {
      const double y = c.f(from.scale[0] * (code - from.zero_point[0]));
      const double exact = std::clamp(y / to.scale[0] + to.zero_point[0], -128.0, 127.0);
      EXPECT_NEAR(table[static_cast<size_t>(code + 128)], exact, 0.501) << code;
    }
  }
}

TEST(QuantPreferences, SiluBecomesLogisticAndMul) {
  const auto split = quantized(kSilu, with_tables());
  EXPECT_EQ(inner(split.graph), (Kinds{OpKind::lut, OpKind::qmul}));
  const ir::Op& table = split.graph.ops()[1];
  EXPECT_EQ(split.graph.type(table.output).quant, ir::per_tensor(1.0 / 256, -128));
  // The result is rounded three times instead of once.
  EXPECT_GT(split.db, 38);
  EXPECT_GT(quantized(kSilu, {}).db, split.db);
}

TEST(QuantPreferences, HardSwishStaysOneTable) {
  EXPECT_EQ(inner(quantized(R"(
input %x: f32[1,4,6,6]
const %c3: f32[1] = 0x00004040
const %c6: f32[1] = 0xabaa2a3e
%a: f32[1,4,6,6] = add(%x, %c3)
%r: f32[1,4,6,6] = clamp(%a) {min=0.0, max=6.0}
%h: f32[1,4,6,6] = mul(%r, %c6)
%y: f32[1,4,6,6] = mul(%x, %h)
output %y)",
                            with_tables())
                      .graph),
            Kinds{OpKind::lut});
}

/// The first table only halves the scale; its quantized values are exact.
TEST(QuantPreferences, ScaledFunctionBecomesTwoTables) {
  EXPECT_EQ(inner(quantized(R"(
input %x: f32[1,4,6,6]
const %c: f32[1] = 0x0000003f
%a: f32[1,4,6,6] = mul(%x, %c)
%y: f32[1,4,6,6] = tanh(%a)
output %y)",
                            with_tables())
                      .graph),
            (Kinds{OpKind::lut, OpKind::lut}));
}

/// exp, line, log, tanh, mul: five operators in eight bits would lose too much accuracy.
TEST(QuantPreferences, FormulaOfManyOperatorsStaysOneTable) {
  EXPECT_EQ(inner(quantized(R"(
input %x: f32[1,4,6,6]
const %one: f32[1] = 0x0000803f
%e: f32[1,4,6,6] = exp(%x)
%p: f32[1,4,6,6] = add(%e, %one)
%l: f32[1,4,6,6] = log(%p)
%t: f32[1,4,6,6] = tanh(%l)
%y: f32[1,4,6,6] = mul(%x, %t)
output %y)",
                            with_tables())
                      .graph),
            Kinds{OpKind::lut});
}

TEST(QuantPreferences, SimilarFunctionsAreDistinguished) {
  struct Case {
    const char* name;
    double (*f)(double);
    double (*near)(double);  // a similar function that must not get the name
  };
  const Case cases[] = {
      {"abs", [](double x) { return std::abs(x); }, [](double x) { return std::abs(x) * 1.001; }},
      {"clamp", [](double x) { return std::clamp(x, -1.0, 6.0); },
       [](double x) { return std::clamp(x * 0.999, -1.0, 6.0); }},
      {"exp", [](double x) { return std::exp(x); }, [](double x) { return std::exp2(x); }},
      {"hard_swish", [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; },
       [](double x) { return x / (1 + std::exp(-x)); }},
      {"leaky_relu", [](double x) { return x < 0 ? 0.1 * x : x; },
       [](double x) { return x < 0 ? 0.1 * x : 1.01 * x; }},
      {"line", [](double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); },
       [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"log", [](double x) { return std::log(x); }, [](double x) { return std::log1p(x); }},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); },
       [](double x) { return 1 / (1 + std::exp(-1.702 * x)); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, [](double x) { return std::sqrt(x); }},
      {"tanh", [](double x) { return std::tanh(x); }, [](double x) { return std::erf(x); }},
  };
  for (const Case& c : cases) {
    const std::string_view name[] = {c.name};
    EXPECT_TRUE(quant::is_function_name(c.name)) << c.name;
    EXPECT_TRUE(quant::is_named(c.f, name)) << c.name;
    EXPECT_FALSE(quant::is_named(c.near, name)) << c.name;
  }
}

constexpr const char* kAttention = R"(
input %q: f32[2,8,16]
input %k: f32[2,8,16]
input %v: f32[2,8,16]
%s: f32[2,8,8] = matmul(%q, %k) {transpose_b=1, scale=0.05}
%p: f32[2,8,8] = softmax(%s) {dim=2}
%y: f32[2,8,16] = matmul(%p, %v)
output %y)";

TEST(QuantPreferences, ProductOperandsHaveZeroPointZero) {
  quant::QuantSpec spec;
  spec.symmetric_products = true;
  const auto wished = quantized(kAttention, spec);
  int products = 0;
  for (const ir::Op& op : wished.graph.ops()) {
    if (op.kind != OpKind::qmatmul) continue;
    ++products;
    EXPECT_EQ(op.get(ir::attr::a_zp), 0);
    EXPECT_EQ(op.get(ir::attr::b_zp), 0);
    for (const ir::ValueId id : op.inputs) {
      EXPECT_EQ(wished.graph.type(id).quant->zero_point[0], 0);
    }
  }
  EXPECT_EQ(products, 2);
  // The softmax keeps its scale and zero point; a table converts to those of the product.
  EXPECT_EQ(inner(wished.graph),
            (Kinds{OpKind::qmatmul, OpKind::qsoftmax, OpKind::lut, OpKind::qmatmul}));
  const auto plain = quantized(kAttention, {});
  EXPECT_EQ(inner(plain.graph), (Kinds{OpKind::qmatmul, OpKind::qsoftmax, OpKind::qmatmul}));
  // No probability is above 0.5: the zero point changes, but the scale does not become coarser.
  EXPECT_GT(wished.db, plain.db - 1);
}

/// NXP's quantizer limits factors to [-0.5, 0.496] and gives exp and sum the scale of their
/// operand. Then these results would be limited to 2.
TEST(QuantPreferences, FactorsExpAndSumsHaveOwnRanges) {
  const auto product = quantized(R"(
input %a: f32[1,4,6,6]
input %b: f32[1,4,6,6]
%y: f32[1,4,6,6] = mul(%a, %b)
output %y)",
                                 with_tables());
  ASSERT_EQ(names_of(product.graph), "quantize quantize qmul dequantize");
  for (const ir::ValueId id : product.graph.ops()[2].inputs) {
    const double largest = 127 * product.graph.type(id).quant->scale[0];
    EXPECT_GT(largest, 1.8) << "a factor is cut off";
  }
  EXPECT_GT(product.db, 35);
  const auto exponential = quantized(R"(
input %x: f32[1,4,6,6]
%y: f32[1,4,6,6] = exp(%x)
output %y)",
                                     with_tables());
  EXPECT_GT(exponential.db, 35);
  const auto sum = quantized(R"(
input %x: f32[1,4,6,6]
%y: f32[1,4,1,1] = sum(%x) {dims=[2,3], keepdim=1}
output %y)",
                             with_tables());
  EXPECT_GT(sum.db, 35);
}

}  // namespace
}  // namespace thimble::test
