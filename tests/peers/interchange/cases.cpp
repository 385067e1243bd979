// SPDX-License-Identifier: Apache-2.0
// Writes graphs as .tflite and .tosa with inputs and the reference evaluator's outputs.
// reference.py runs them in LiteRT and in the TOSA reference model.
//
//   interchange_cases FOLDER random|wide FIRST COUNT OPS
//   interchange_cases FOLDER ir FILE.ir...           a case per file
//   interchange_cases FOLDER ops FILE.ir...          a case per operator of each file, alone
//   interchange_cases FOLDER neutron FILE.ir...      as ir, for NXP's converter, without .tosa
//   interchange_cases FOLDER neutron-ops FILE.ir...  as ops, for NXP's converter, without .tosa
//   interchange_cases FOLDER functions FIRST COUNT   lookup tables for it, all 256 values
//
// Files of case NAME: NAME.tosa, NAME.tflite (or NAME.tosa.why, NAME.tflite.why with the refusal),
// NAME.in0.npy ..., NAME.out0.npy ..., all in the memory order of the interface.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "../../conformance/random_integer_graph.h"
#include "../../conformance/random_wide_graph.h"
#include "../../unit/function_tables.h"
#include "../../unit/ir_random_graph.h"
#include "engines/neutron/compiler/vendor/vendor_compile.h"
#include "eval/evaluate.h"
#include "formats/npy/npy.h"
#include "interchange/integer_graph.h"
#include "interchange/layouts.h"
#include "interchange/tflite.h"
#include "interchange/tosa.h"
#include "ir/print.h"
#include "numerics/multiplier.h"

namespace {

namespace fs = std::filesystem;
using namespace thimble;

/// If true, writes .tflite for NXP's converter; else both formats as --emit writes them.
bool for_neutron = false;
interchange::TfliteProfile profile = engine::neutron::kConverterProfile;

void write_file(const fs::path& path, ByteView bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

void write_format(const fs::path& path, const Result<Bytes>& made) {
  if (made.ok()) return write_file(path, *made);
  write_file(path.string() + ".why", as_byte_view(made.error().message));
}

formats::npy::DType npy_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kI16:
      return formats::npy::DType::kInt16;
    case ir::DType::kI32:
      return formats::npy::DType::kInt32;
    case ir::DType::kI64:
      return formats::npy::DType::kInt64;
    case ir::DType::kBool:
      return formats::npy::DType::kBool;
    case ir::DType::kU8:
      return formats::npy::DType::kUint8;
    default:
      return formats::npy::DType::kInt8;
  }
}

void write_tensor(const fs::path& path, const ir::Tensor& tensor, ir::DimOrder order) {
  if (order.empty()) order = interchange::Layouts::logical(tensor.shape.size());
  formats::npy::NpyArray array;
  array.dtype = npy_type(tensor.dtype);
  array.shape = interchange::Layouts::in_order(tensor.shape, order);
  array.bytes = ir::to_memory(tensor, order);
  if (!formats::npy::write_npy(path, array).ok()) std::exit(1);
}

ir::Tensor random_input(test::Random& random, const ir::Type& type) {
  ir::Tensor tensor = ir::zeros(type.dtype, type.shape);
  const size_t each = ir::dtype_bytes(type.dtype);
  for (size_t i = 0; i < tensor.bytes.size(); ++i) {
    const bool whole = type.dtype == ir::DType::kI32 || type.dtype == ir::DType::kI64;
    const bool truth = type.dtype == ir::DType::kBool;
    if (whole && i % each != 0) continue;
    tensor.bytes[i] = static_cast<std::byte>(random.between(0, whole || truth ? 1 : 255));
  }
  return tensor;
}

/// Fills a tensor with all quantized values in turn, as far as it has elements.
ir::Tensor all_codes(const ir::Type& type) {
  ir::Tensor tensor = ir::zeros(type.dtype, type.shape);
  for (size_t i = 0; i < tensor.bytes.size(); ++i) tensor.bytes[i] = static_cast<std::byte>(i);
  return tensor;
}

