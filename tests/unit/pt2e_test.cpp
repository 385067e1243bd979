// SPDX-License-Identifier: Apache-2.0
// Networks that PyTorch quantized (tests/data/pt2/q_*), one operator at a time. Each operator gets
// eager PyTorch's quantized values, and its result is compared with eager PyTorch's.
//
//   imported   the imported graph: float operators on dequantized values, then quantize
//   single     the integer graph with single rounding
//   double     the integer graph as kernels compute it
//
// Then the whole integer network is compared with the output of the eager quantized graph.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "eval/evaluate.h"
#include "formats/npy/npy.h"
#include "formats/pt2/reader.h"
#include "import/import.h"
#include "passes/pipeline.h"
#include "quant/pins.h"
#include "quant/quantize.h"
#include "tests/folders.h"

namespace thimble::quant {
namespace {

namespace fs = std::filesystem;
using ir::Graph;
using ir::Tensor;
using ir::ValueId;
using nlohmann::json;

fs::path data_dir() {
  return test::source_folder() / "tests" / "data" / "pt2";
}

/// Cases that need calibration data or cannot be compiled, with the expected message.
struct Refusal {
  std::vector<std::string> parts;
  bool data_helps = false;
};
const std::map<std::string, Refusal>& refusals() {
  static const std::string kLeft = "did not quantize these values";
  static const std::map<std::string, Refusal> kAll = {
      {"q_arm_inductor_image", {{kLeft}, true}},
      {"q_arm_inductor_mixed", {{kLeft}, true}},
      {"q_arm_inductor_rows", {{kLeft}, true}},
      {"q_example_image", {{"zero point"}, false}},
      {"q_example_mixed", {{kLeft}, false}},
      {"q_example_rows", {{"zero point"}, false}},
      {"q_x86_image", {{kLeft}, true}},
      {"q_x86_mixed", {{kLeft}, true}},
      {"q_x86_rows", {{kLeft}, true}},
      {"q_x86_qat_image", {{kLeft}, true}},
      {"q_xnnpack_mixed", {{kLeft, "make_cases.py:", "aten.tanh.default"}, true}},
      {"q_xnnpack_per_tensor_mixed", {{kLeft, "aten.sub.Tensor"}, true}},
      {"q_xnnpack_softmax", {{kLeft, "make_cases.py:", "aten.softmax.int"}, true}},
  };
  return kAll;
}

Tensor to_tensor(const formats::npy::NpyArray& array) {
  const std::string name(formats::npy::name(array.dtype));
  const std::map<std::string, ir::DType> types = {{"float32", ir::DType::kF32},
                                                  {"int8", ir::DType::kI8},
                                                  {"uint8", ir::DType::kU8},
                                                  {"int16", ir::DType::kI16}};
  Tensor tensor{types.at(name), array.shape, {}};
  tensor.bytes.assign(array.bytes.begin(), array.bytes.end());
  return tensor;
}

int64_t code_at(const Tensor& tensor, size_t i) {
  switch (tensor.dtype) {
    case ir::DType::kU8:
      return tensor.data<uint8_t>()[i];
    case ir::DType::kI16:
      return tensor.data<int16_t>()[i];
    default:
      return tensor.data<int8_t>()[i];
  }
}

/// Returns uint8 values as the integer graph represents them.
Tensor as_int8(const Tensor& tensor) {
  if (tensor.dtype != ir::DType::kU8) return tensor;
  Tensor moved = ir::zeros(ir::DType::kI8, tensor.shape);
  for (size_t i = 0; i < tensor.bytes.size(); ++i) {
    moved.data<int8_t>()[i] = static_cast<int8_t>(code_at(tensor, i) - 128);
  }
  return moved;
}

struct Agreement {
  int64_t codes = 0, different = 0, largest = 0;

