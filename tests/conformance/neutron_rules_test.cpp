// SPDX-License-Identifier: Apache-2.0
// The rules of the Neutron: every row of engines/neutron/compiler/ops.def has an accepted case, a
// refused case, and its message. Cases are in tests/text/neutron: `? [variant: ] [type =]
// operator`, then
// `=` and the operators that replace it (and the exceeded limit, if that is the reason), or `!` and
// the reason. Accepted operators are also compared with their legalized graph, by the evaluator.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <random>
#include <set>
#include <sstream>

#include "engine/single_op.h"
#include "engines/neutron/compiler/legalize.h"
#include "engines/neutron/compiler/limits.h"
#include "engines/neutron/compiler/no_effect.h"
#include "eval/evaluate.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "random_integer_graph.h"
#include "tests/folders.h"
#include "tests/text/text_runner.h"

namespace thimble::test {
namespace {

using engine::neutron::Variant;
using ir::OpKind;

constexpr Variant kVariants[] = {Variant::kN3_64, Variant::kN1_16, Variant::kImx95};

// --- the table, expanded for the test -----------------------------------------------------------

constexpr unsigned kN3_64Set = 1, kN1_16Set = 2, kImx95Set = 4,
                   kAll = kN3_64Set | kN1_16Set | kImx95Set;
struct OpRow {
  std::string op;
  unsigned variants;
};
struct LimitRow {
  std::string op, quantity;
  unsigned variants;
};
struct WantRow {
  std::string op, words;
  unsigned variants;
};

std::vector<OpRow> runs() {
  return {
#define NEUTRON_SUPPORTED(op, variants, traits, litert_operators) {#op, variants},
#include "engines/neutron/compiler/ops.def"
  };
}
std::vector<OpRow> refusals() {
  return {
#define NEUTRON_REFUSE(op, variants, reason) {#op, variants},
#include "engines/neutron/compiler/ops.def"
  };
}
std::vector<WantRow> wants() {
  return {
#define NEUTRON_REQUIRE_ZERO(op, variants, quantity, message, source) {#op, message, variants},
#include "engines/neutron/compiler/ops.def"
  };
}
std::vector<LimitRow> limits() {
  return {
#define NEUTRON_LIMIT(op, variants, quantity, lowest, highest, source) {#op, #quantity, variants},
#define NEUTRON_CHOICE(op, variants, quantity, source, ...) {#op, #quantity, variants},
#include "engines/neutron/compiler/ops.def"
  };
}

// --- cases --------------------------------------------------------------------------------------

struct Trial {
  ir::Graph graph;
  Variant variant = Variant::kN3_64;
};

Trial trial_of(std::string_view prelude, std::string_view text) {
  Trial trial;
  for (const engine::neutron::Configuration& each : engine::neutron::kConfigurations) {
    const std::string name(each.name);
    const std::string mark = name.substr(name.find('-') + 1) + ": ";
    if (!text.starts_with(mark)) continue;
    trial.variant = each.variant;
    text.remove_prefix(mark.size());
  }
  const bool typed = text.starts_with("i8[");
  const auto source = fmt::format("graph @trial {{\n{}%result{}{}\noutput %result\n}}\n", prelude,
                                  typed ? ": " : " = ", text);
  auto graph = ir::parse(source, "trial");
  EXPECT_TRUE(graph.ok()) << text << ": " << (graph.ok() ? "" : graph.error().message);
  if (graph.ok()) trial.graph = *std::move(graph);
  return trial;
}

std::vector<ir::Tensor> inputs_of(const ir::Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<ir::Tensor> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Type& type = graph.type(id);
    ir::Tensor tensor = ir::zeros(type.dtype, type.shape);
    for (std::byte& byte : tensor.bytes) byte = static_cast<std::byte>(random());
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

/// Checks that the legalized graph gives the same values, with a difference of at most `apart`.
/// `apart` is 1 where the legalized graph rounds once instead of twice.
void expect_same(const ir::Graph& graph, const ir::Graph& legalized, int apart) {
  constexpr uint32_t kSeeds = 3;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    const auto inputs = inputs_of(graph, seed);
    const auto wanted = eval::evaluate(graph, inputs);
    const auto found = eval::evaluate(legalized, inputs);
    ASSERT_TRUE(wanted.ok() && found.ok());
    const auto a = (*wanted)[0].data<int8_t>(), b = (*found)[0].data<int8_t>();
    ASSERT_EQ((*wanted)[0].shape, (*found)[0].shape);
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_LE(std::abs(a[i] - b[i]), apart) << "element " << i << ", seed " << seed;
    }
  }
}

void expect_legalized_equal(const ir::Graph& graph, const ir::Graph& legalized, int apart) {
  const auto again = engine::neutron::legalize(legalized);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(ir::print(*again), ir::print(legalized)) << "a form has a form of its own";
  EXPECT_TRUE(ir::verify(legalized).ok());
  EXPECT_EQ(legalized.value(legalized.outputs()[0]).name, graph.value(graph.outputs()[0]).name);
  EXPECT_EQ(legalized.type(legalized.outputs()[0]), graph.type(graph.outputs()[0]));
  expect_same(graph, legalized, apart);
}

std::string kinds_text(const ir::Graph& graph) {
  std::vector<std::string_view> kinds;
  for (const ir::Op& op : graph.ops()) kinds.push_back(ir::op_name(op.kind));
  return fmt::format("{}", fmt::join(kinds, " "));
}

std::string reason_of(const Trial& trial, const engine::Legality& verdict) {
  const std::string prefix = fmt::format("{}: ", ir::op_name(trial.graph.ops().back().kind));
  EXPECT_TRUE(verdict.reason.starts_with(prefix)) << verdict.reason;
  return "! " + verdict.reason.substr(std::min(prefix.size(), verdict.reason.size()));
}

std::string rule_result(std::string_view prelude, std::string_view text) {
  const Trial trial = trial_of(prelude, text);
  if (trial.graph.ops().empty()) return "! no graph";
  const ir::Op& op = trial.graph.ops().back();
  const auto verdict = engine::neutron::check_rules(trial.graph, op, trial.variant);
  if (!verdict.legal) return reason_of(trial, verdict);
  EXPECT_EQ(verdict.reason, "");
  const auto legalized = engine::neutron::legalize(trial.graph);
  EXPECT_TRUE(legalized.ok()) << text;
  if (!legalized.ok()) return "! no form";
  SCOPED_TRACE(std::string(text));
  expect_legalized_equal(trial.graph, *legalized, op.kind == OpKind::qlinear ? 1 : 0);
  // Why it has another form than LiteRT's operator for it.
  const std::string past = engine::neutron::violated_row_text(trial.graph, op, trial.variant);
  return "= " + kinds_text(*legalized) + (past.empty() ? "" : ": " + past);
}

class NeutronRules : public testing::TestWithParam<std::string> {};

TEST_P(NeutronRules, AcceptAndRefuse) {
  check_trial_file(GetParam(), rule_result);
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.find('/') + 1);
  return name.substr(0, name.find('.'));
}
INSTANTIATE_TEST_SUITE_P(Rows, NeutronRules, testing::ValuesIn(text_files("neutron")), test_name);