int write_case(const fs::path& folder, const std::string& name, const ir::Graph& graph,
               uint64_t seed, bool in_turn = false) {
  if (for_neutron) {
    write_format(folder / (name + ".tflite"), interchange::to_tflite(graph, profile));
  } else {
    write_format(folder / (name + ".tosa"), interchange::to_tosa(graph));
    write_format(folder / (name + ".tflite"), interchange::to_tflite(graph));
  }
  const Result<interchange::StatelessGraph> core = interchange::extract_integer_graph(graph);
  if (!core.ok()) return 0;
  test::Random random(seed);
  std::vector<ir::Tensor> inputs;
  for (const ir::ValueId input : core->graph.inputs()) {
    const ir::Type& type = core->graph.type(input);
    inputs.push_back(in_turn ? all_codes(type) : random_input(random, type));
    write_tensor(folder / fmt::format("{}.in{}.npy", name, inputs.size() - 1), inputs.back(),
                 core->graph.type(input).dim_order);
  }
  const auto outputs = eval::evaluate(core->graph, inputs);
  if (!outputs.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), outputs.error().message.c_str());
    return 1;
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    write_tensor(folder / fmt::format("{}.out{}.npy", name, i), (*outputs)[i],
                 core->output_order[i]);
  }
  return 0;
}

/// Returns a graph of the operator alone; its operands become inputs.
ir::Graph alone(const ir::Graph& from, const ir::Op& op) {
  ir::Graph graph;
  std::map<ir::ValueId, ir::ValueId> made = {{ir::kNoValue, ir::kNoValue}};
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId input : op.inputs) {
    if (!made.contains(input)) {
      const ir::Value& value = from.value(input);
      made[input] = value.constant
                        ? graph.add_constant(value.name, value.constant, value.type.quant)
                        : graph.add_input(value.name, value.type);
    }
    inputs.push_back(made[input]);
  }
  const ir::Value& y = from.value(op.output);
  graph.add_output(
      *graph.add(op.kind, inputs, op.attrs, op.source, {y.name, y.type.dim_order, y.type.quant}));
  return graph;
}

int write_ops(const fs::path& folder, const std::string& name, const ir::Graph& graph) {
  const Result<interchange::StatelessGraph> core = interchange::extract_integer_graph(graph);
  if (!core.ok()) return 0;
  int failures = 0;
  uint64_t number = 0;
  for (const ir::Op& op : core->graph.ops()) {
    const bool constant = std::all_of(op.inputs.begin(), op.inputs.end(), [&](ir::ValueId input) {
      return input == ir::kNoValue || core->graph.value(input).constant;
    });
    if (constant) continue;
    failures += write_case(folder, fmt::format("{}_{}_{}", name, number, ir::op_name(op.kind)),
                           alone(core->graph, op), number);
    ++number;
  }
  return failures;
}

int write_ir(const fs::path& folder, const fs::path& path, bool ops) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const auto graph = ir::parse(text.str(), path.filename().string());
  if (!graph.ok()) {
    std::fprintf(stderr, "%s\n", graph.error().message.c_str());
    return 1;
  }
  const std::string name = path.stem().string();
  return ops ? write_ops(folder, name, *graph) : write_case(folder, name, *graph, 1);
}

struct NamedFunction {
  const char* name;
  interchange::Function function;
  double low, high;  // range of the operand
};