  void add(const Tensor& got, const Tensor& want) {
    ASSERT_EQ(got.shape, want.shape);
    ASSERT_EQ(got.dtype, want.dtype);
    for (size_t i = 0; i < static_cast<size_t>(ir::element_count(got.shape)); ++i) {
      const int64_t difference = std::abs(code_at(got, i) - code_at(want, i));
      ++codes;
      different += difference != 0 ? 1 : 0;
      largest = std::max(largest, difference);
    }
  }
  void add(const Agreement& other) {
    codes += other.codes;
    different += other.different;
    largest = std::max(largest, other.largest);
  }
  [[nodiscard]] double equal() const {
    return 1 - static_cast<double>(different) / static_cast<double>(std::max<int64_t>(codes, 1));
  }
};

using ByOperator = std::map<std::string, Agreement>;

/// Computes the operator alone on these operands.
Tensor compute(const Graph& graph, const ir::Op& op, const std::vector<Tensor>& values) {
  Graph alone;
  std::vector<ValueId> inputs;
  std::vector<Tensor> given;
  for (const ValueId id : op.inputs) {
    if (id == ir::kNoValue) {
      inputs.push_back(id);
    } else if (graph.value(id).constant != nullptr) {
      inputs.push_back(alone.add_constant("", graph.value(id).constant, graph.type(id).quant));
    } else {
      ir::Type type = graph.type(id);
      type.dim_order = {};
      inputs.push_back(alone.add_input("", type));
      given.push_back(values[static_cast<size_t>(id)]);
    }
  }
  const auto result = alone.add(op.kind, inputs, op.attrs);
  EXPECT_TRUE(result.ok()) << result.error().message;
  alone.add_output(*result);
  auto outputs = eval::evaluate(alone, given);
  EXPECT_TRUE(outputs.ok()) << outputs.error().message;
  return (*outputs)[0];
}

struct Case {
  Graph imported;  // with quantize and dequantize operators
  std::vector<Tensor> inputs, outputs;
  std::map<std::string, Tensor> codes;  // quantized values by the name of the quantize node
};

Result<Case> load(const std::string& name) {
  Case result;
  THIMBLE_TRY(const auto program, formats::pt2::read(data_dir() / (name + ".pt2")));
  THIMBLE_TRY(auto model, import_pt2::import_program(program, {}, name));
  result.imported = std::move(model.graph);
  THIMBLE_TRY(const auto npz, formats::npy::read_npz(data_dir() / (name + ".npz")));
  for (const auto& [array_name, array] : npz) {
    if (array_name.starts_with("in")) result.inputs.push_back(to_tensor(array));
    if (array_name.starts_with("out")) result.outputs.push_back(to_tensor(array));
    if (array_name.starts_with("codes.")) result.codes[array_name.substr(6)] = to_tensor(array);
  }
  return result;
}

/// Runs `graph` operator by operator. Values in `wanted` are compared with the computed ones and
/// replace them as operands.
ByOperator compare_each(const Graph& graph, const std::vector<Tensor>& inputs,
                        const std::map<ValueId, Tensor>& wanted) {
  ByOperator result;
  std::vector<Tensor> values(graph.value_count());
  const auto producers = graph.producers();
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    values[static_cast<size_t>(graph.inputs()[i])] = inputs[i];
  }
  for (const ir::Op& op : graph.ops()) {
    Tensor& value = values[static_cast<size_t>(op.output)];
    value = compute(graph, op, values);
    const auto found = wanted.find(op.output);
    if (found == wanted.end()) continue;
    std::string name(ir::op_name(op.kind));
    if (op.kind == ir::OpKind::quantize) {
      const int before = producers[static_cast<size_t>(op.inputs[0])];
      if (before >= 0) name = ir::op_name(graph.ops()[static_cast<size_t>(before)].kind);
    }
    result[name].add(value, found->second);
    value = found->second;
  }
  return result;
}

ByOperator compare_imported(const Case& c) {
  std::map<ValueId, Tensor> wanted;
  for (const ir::Op& op : c.imported.ops()) {
    const auto found = c.codes.find(c.imported.value(op.output).name);
    if (found != c.codes.end()) wanted[op.output] = found->second;
  }
  EXPECT_FALSE(wanted.empty());
  return compare_each(c.imported, c.inputs, wanted);
}

/// Maps values of the integer graph to PyTorch's result of the corresponding quantize node.
std::map<ValueId, Tensor> wanted_of_integer(const Case& c, const Graph& prepared,
                                            const Graph& integer) {
  const auto pinned = extract_pins(prepared);
  EXPECT_TRUE(pinned.ok()) << pinned.error().message;
  std::map<std::string, ValueId> by_name;
  for (const ir::Op& op : integer.ops()) by_name[integer.value(op.output).name] = op.output;
  std::map<ValueId, Tensor> wanted;
  for (const ir::Op& op : prepared.ops()) {
    const auto codes = c.codes.find(prepared.value(op.output).name);
    if (codes == c.codes.end()) continue;
    const ValueId stands = pinned->stands_for[static_cast<size_t>(op.output)];
    const std::string& name = pinned->graph.value(stands).name;
    for (const char* suffix : {"_limited", "_int8", "_int16", ""}) {
      const auto found = by_name.find(name + suffix);
      const ir::DType dtype =
          codes->second.dtype == ir::DType::kI16 ? ir::DType::kI16 : ir::DType::kI8;
      if (found == by_name.end() || integer.type(found->second).dtype != dtype) continue;
      wanted[found->second] = as_int8(codes->second);
      break;
    }
  }
  EXPECT_FALSE(wanted.empty());
  return wanted;
}

double sqnr_db(const Tensor& got, const Tensor& want) {
  double signal = 0, noise = 0, mean = 0;
  const auto reference = want.data<float>();
  for (const float x : reference) mean += static_cast<double>(x);
  mean /= static_cast<double>(reference.size());
  for (size_t i = 0; i < reference.size(); ++i) {
    const double x = static_cast<double>(reference[i]);
    const double error = x - static_cast<double>(got.data<float>()[i]);
    signal += (x - mean) * (x - mean);
    noise += error * error;
  }
  return noise == 0 ? INFINITY : 10 * std::log10(signal / noise);
}

std::string text(const Agreement& agreement) {
  return fmt::format("{}/{} (max {})", agreement.codes - agreement.different, agreement.codes,
                     agreement.largest);
}

void report(const std::string& judge, const ByOperator& all, Agreement* total) {
  std::string line = fmt::format("  {:<9}", judge);
  for (const auto& [name, agreement] : all) {
    line += fmt::format(" {} {}", name, text(agreement));
    total->add(agreement);
  }
  std::cout << line << "\n";
}

class Pt2e : public ::testing::TestWithParam<std::string> {
 protected:
  /// Checks each operator of the integer graph on PyTorch's quantized values.
  void expect_close_operators(const Case& c, const Graph& prepared) {
    QuantizeOptions options;
    const auto twice = quantize(prepared, {}, {}, options);
    options.single_rounding = true;
    const auto once = quantize(prepared, {}, {}, options);
    ASSERT_TRUE(twice.ok()) << twice.error().message;
    ASSERT_TRUE(once.ok()) << once.error().message;
    const auto wanted = wanted_of_integer(c, prepared, twice->graph);
    Agreement rounded_twice, rounded_once;
    report("double", compare_each(twice->graph, c.inputs, wanted), &rounded_twice);
    report("single", compare_each(once->graph, c.inputs, wanted), &rounded_once);
    // The operand of a sigmoid or tanh is quantized here but not in PyTorch
    // (quant/fused_activation.h).
    const int most = GetParam().find("gated") != std::string::npos ? 2 : 1;
    EXPECT_LE(rounded_twice.largest, most);
    EXPECT_LE(rounded_once.largest, most);
  }

