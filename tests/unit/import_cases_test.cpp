// SPDX-License-Identifier: Apache-2.0
// Reads, imports, verifies and evaluates every exported model of tests/data/pt2 and models/, and
// compares with eager PyTorch's outputs. The error is norm-wise: max |got - want| / max |want|.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/evaluate.h"
#include "formats/npy/npy.h"
#include "formats/pt2/reader.h"
#include "import/core_aten.h"
#include "import/handlers.h"
#include "import/import.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/folders.h"

namespace thimble::import_pt2 {
namespace {

namespace fs = std::filesystem;
using formats::npy::NpyArray;
using nlohmann::json;

constexpr double kErrorMax = 1e-5;         // models of one or a few operators
constexpr double kRoundedErrorMax = 0.02;  // PyTorch rounds activations to 8 bits
constexpr double kNetworkErrorMax = 1e-4;  // networks of tens of layers
constexpr int64_t kSamplesMax = 3;         // samples per network: the evaluator is slow

fs::path source_dir() {
  return test::source_folder();
}
fs::path data_dir() {
  return source_dir() / "tests" / "data" / "pt2";
}

std::map<std::string, json> load_cases() {
  std::map<std::string, json> cases;
  std::ifstream file(data_dir() / "cases.json");
  for (const json& row : json::parse(file)) cases[row.at("name")] = row;
  return cases;
}
const std::map<std::string, json>& cases() {
  static const auto loaded = load_cases();
  return loaded;
}

/// Cases that PyTorch runs and the importer refuses today, with required parts of the message.
const std::map<std::string, std::vector<std::string>> kRefused = {
    {"bfloat16", {"input x is bfloat16", "model.float()"}},
    {"float16", {"input x is float16"}},
    {"float64", {"input x is float64"}},
};

ir::Tensor to_tensor(const NpyArray& array) {
  const std::map<std::string_view, ir::DType> types = {
      {"float32", ir::DType::kF32}, {"int32", ir::DType::kI32}, {"int64", ir::DType::kI64}};
  const auto type = types.find(formats::npy::name(array.dtype));
  EXPECT_NE(type, types.end()) << formats::npy::name(array.dtype);
  ir::Tensor tensor{type->second, array.shape, {}};
  tensor.bytes.assign(array.bytes.begin(), array.bytes.end());
  return tensor;
}

double relative_error(const ir::Tensor& got, const ir::Tensor& want) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < want.data<float>().size(); ++i) {
    const double value = static_cast<double>(want.data<float>()[i]);
    const double difference = std::abs(static_cast<double>(got.data<float>()[i]) - value);
    error = std::isnan(difference) ? INFINITY : std::max(error, difference);
    norm = std::max(norm, std::abs(value));
  }
  return error / std::max(norm, 1e-30);
}

Result<ImportedModel> import_file(const fs::path& path, const ImportOptions& options = {}) {
  THIMBLE_TRY(const auto program, formats::pt2::read(path));
  return import_program(program, options, path.filename().string());
}

/// Returns the sizes with which the .npz was made.
ImportOptions shapes_of(const json& row) {
  ImportOptions options;
  const json symbols = row.value("symbols", json::object());
  for (const auto& [place, symbol] : symbols.items()) {
    if (!place.ends_with("[0]")) options.shapes[place] = symbol.at("size");
  }
  return options;
}

ir::DimOrder recorded_order(const json& port) {
  ir::DimOrder order = port.at("dim_order").get<ir::DimOrder>();
  return ir::is_contiguous(order) ? ir::DimOrder{} : order;
}

std::vector<ir::Tensor> arrays(const formats::npy::NpzArrays& npz, std::string_view prefix) {
  std::vector<ir::Tensor> result;
  for (const auto& [name, array] : npz) {
    if (name.starts_with(prefix)) result.push_back(to_tensor(array));
  }
  return result;
}