/// Legalizes every operator of random graphs generated without regard to the NPU.
TEST(NeutronLegalizer, LegalizedRandomOperatorsEqualOriginal) {
  const char* one = std::getenv("THIMBLE_NEUTRON_SEED");
  const uint64_t first = one == nullptr ? 1 : std::strtoull(one, nullptr, 10);
  const uint64_t count = one == nullptr ? 400 : 1;
  int legal = 0, changed = 0;
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const ir::Graph graph = random_integer_graph(seed, {10, false});
    for (const ir::Op& op : graph.ops()) {
      if (!engine::neutron::check_rules(graph, op, Variant::kN3_64).legal) continue;
      const auto single_op_graph = engine::single_op_graph(graph, op);
      ASSERT_TRUE(single_op_graph.ok());
      const auto legalized = engine::neutron::legalize(*single_op_graph);
      ASSERT_TRUE(legalized.ok());
      SCOPED_TRACE(fmt::format("THIMBLE_NEUTRON_SEED={}\n{}", seed, ir::print(*single_op_graph)));
      // qlinear rounds once instead of twice; a linear lut may differ at halves.
      const bool near = op.kind == OpKind::qlinear || op.kind == OpKind::lut;
      expect_legalized_equal(*single_op_graph, *legalized, near ? 1 : 0);
      ++legal;
      changed += kinds_text(*legalized) == kinds_text(*single_op_graph) ? 0 : 1;
    }
  }
  std::cout << legal << " operators, " << changed << " in a form of others\n";
  EXPECT_TRUE(one != nullptr || (legal > 500 && changed > 20));
}