  void expect_close_network(const Case& c, const Graph& prepared, const CalibrationData& data) {
    QuantizeOptions options;
    options.quality_samples = 0;
    const auto integer = quantize(prepared, data, {}, options);
    ASSERT_TRUE(integer.ok()) << integer.error().message;
    const auto outputs = eval::evaluate(integer->graph, c.inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    const double db = sqnr_db((*outputs)[0], c.outputs[0]);
    std::cout << fmt::format("  network   {:.1f} dB against the eager quantized graph\n", db);
    EXPECT_GE(db, 20);
  }
};

TEST_P(Pt2e, EqualsEager) {
  const auto c = load(GetParam());
  ASSERT_TRUE(c.ok()) << c.error().message;
  Agreement imported;
  report("imported", compare_imported(*c), &imported);
  // The last bit of a float32 sum is a thousandth of a 16-bit quantization step.
  const bool wide = GetParam().find("int16") != std::string::npos;
  EXPECT_GE(imported.equal(), wide ? 0.999 : 0.9999);
  EXPECT_LE(imported.largest, 1);

  const auto prepared = passes::run_float_passes(c->imported);
  ASSERT_TRUE(prepared.ok()) << prepared.error().message;
  const auto refused = refusals().find(GetParam());
  if (refused == refusals().end()) {
    expect_close_operators(*c, *prepared);
    return expect_close_network(*c, *prepared, {});
  }
  const auto integer = quantize(*prepared, {}, {}, {});
  ASSERT_FALSE(integer.ok()) << "compiled: take it out of the list of refused cases";
  for (const std::string& part : refused->second.parts) {
    EXPECT_NE(integer.error().message.find(part), std::string::npos) << integer.error().message;
  }
  if (!refused->second.data_helps) return;
  CalibrationData data;
  for (const Tensor& input : c->inputs) data.inputs.push_back({"x", input});
  expect_close_network(*c, *prepared, data);
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  std::ifstream file(data_dir() / "cases.json");
  for (const json& row : json::parse(file)) {
    if (row.contains("quantizer")) names.push_back(row.at("name"));
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(Pt2, Pt2e, ::testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace thimble::quant