/// Returns a lookup table as in a network. The operand's scale covers a range; the result's covers
/// the function's values in that range, or is the scale that LiteRT requires.
ir::Graph graph_of_function(const NamedFunction& named, test::Random& random) {
  using Kind = interchange::Function::Kind;
  const test::Formula f = test::formula_of(named.function);
  const double reach = random.real(0.3, 1);
  const double low = named.low * reach, high = named.high * reach;
  const auto codes_for = [](double from, double to) {
    from = std::min(from, 0.0);
    to = std::max(to, 0.0);
    const auto scale = static_cast<double>(static_cast<float>((to - from) / 255));
    return ir::per_tensor(scale, static_cast<int32_t>(std::lround(-128 - from / scale)));
  };
  test::Codes codes{codes_for(low, high), {}};
  double least = INFINITY, most = -INFINITY;
  for (double x = std::max(low, -1e9); x <= high; x += (high - low) / 999) {
    if (!std::isfinite(f(x))) continue;
    least = std::min(least, f(x));
    most = std::max(most, f(x));
  }
  const double more = random.chance(50) ? 1 : random.real(0.8, 1.3);  // calibrated / exact range
  codes.y = codes_for(std::max(least, -20.0) * more, std::min(most, 20.0) * more);
  if (named.function.kind == Kind::kLogistic) codes.y = ir::per_tensor(0x1p-8, -128);
  if (named.function.kind == Kind::kTanh) codes.y = ir::per_tensor(0x1p-7, 0);
  return test::graph_of_table(codes, test::table_of(codes, f, false));
}

/// Returns a sum over rows as the IR represents it: a mean whose multiplier does not divide.
ir::Graph graph_of_sum(test::Random& random) {
  const int64_t terms = random.between(2, 60);
  const double x = test::float_scale(random, 0.01, 0.2);
  const double y = static_cast<double>(static_cast<float>(x * random.real(1, 12)));
  const auto zero = [&] { return random.between(-128, 127); };
  const int64_t x_zp = zero(), y_zp = zero();
  const auto multiplier = numerics::quantize_multiplier(x / y);
  ir::Graph graph;
  const ir::ValueId in = graph.add_input(
      "x", {ir::DType::kI8, {256, terms}, {}, ir::per_tensor(x, static_cast<int32_t>(x_zp))});
  const ir::Attrs attrs = {{ir::attr::dims, std::vector<int64_t>{1}},
                           {ir::attr::x_zp, x_zp},
                           {ir::attr::y_zp, y_zp},
                           {ir::attr::mult, int64_t{multiplier.mult}},
                           {ir::attr::shift, int64_t{multiplier.shift}}};
  const ir::Quant quant = ir::per_tensor(y, static_cast<int32_t>(y_zp));
  graph.add_output(*graph.add(ir::OpKind::qmean, {in}, attrs, {}, {"y", {}, quant}));
  return graph;
}

/// Returns a resize by 2, 4 or 8.
ir::Graph graph_of_resize(bool align_corners, test::Random& random) {
  constexpr int64_t kSide = 16;
  constexpr double kOne = 2048;
  const int64_t out = kSide << random.between(1, 3);
  const double step = align_corners ? (kSide - 1.0) / static_cast<double>(out - 1)
                                    : static_cast<double>(kSide) / static_cast<double>(out);
  ir::Tensor low = ir::zeros(ir::DType::kI32, {out}), weight = low;
  for (int64_t i = 0; i < out; ++i) {
    const auto at = static_cast<double>(i);
    const double source = std::max(align_corners ? at * step : (at + 0.5) * step - 0.5, 0.0);
    const double before = std::min(std::floor(source), kSide - 1.0);
    const auto place = static_cast<size_t>(i);
    low.data<int32_t>()[place] = static_cast<int32_t>(before);
    weight.data<int32_t>()[place] =
        static_cast<int32_t>(std::floor(std::min(source - before, 1.0) * kOne + 0.5));
  }
  ir::Graph graph;
  const ir::Quant quant = ir::per_tensor(0.05, static_cast<int32_t>(random.between(-128, 127)));
  const ir::ValueId in = graph.add_input("x", {ir::DType::kI8, {1, 1, kSide, kSide}, {}, quant});
  const ir::ValueId l = graph.add_constant("low", std::make_shared<ir::Tensor>(std::move(low)));
  const ir::ValueId w =
      graph.add_constant("weight", std::make_shared<ir::Tensor>(std::move(weight)));
  graph.add_output(
      *graph.add(ir::OpKind::qresize_bilinear, {in, l, w, l, w}, {}, {}, {"y", {}, quant}));
  return graph;
}