// --- every row has a case -----------------------------------------------------------------------

struct RuleResult {
  std::string op, variant, text;  // "! kernel height is 4097, ..."
};

std::string contents(const std::string& path) {
  std::ifstream file(test::source_folder() / "tests/text" / path);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<RuleResult> rule_results() {
  std::vector<RuleResult> all;
  for (const std::string& name : text_files("neutron")) {
    const std::string op = name.substr(8, name.find('.') - 8);
    std::istringstream lines(contents(name));
    std::string variant;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("? ")) variant = line.starts_with("? n1-16: ") ? "n1" : "n3";
      if (line.starts_with("= ") || line.starts_with("! ")) all.push_back({op, variant, line});
    }
  }
  return all;
}

/// Returns true if a case of the operator is refused or replaced with a message that starts with
/// `message`.
bool is_refused(const std::vector<RuleResult>& all, const std::string& op,
                const std::string& message, unsigned variants) {
  return std::ranges::any_of(all, [&](const RuleResult& a) {
    const bool found =
        a.text.starts_with("! " + message) || a.text.find(": " + message) != std::string::npos;
    return (a.op == op || op == "any") && found && (variants != kN1_16Set || a.variant == "n1");
  });
}

TEST(NeutronTable, EveryRowHasAcceptedAndRefusedCases) {
  const std::vector<RuleResult> all = rule_results();
  for (const OpRow& row : runs()) {
    if (row.op == "lut") continue;  // tested by NeutronTables
    EXPECT_TRUE(std::ranges::any_of(
        all, [&](const RuleResult& a) { return a.op == row.op && a.text.starts_with("= "); }))
        << row.op << " has no accepted case";
  }
  for (const LimitRow& row : limits()) {
    std::string words = row.quantity;
    std::ranges::replace(words, '_', ' ');
    EXPECT_TRUE(is_refused(all, row.op, words + " is ", row.variants))
        << row.op << ": no case is refused for its " << words;
  }
  for (const WantRow& row : wants()) {
    EXPECT_TRUE(is_refused(all, row.op, row.words, row.variants))
        << row.op << ": no case is refused with: " << row.words;
  }
  const auto accepted =
      std::ranges::count_if(all, [](const RuleResult& a) { return a.text.starts_with("= "); });
  RecordProperty("accepted", static_cast<int>(accepted));
  RecordProperty("refused", static_cast<int>(all.size()) - static_cast<int>(accepted));
}

/// The first accepted operator of tests/text/ops/`op`.ir, with the declarations of that file.
Trial example(const std::string& op) {
  std::istringstream lines(contents("ops/" + op + ".ir"));
  std::string prelude, trial;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("= ")) break;
    if (line.starts_with("? ")) trial = line.substr(2);
    if (!line.starts_with("? ") && !line.starts_with("! ")) prelude += line + "\n";
  }
  return trial_of(prelude, trial);
}

TEST(NeutronTable, UnsupportedOperatorsAreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> expected = {
#define NEUTRON_REFUSE(op, variants, reason) {#op, reason},
#include "engines/neutron/compiler/ops.def"
  };
  for (const auto& [op, reason] : expected) {
    for (const Variant variant : kVariants) {
      const Trial trial = example(op);
      ASSERT_FALSE(trial.graph.ops().empty()) << op;
      const auto verdict =
          engine::neutron::check_rules(trial.graph, trial.graph.ops().back(), variant);
      EXPECT_FALSE(verdict.legal) << op;
      EXPECT_EQ(verdict.reason, op + ": " + reason);
    }
  }
}