/// Compares one call of a model. `state` is the state before the call, then the state after it.
void compare(const ImportedModel& model, std::span<const ir::Tensor> inputs,
             std::span<const ir::Tensor> wanted, double error_max, eval::StateTensors& state) {
  const auto outputs = eval::evaluate(model.graph, inputs, state);
  ASSERT_TRUE(outputs.ok()) << outputs.error().message;
  ASSERT_EQ(outputs->size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ((*outputs)[i].shape, wanted[i].shape) << "output " << i;
    ASSERT_EQ((*outputs)[i].dtype, wanted[i].dtype) << "output " << i;
    if (wanted[i].dtype != ir::DType::kF32) {
      EXPECT_EQ((*outputs)[i], wanted[i]) << "output " << i;
      continue;
    }
    EXPECT_LE(relative_error((*outputs)[i], wanted[i]), error_max) << "output " << i;
  }
}

/// Returns call `i`: that index of the first axis.
std::vector<ir::Tensor> call_of(const std::vector<ir::Tensor>& series, int64_t i) {
  std::vector<ir::Tensor> result;
  for (const ir::Tensor& all : series) {
    ir::Tensor one{all.dtype, {all.shape.begin() + 1, all.shape.end()}, {}};
    const auto size = static_cast<std::ptrdiff_t>(all.bytes.size()) / all.shape[0];
    one.bytes.assign(all.bytes.begin() + i * size, all.bytes.begin() + (i + 1) * size);
    result.push_back(std::move(one));
  }
  return result;
}

/// Compares a model with state, call by call.
void compare_series(const ImportedModel& model, const std::vector<ir::Tensor>& inputs,
                    const std::vector<ir::Tensor>& wanted) {
  EXPECT_FALSE(model.graph.states().empty());
  eval::StateTensors state = eval::initial_state(model.graph);
  for (int64_t i = 0; i < inputs[0].shape[0]; ++i) {
    SCOPED_TRACE(i);
    compare(model, call_of(inputs, i), call_of(wanted, i), kErrorMax, state);
  }
}

class ExportedCase : public ::testing::TestWithParam<std::string> {
 protected:
  void expect_refused(const Result<ImportedModel>& model, const std::vector<std::string>& parts) {
    ASSERT_FALSE(model.ok()) << "imported: take it out of the list of refused cases";
    EXPECT_EQ(model.error().kind, ErrorKind::kUnsupported);
    for (const std::string& part : parts) {
      EXPECT_NE(model.error().message.find(part), std::string::npos) << model.error().message;
    }
  }

  void expect_equal(const ImportedModel& model, const json& row) {
    const auto verified = ir::verify(model.graph);
    ASSERT_TRUE(verified.ok()) << verified.error().message;
    ASSERT_EQ(model.outputs.size(), row.at("outputs").size());
    ASSERT_EQ(model.inputs.size(), row.at("inputs").size());
    const auto npz = formats::npy::read_npz(data_dir() / (GetParam() + ".npz"));
    ASSERT_TRUE(npz.ok()) << npz.error().message;
    if (row.contains("steps")) {
      compare_series(model, arrays(*npz, "in"), arrays(*npz, "out"));
    } else {
      EXPECT_TRUE(model.graph.states().empty());
      eval::StateTensors none;
      const double error_max = row.contains("rounds") ? kRoundedErrorMax : kErrorMax;
      compare(model, arrays(*npz, "in"), arrays(*npz, "out"), error_max, none);
    }
    for (size_t i = 0; i < model.inputs.size(); ++i) {
      const ir::DimOrder order = recorded_order(row.at("inputs")[i]);
      EXPECT_EQ(model.inputs[i].dim_order, order) << "input " << i;
      EXPECT_EQ(model.graph.type(model.graph.inputs()[i]).dim_order, order) << "input " << i;
    }
    for (size_t i = 0; i < model.outputs.size(); ++i) {
      const ir::DimOrder order = recorded_order(row.at("outputs")[i]);
      EXPECT_EQ(model.outputs[i].dim_order, order) << "output " << i;
      const ir::Type& type = model.graph.type(model.graph.outputs()[i]);
      EXPECT_TRUE(ir::same_memory(type.shape, type.dim_order, order)) << "output " << i;
    }
  }
};

/// Outputs that are no tensors are omitted.
TEST(Outputs, HaveTheKeysOfTheDictionaryAsNames) {
  const auto model = import_file(data_dir() / "form_nested_outputs.pt2");
  ASSERT_TRUE(model.ok()) << model.error().message;
  std::vector<std::string> names;
  for (const ir::ValueId id : model->graph.outputs()) names.push_back(model->graph.value(id).name);
  EXPECT_EQ(names, (std::vector<std::string>{"logits", "heads_0", "heads_1_score"}));
}