int write_functions(const fs::path& folder, uint64_t first, uint64_t count) {
  using Kind = interchange::Function::Kind;
  const NamedFunction all[] = {
      {"ABS", {Kind::kAbs, 0, 0, 0}, -6, 5},
      {"EXP", {Kind::kExp, 0, 0, 0}, -4, 3},
      {"HARD_SWISH", {Kind::kHardSwish, 0, 0, 0}, -8, 8},
      {"LEAKY_RELU", {Kind::kLeakyRelu, 0.1, 0, 0}, -6, 6},
      {"LOGISTIC", {Kind::kLogistic, 0, 0, 0}, -9, 8},
      {"LOG", {Kind::kLog, 0, 0, 0}, 0, 12},
      {"MINIMUM", {Kind::kClamp, 0, -0.7, 2.3}, -6, 6},
      {"QUANTIZE", {Kind::kRescale, 0, 0, 0}, -6, 5},
      {"RELU", {Kind::kClamp, 0, 0, INFINITY}, -6, 6},
      {"RELU6", {Kind::kClamp, 0, 0, 6}, -20, 25},
      {"RELU_0_TO_1", {Kind::kClamp, 0, 0, 1}, -6, 6},
      {"RELU_N1_TO_1", {Kind::kClamp, 0, -1, 1}, -6, 6},
      {"RSQRT", {Kind::kRsqrt, 0, 0, 0}, 0, 12},
      {"SUB", {Kind::kNeg, 0, 0, 0}, -6, 5},
      {"TANH", {Kind::kTanh, 0, 0, 0}, -4, 5},
  };
  int failures = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    test::Random random(seed);
    for (const NamedFunction& each : all) {
      failures += write_case(folder, fmt::format("{}.{}", each.name, seed),
                             graph_of_function(each, random), seed, true);
    }
    failures += write_case(folder, fmt::format("SUM.{}", seed), graph_of_sum(random), seed);
    for (const bool corners : {false, true}) {
      const char* const name = corners ? "RESIZE_CORNERS" : "RESIZE_CENTRES";
      failures += write_case(folder, fmt::format("{}.{}", name, seed),
                             graph_of_resize(corners, random), seed);
    }
  }
  return failures;
}

int run(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "interchange_cases FOLDER random|wide FIRST COUNT OPS | ir FILE...\n");
    return 2;
  }
  const fs::path folder = argv[1];
  std::string kind = argv[2];
  fs::create_directories(folder);
  int failures = 0;
  if (kind == "functions" && argc == 5) {
    for_neutron = true;
    return write_functions(folder, static_cast<uint64_t>(std::atoll(argv[3])),
                           static_cast<uint64_t>(std::atoll(argv[4])));
  }
  if (kind.starts_with("neutron")) {
    for_neutron = true;
    profile.functions = kind != "neutron-tables";
    const bool whole = kind == "neutron" || !profile.functions;
    kind = whole ? "ir" : kind.substr(std::string("neutron-").size());
  }
  if (kind == "ir" || kind == "ops") {
    for (int i = 3; i < argc; ++i) failures += write_ir(folder, argv[i], kind == "ops");
    return failures == 0 ? 0 : 1;
  }
  if (argc < 6) return 2;
  const auto first = static_cast<uint64_t>(std::atoll(argv[3]));
  const int ops = std::atoi(argv[5]);
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(std::atoll(argv[4])); ++seed) {
    const ir::Graph graph = kind == "wide" ? test::random_wide_graph(seed, ops)
                                           : test::random_integer_graph(seed, {ops, false});
    failures += write_case(folder, fmt::format("{}_{}", kind, seed), graph, seed);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run(argc, argv);
}