/// Each integer operator has exactly one row. Float operators have none and are refused as such.
TEST(NeutronTable, IntegerOperatorsHaveOneRowAndFloatOperatorsNone) {
  std::multiset<std::string> rows;
  for (const OpRow& row : runs()) rows.insert(row.op);
  for (const OpRow& row : refusals()) rows.insert(row.op);
  for (size_t i = 0; i < static_cast<size_t>(OpKind::kCount); ++i) {
    const std::string op(ir::op_name(static_cast<OpKind>(i)));
    EXPECT_LE(rows.count(op), 1U) << op;
    if (rows.contains(op)) continue;
    const Trial trial = example(op);
    ASSERT_FALSE(trial.graph.ops().empty()) << op;
    const auto verdict =
        engine::neutron::check_rules(trial.graph, trial.graph.ops().back(), Variant::kN3_64);
    EXPECT_EQ(verdict.reason, op + ": the NPU has no row for it in ops.def");
  }
}

TEST(NeutronTable, RoundHalfToEvenIsRefused) {
  const Trial trial = trial_of(
      "input %a: i8[2,3]\n",
      "i8[2,3] = qadd(%a, %a) {a_zp=1, a_mult=16384, a_shift=0, b_zp=2, b_mult=16384, b_shift=0, "
      "y_zp=3, y_mult=1, y_shift=15, min=-128, max=127, rounding=2}");
  ASSERT_FALSE(trial.graph.ops().empty());
  const auto verdict =
      engine::neutron::check_rules(trial.graph, trial.graph.ops()[0], Variant::kN3_64);
  EXPECT_EQ(verdict.reason, "qadd: it rounds halves to even");
}

// --- tables -------------------------------------------------------------------------------------

using Real = std::function<double(double)>;

ir::Graph table_graph(const ir::Quant& x, const ir::Quant& y, const Real& f,
                      const ir::Shape& shape = {1, 7}) {
  ir::Graph graph;
  const ir::ValueId in = graph.add_input("x", {ir::DType::kI8, shape, {}, x});
  ir::Tensor table = ir::zeros(ir::DType::kI8, {256});
  for (int code = -128; code < 128; ++code) {
    const double real = f(x.scale[0] * (code - x.zero_point[0]));
    const double place = std::isnan(real) ? 0 : std::nearbyint(real / y.scale[0]);
    table.data<int8_t>()[static_cast<size_t>(code + 128)] =
        static_cast<int8_t>(std::clamp(place + y.zero_point[0], -128.0, 127.0));
  }
  const auto entries = graph.add_constant("table", std::make_shared<ir::Tensor>(table));
  const auto made = graph.add(OpKind::lut, {in, entries}, {}, {}, {"y", {}, y});
  EXPECT_TRUE(made.ok());
  graph.add_output(*made);
  return graph;
}

struct FunctionCase {
  const char* row;
  ir::Quant x, y;
  Real f;
  const char* becomes;
};

std::vector<FunctionCase> function_cases() {
  const ir::Quant wide = ir::per_tensor(0.05, 3);
  return {
      {"kAbs", wide, wide, [](double x) { return std::abs(x); }, "lut"},
      {"kClamp", wide, ir::per_tensor(0.025, -128),
       [](double x) { return std::clamp(x, 0.0, 6.0); }, "lut"},
      {"kExp", wide, ir::per_tensor(2.5, -128), [](double x) { return std::exp(x); }, "lut"},
      {"kHardSwish", wide, ir::per_tensor(0.03, -100),
       [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }, "lut"},
      {"kLeakyRelu", wide, ir::per_tensor(0.03, -100), [](double x) { return x < 0 ? 0.1 * x : x; },
       "lut"},
      {"kLog", ir::per_tensor(0.05, -128), ir::per_tensor(0.03, 20),
       [](double x) { return std::log(x); }, "lut"},
      {"kLogistic", wide, ir::per_tensor(1.0 / 256, -128),
       [](double x) { return 1 / (1 + std::exp(-x)); }, "lut"},
      {"kNeg", wide, ir::per_tensor(0.05, -3), [](double x) { return -x; }, "qsub"},
      {"kRescale", wide, ir::per_tensor(0.07, 10), [](double x) { return x; },
       "reshape qconv2d reshape"},
      {"kRsqrt", ir::per_tensor(0.05, -128), ir::per_tensor(0.02, -128),
       [](double x) { return 1 / std::sqrt(x); }, "lut"},
      {"kTanh", wide, ir::per_tensor(1.0 / 128, 0), [](double x) { return std::tanh(x); }, "lut"},
  };
}