TEST_P(ExportedCase, EqualsPyTorch) {
  const json& row = cases().at(GetParam());
  const auto model = import_file(data_dir() / (GetParam() + ".pt2"), shapes_of(row));
  if (const auto refused = kRefused.find(GetParam()); refused != kRefused.end()) {
    return expect_refused(model, refused->second);
  }
  if (row.at("expect") == "unsupported") {
    // The element type is refused before any operator is examined.
    const std::string wanted = GetParam() == "complex" ? "complex64" : row.at("refused_op");
    return expect_refused(model, {wanted});
  }
  if (row.at("expect") == "bad") {
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().kind, ErrorKind::kBadInput) << model.error().message;
    return;
  }
  ASSERT_TRUE(model.ok()) << model.error().message;
  expect_equal(*model, row);
  if (HasFailure()) std::cerr << ir::print(model->graph).substr(0, 4000);
}

/// Quantized graphs are tested by pt2e_test: float32 rounding errors can change a quantized value.
std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& [name, row] : cases()) {
    if (!row.contains("quantizer")) names.push_back(name);
  }
  return names;
}
INSTANTIATE_TEST_SUITE_P(Pt2, ExportedCase, ::testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });

/// Exports of one computation in several memory formats give the same results.
TEST(Cases, MemoryFormatsDoNotChangeResults) {
  std::map<std::string, std::vector<ir::Tensor>> first;  // outputs of the first case of each group
  int compared = 0;
  for (const auto& [name, row] : cases()) {
    if (!row.contains("same")) continue;
    SCOPED_TRACE(name);
    const auto model = import_file(data_dir() / (name + ".pt2"));
    const auto npz = formats::npy::read_npz(data_dir() / (name + ".npz"));
    ASSERT_TRUE(model.ok() && npz.ok());
    const auto outputs = eval::evaluate(model->graph, arrays(*npz, "in"));
    ASSERT_TRUE(outputs.ok()) << outputs.error().message;
    const auto [entry, fresh] = first.try_emplace(row.at("same"), *outputs);
    EXPECT_EQ(entry->second, *outputs);
    compared += fresh ? 0 : 1;
  }
  EXPECT_GE(compared, 14);
}

/// The archives of the cases have schema 8.20. PyTorch 2.9 writes one dimension too many for the
/// final states of an LSTM.
TEST(Releases, EqualPyTorch) {
  const fs::path folder = source_dir() / "tests" / "data" / "pt2_releases";
  for (const auto& [name, schema_minor] :
       std::map<std::string, int64_t>{{"lstm_2.9", 14}, {"lstm_2.10", 15}}) {
    SCOPED_TRACE(name);
    const auto program = formats::pt2::read(folder / (name + ".pt2"));
    ASSERT_TRUE(program.ok()) << program.error().message;
    EXPECT_EQ(program->schema_minor, schema_minor);
    const auto model = import_program(*program, {}, name);
    ASSERT_TRUE(model.ok()) << model.error().message;
    const auto npz = formats::npy::read_npz(folder / (name + ".npz"));
    ASSERT_TRUE(npz.ok()) << npz.error().message;
    eval::StateTensors none;
    compare(*model, arrays(*npz, "in"), arrays(*npz, "out"), kErrorMax, none);
  }
}

TEST(Cases, NotesTellWhatQuantizationChanges) {
  struct Row {
    std::string name;
    size_t notes;
    bool at_run_time;
  };
  for (const auto& [name, notes, at_run_time] : std::vector<Row>{{"torchao_int8", 0, false},
                                                                 {"torchao_int8_affine", 0, false},
                                                                 {"torchao_int4_groups", 1, false},
                                                                 {"torchao_dynamic_int8", 1, true},
                                                                 {"torchao_dynamic_int4", 2, true},
                                                                 {"pt2e_dynamic", 1, true}}) {
    SCOPED_TRACE(name);
    const auto model = import_file(data_dir() / (name + ".pt2"));
    ASSERT_TRUE(model.ok()) << model.error().message;
    EXPECT_EQ(model->notes.size(), notes);
    EXPECT_EQ(model->has_dynamic_quantization, at_run_time);
  }
}