TEST(NeutronTables, EachKnownFunctionIsRecognized) {
  std::set<std::string> rows = {
#define NEUTRON_FUNCTION(function, variants, builtin, names) #function,
#include "engines/neutron/compiler/ops.def"
  };
  for (const FunctionCase& c : function_cases()) {
    SCOPED_TRACE(c.row);
    const ir::Graph graph = table_graph(c.x, c.y, c.f);
    for (const Variant variant : kVariants) {
      EXPECT_EQ(engine::neutron::check_rules(graph, graph.ops()[0], variant).reason, "");
    }
    const auto legalized = engine::neutron::legalize(graph);
    ASSERT_TRUE(legalized.ok());
    EXPECT_EQ(kinds_text(*legalized), c.becomes);
    expect_legalized_equal(graph, *legalized, 0);
    EXPECT_EQ(rows.erase(c.row), 1U);
  }
  EXPECT_TRUE(rows.empty()) << *rows.begin() << " has no case";
}

/// A hardsigmoid, a line with an offset, a line with negative slope and a bounded line each become
/// one 1 x 1 convolution.
TEST(NeutronTables, LinearTablesBecomePointwiseConvolutions) {
  const ir::Quant x = ir::per_tensor(0.05, 3);
  const std::vector<std::pair<Real, ir::Quant>> lines = {
      {[](double v) { return std::clamp(v / 6 + 0.5, 0.0, 1.0); }, ir::per_tensor(1.0 / 256, -128)},
      {[](double v) { return v * 0.37 + 1; }, ir::per_tensor(0.02, -40)},
      {[](double v) { return v * -3.5; }, ir::per_tensor(0.2, 5)},
      {[](double v) { return std::min(2 * v, 3.0); }, ir::per_tensor(0.08, 60)},
  };
  for (const auto& [f, y] : lines) {
    for (const ir::Shape& shape : {ir::Shape{1, 3, 4, 5}, ir::Shape{6}, ir::Shape{2, 3, 4}}) {
      const ir::Graph graph = table_graph(x, y, f, shape);
      EXPECT_EQ(engine::neutron::check_rules(graph, graph.ops()[0], Variant::kN3_64).reason, "");
      const auto legalized = engine::neutron::legalize(graph);
      ASSERT_TRUE(legalized.ok());
      EXPECT_EQ(kinds_text(*legalized), shape.size() == 4 ? "qconv2d" : "reshape qconv2d reshape");
      expect_legalized_equal(graph, *legalized, 1);  // rounding of halves may differ
    }
  }
}

TEST(NeutronTables, OtherFunctionsAreRefused) {
  const ir::Quant x = ir::per_tensor(0.05, 3);
  const auto refused = [&](const ir::Quant& y, const Real& f) {
    const ir::Graph graph = table_graph(x, y, f);
    return engine::neutron::check_rules(graph, graph.ops()[0], Variant::kN3_64).reason;
  };
  const auto gelu = [](double v) { return v * 0.5 * (1 + std::erf(v * std::sqrt(0.5))); };
  EXPECT_EQ(refused(ir::per_tensor(0.03, -100), gelu),
            "lut: its table is neither a clamped linear function nor one of abs, clamp, hardtanh, "
            "relu, relu6, "
            "exp, hardswish, leaky_relu, log, sigmoid, neg, rsqrt, tanh");
  const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
  EXPECT_EQ(refused(ir::per_tensor(0.005, -128), logistic),
            "lut: scale and zero point of a LOGISTIC are 0.005 and -128, expected "
            "0.00390625 and -128");
  EXPECT_EQ(refused(ir::per_tensor(0.01, 2), [](double v) { return std::tanh(v); }),
            "lut: scale and zero point of a TANH are 0.01 and 2, expected "
            "0.0078125 and 0");
}