TEST(Cases, RefusedOperatorsAreLocated) {
  const auto model = import_file(data_dir() / "aten_random.pt2");
  ASSERT_FALSE(model.ok());
  EXPECT_TRUE(model.error().message.starts_with(
      "aten.randn.default is not supported: random numbers; pass them as an input\n"
      "  core_aten_cases.py:"))
      << model.error().message;
}

/// Every core ATen operator that the table calls supported has a case that equals PyTorch.
TEST(Cases, HaveTheCoreAtenOperators) {
  std::set<std::string, std::less<>> compared;
  for (const auto& [name, row] : cases()) {
    if (row.at("expect") != "ok" || kRefused.contains(name)) continue;
    for (const std::string op : row.at("ops")) compared.insert(op);
  }
  size_t refused = 0;
  for (const CoreOperator& row : core_operators()) {
    SCOPED_TRACE(row.target);
    const bool is_operator = row.support == CoreSupport::kOperator;
    EXPECT_EQ(find_handler(row.target) != nullptr, is_operator);
    const bool in_export = is_operator || row.support == CoreSupport::kNumber;
    EXPECT_EQ(compared.contains(row.target), in_export);
    EXPECT_EQ(row.note.empty(), in_export);
    refused += row.support == CoreSupport::kRefused ? 1 : 0;
  }
  EXPECT_LE(20 * refused, core_operators().size());  // 95 % are supported
}

/// Returns index i of the first dimension, kept with size 1.
ir::Tensor sample(const ir::Tensor& tensor, int64_t i) {
  ir::Tensor result{tensor.dtype, tensor.shape, {}};
  result.shape[0] = 1;
  const auto size = static_cast<std::ptrdiff_t>(tensor.bytes.size()) / tensor.shape[0];
  const auto begin = tensor.bytes.begin() + i * size;
  result.bytes.assign(begin, begin + size);
  return result;
}

/// Input arrays by name, and output arrays `y`, or `y0`, `y1`, ...
struct Golden {
  std::vector<ir::Tensor> inputs, outputs;
};
Golden golden_of(const ImportedModel& model, const fs::path& path) {
  Golden golden;
  const auto npz = formats::npy::read_npz(path);
  EXPECT_TRUE(npz.ok()) << npz.error().message;
  if (!npz.ok()) return golden;
  for (const Port& input : model.inputs) {
    const auto found = arrays(*npz, input.name);
    EXPECT_EQ(found.size(), 1U) << input.name;
    golden.inputs.insert(golden.inputs.end(), found.begin(), found.end());
  }
  golden.outputs = arrays(*npz, "y");
  EXPECT_EQ(golden.outputs.size(), model.outputs.size());
  return golden;
}

std::vector<ir::Tensor> samples(const std::vector<ir::Tensor>& tensors, int64_t i) {
  std::vector<ir::Tensor> result;
  for (const ir::Tensor& tensor : tensors) result.push_back(sample(tensor, i));
  return result;
}

class ExampleModel : public ::testing::TestWithParam<std::string> {};

/// Compares the example networks with their golden outputs.
TEST_P(ExampleModel, OutputsEqualPyTorch) {
  const fs::path folder = source_dir() / "models" / GetParam();
  const auto model = import_file(folder / (GetParam() + ".pt2"));
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto verified = ir::verify(model->graph);
  ASSERT_TRUE(verified.ok()) << verified.error().message;
  const Golden golden = golden_of(*model, folder / "golden.npz");
  ASSERT_FALSE(HasFailure());
  eval::StateTensors state = eval::initial_state(model->graph);
  for (int64_t i = 0; i < std::min<int64_t>(golden.inputs[0].shape[0], kSamplesMax); ++i) {
    SCOPED_TRACE(i);
    compare(*model, samples(golden.inputs, i), samples(golden.outputs, i), kNetworkErrorMax, state);
  }
}

/// Returns every folder with a network, even if a file is missing in it.
std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& folder : fs::directory_iterator(source_dir() / "models")) {
    const std::string name = folder.path().filename().string();
    if (fs::exists(folder.path() / "golden.npz") || fs::exists(folder.path() / (name + ".pt2"))) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}
INSTANTIATE_TEST_SUITE_P(Pt2, ExampleModel, ::testing::ValuesIn(model_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace thimble::import_pt2