// --- the subgraph as a whole --------------------------------------------------------------------

std::string declined(const std::string& body) {
  const auto graph = ir::parse("graph @subgraph {\n" + body + "}\n", "subgraph");
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().message);
  return graph.ok() ? engine::neutron::no_effect_reason(*graph) : "no graph";
}

TEST(NeutronContext, SubgraphWithOnlyDataMovementIsDeclined) {
  const std::string x = "input %x: i8[1,4,2,2] quant(0.5, 3)\n";
  const std::string moves = "the subgraph only moves data: it stays on the CPU";
  EXPECT_EQ(declined(x + "%y = reshape(%x) {shape=[4,4]}\noutput %y\n"), moves);
  EXPECT_EQ(declined(x + "%y = concat(%x) {dim=1}\n%z = permute(%y) {dims=[0,2,3,1]}\noutput %z\n"),
            moves);
  EXPECT_EQ(declined(x + "%y = max_pool2d(%x) {kernel=[2,2], stride=[1,1], padding=[0,0,0,0], "
                         "dilation=[1,1]}\noutput %y\n"),
            "");
  EXPECT_EQ(
      declined(x + "%p = permute(%x) {dims=[0,2,3,1]}\n%y = max_pool2d(%x) {kernel=[2,2], "
                   "stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}\noutput %p\noutput %y\n"),
      "");
}

TEST(NeutronContext, SubgraphWithOnlyIdentityIsDeclined) {
  const std::string x = "input %x: i8[1,4,1,1] quant(0.5, 3)\n";
  const auto nothing = [](const char* op) {
    return fmt::format(
        "the subgraph has no effect ({} does not change its operand), and NXP's converter removes "
        "such operators",
        op);
  };
  EXPECT_EQ(declined(x + "%y: i8[1,4] quant(0.5, 3) = qmean(%x) {dims=[2,3], x_zp=3, y_zp=3, "
                         "mult=1073741824, shift=1}\noutput %y\n"),
            nothing("qmean"));
  EXPECT_EQ(declined(x + "%y: i8[1,4] quant(0.25, 3) = qmean(%x) {dims=[2,3], x_zp=3, y_zp=3, "
                         "mult=1073741824, shift=2}\noutput %y\n"),
            "");
  EXPECT_EQ(declined(x + "%y = amax(%x) {dims=[3]}\n%z = reshape(%y) {shape=[4]}\noutput %z\n"),
            nothing("amax"));
  EXPECT_EQ(declined(x + "%y = qavg_pool2d(%x) {kernel=[1,1], stride=[1,1], padding=[0,0,0,0]}\n"
                         "output %y\n"),
            nothing("qavg_pool2d"));
  EXPECT_EQ(declined(x + "%y = qavg_pool2d(%x) {kernel=[1,1], stride=[1,1], padding=[0,0,0,0], "
                         "min=3}\noutput %y\n"),
            "");
  const auto table = [&](const ir::Quant& quant, const Real& f) {
    return engine::neutron::no_effect_reason(table_graph(quant, quant, f));
  };
  // A ReLU whose input is never negative.
  EXPECT_EQ(table(ir::per_tensor(0.5, -128), [](double v) { return std::max(v, 0.0); }),
            nothing("lut"));
  EXPECT_EQ(table(ir::per_tensor(0.5, -127), [](double v) { return std::max(v, 0.0); }), "");
}

TEST(NeutronContext, SubgraphWithOnlyResizeByOneIsDeclined) {
  EXPECT_EQ(declined("input %x: i8[1,1,2,2] quant(0.5, 3)\n"
                     "const %l: i32[2] = 0x0000000001000000\nconst %w: i32[2] = 0x00000000...\n"
                     "%y = qresize_bilinear(%x, %l, %w, %l, %w)\noutput %y\n"),
            "the subgraph has no effect (qresize_bilinear does not change its operand), and NXP's "
            "converter removes such operators");
}

}  // namespace
}  // namespace thimble::test
