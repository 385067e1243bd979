// SPDX-License-Identifier: Apache-2.0
// The .pt2 reader on a small archive, on damaged variants of it (one per error message), and on all
// archives that PyTorch wrote for the fixtures.

#include "formats/pt2/reader.h"

#include <filesystem>
#include <limits>

#include <gtest/gtest.h>

#include "base/control_characters.h"
#include "formats/pt2/json.h"
#include "tests/folders.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::formats::pt2 {
namespace {

using nlohmann::json;
using testing::Pt2Parts;
using testing::small_pt2;
using testing::tensor_meta;
using testing::to_bytes;

Result<ExportedProgram> read_parts(const Pt2Parts& parts) {
  return read(parts.pack(), "n.pt2");
}

std::string failure(const Pt2Parts& parts) {
  const auto program = read_parts(parts);
  return program ? "no error" : program.error().message;
}

/// Returns the error message of reading the archive after `edit`.
template <typename Edit>
std::string failure_after(Edit edit) {
  Pt2Parts parts = small_pt2();
  edit(parts);
  return failure(parts);
}

json& graph_of(Pt2Parts& parts) {
  return parts.model["graph_module"]["graph"];
}
json& node_of(Pt2Parts& parts, size_t i) {
  return graph_of(parts)["nodes"][i];
}
json& weight_of(Pt2Parts& parts) {
  return parts.weights["config"]["fc.weight"];
}

/// Returns the error of gathering fc.weight; the graph's description is copied from the config's.
template <typename Edit>
std::string gather_failure_after(Edit edit) {
  Pt2Parts parts = small_pt2();
  edit(parts);
  graph_of(parts)["tensor_values"]["p_weight"] = weight_of(parts)["tensor_meta"];
  const auto program = read_parts(parts);
  if (!program) return program.error().message;
  const auto tensor = program->weights.gather_finite("fc.weight");
  return tensor ? "no error" : tensor.error().message;
}

TEST(Pt2, ReadsAProgram) {
  const auto program = read_parts(small_pt2());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->torch_version, "2.13.0");
  EXPECT_EQ(program->schema_minor, 20);
  ASSERT_EQ(program->graph.nodes.size(), 2U);
  const Node& linear = program->graph.nodes[0];
  EXPECT_EQ(linear.name, "linear");
  EXPECT_EQ(linear.target, "torch.ops.aten.linear.default");
  ASSERT_NE(linear.input("weight"), nullptr);
  EXPECT_EQ(std::get<TensorName>(*linear.input("weight")).name, "p_weight");
  EXPECT_EQ(linear.input("bias"), nullptr);
  EXPECT_FALSE(linear.inputs[0].is_keyword);
  EXPECT_EQ(linear.source.file, "/home/me/net.py");
  EXPECT_EQ(linear.source.line, 7);
  EXPECT_EQ(linear.source.function, "forward");
  EXPECT_EQ(linear.source.text, "y = self.fc(x)");
  EXPECT_EQ(linear.module_path, "fc");
  EXPECT_EQ(linear.module_type, "torch.nn.Linear");
  EXPECT_EQ(program->graph.nodes[1].source.line, 0);
  EXPECT_EQ(describe(*program->graph.tensor("x")), "float32[2,3]");
  EXPECT_EQ(program->graph.tensor("y"), nullptr);
  ASSERT_EQ(program->input_specs.size(), 2U);
  EXPECT_EQ(program->input_specs[0].kind, InputKind::kParameter);
  EXPECT_EQ(program->input_specs[0].target, "fc.weight");
  EXPECT_EQ(program->input_specs[1].kind, InputKind::kUserInput);
  EXPECT_EQ(program->input_specs[1].value_name, "x");
  EXPECT_EQ(program->output_specs[0].value_name, "relu");
}

TEST(Pt2, ReadsEveryArgumentKind) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"as_none": true})", "none"},
      {R"({"as_tensors": [{"name": "x"}, {"name": "p_weight"}]})", "tensors"},
      {R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})",
       "optional_tensors"},
      {R"({"as_optional_tensor": {"as_none": true}})", "none"},
      {R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})", "tensor"},
      {R"({"as_int": 9223372036854775807})", "int"},
      {R"({"as_ints": [1, -2]})", "ints"},
      {R"({"as_float": "-Infinity"})", "float"},
      {R"({"as_float": 3})", "float"},
      {R"({"as_floats": [0.5, "NaN"]})", "floats"},
      {R"({"as_bool": false})", "bool"},
      {R"({"as_bools": [true, false]})", "bools"},
      {R"({"as_string": "mean"})", "string"},
      {R"({"as_strings": ["a"]})", "strings"},
      {R"({"as_scalar_type": 7})", "scalar_type"},
      {R"({"as_memory_format": 2})", "memory_format"},
      {R"({"as_layout": 7})", "layout"},
      {R"({"as_device": {"type": "cpu", "index": null}})", "device"},
      {R"({"as_sym_int": {"as_int": 4}})", "sym_int"},
      {R"({"as_sym_ints": [{"as_int": 4}, {"as_name": "x"}]})", "sym_ints"},
      {R"({"as_sym_float": {"as_float": 4.5}})", "sym_float"},
      {R"({"as_sym_bool": {"as_bool": true}})", "sym_bool"},
      {R"({"as_operator": "torch.relu"})", "operator"},
      {R"({"as_complex": {"real": 1.0, "imag": 0.0}})", "complex"},
      {R"({"as_graph": {"name": "g", "graph": {"inputs": [], "outputs": [], "nodes": [],
                        "tensor_values": {}, "sym_int_values": {}}}})",
       "graph"},
      {R"({"brand_new": [[]]})", "brand_new"},
  };
  for (const auto& [text, kind] : cases) {
    Pt2Parts parts = small_pt2();
    node_of(parts, 1)["inputs"].push_back(
        {{"name", "extra"}, {"arg", json::parse(text)}, {"kind", 2}});
    const auto program = read_parts(parts);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(kind_name(*program->graph.nodes[1].input("extra")), kind) << text;
    EXPECT_TRUE(program->graph.nodes[1].inputs[1].is_keyword);
  }
}

TEST(Pt2, NumbersAreReadExactly) {
  for (const int64_t number :
       {int64_t{0}, int64_t{-1}, (int64_t{1} << 59) - 1, int64_t{1} << 59, -(int64_t{1} << 59),
        std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    Pt2Parts parts = small_pt2();
    node_of(parts, 1)["inputs"][0]["arg"] = {{"as_int", number}};
    const auto program = read_parts(parts);
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_EQ(std::get<int64_t>(program->graph.nodes[1].inputs[0].value), number);
  }
}

TEST(Pt2, ReadsSymbolicSizes) {
  Pt2Parts parts = small_pt2();
  const json symbol = {
      {"as_expr",
       {{"expr_str", "Symbol('s77', positive=True, integer=True)"}, {"hint", {{"as_int", 2}}}}}};
  graph_of(parts)["tensor_values"]["x"]["sizes"][0] = symbol;
  graph_of(parts)["sym_int_values"]["n"] = symbol;
  parts.model["range_constraints"]["s77"] = {{"min_val", 1}, {"max_val", nullptr}};
  const auto program = read_parts(parts);
  ASSERT_TRUE(program) << program.error().message;
  const TensorMeta& x = *program->graph.tensor("x");
  EXPECT_TRUE(x.sizes[0].is_symbolic());
  EXPECT_EQ(x.sizes[0].hint, 2);
  EXPECT_EQ(describe(x), "float32[s77,3]");
  EXPECT_EQ(program->range_constraints.at("s77").min, 1);
  EXPECT_FALSE(program->range_constraints.at("s77").max);
  EXPECT_TRUE(program->graph.sym_int_values.at("n").is_symbolic());
}

TEST(Pt2, ReadsEverySignatureKind) {
  Pt2Parts parts = small_pt2();
  json& graph = graph_of(parts);
  json& specs = parts.model["graph_module"]["signature"]["input_specs"];
  const auto add_input = [&](const char* name, const char* spec) {
    graph["inputs"].push_back({{"as_tensor", {{"name", name}}}});
    graph["tensor_values"][name] = tensor_meta({1});
    specs.push_back(json::parse(spec));
  };
  add_input("b",
            R"({"buffer": {"arg": {"name": "b"}, "buffer_name": "n.b", "persistent": false}})");
  add_input("c", R"({"tensor_constant": {"arg": {"name": "c"}, "tensor_constant_name": "t0"}})");
  for (const char* name : {"n.b", "t0"}) {
    parts.constants["config"][name] = {{"path_name", "tensor_0"},
                                       {"is_param", false},
                                       {"use_pickle", false},
                                       {"tensor_meta", tensor_meta({1})}};
  }
  parts.others["data/constants/tensor_0"] = to_bytes("abcd");
  graph["inputs"].push_back({{"as_int", 5}});
  specs.push_back(json::parse(R"({"constant_input": {"name": "k", "value": {"as_int": 5}}})"));
  graph["outputs"].insert(graph["outputs"].begin(),
                          json::parse(R"({"as_tensor": {"name": "linear"}})"));
  json& outputs = parts.model["graph_module"]["signature"]["output_specs"];
  outputs.insert(
      outputs.begin(),
      json::parse(R"({"buffer_mutation": {"arg": {"name": "linear"}, "buffer_name": "n.b"}})"));
  graph["outputs"].push_back(json::parse(R"({"as_none": true})"));
  outputs.push_back(json::parse(R"({"user_output": {"arg": {"as_none": true}}})"));

  const auto program = read_parts(parts);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->input_specs.size(), 5U);
  EXPECT_EQ(program->input_specs[2].kind, InputKind::kBuffer);
  EXPECT_FALSE(program->input_specs[2].is_persistent);
  EXPECT_EQ(program->input_specs[3].kind, InputKind::kTensorConstant);
  EXPECT_EQ(program->input_specs[4].kind, InputKind::kConstant);
  EXPECT_EQ(program->input_specs[4].target, "k");
  EXPECT_EQ(std::get<int64_t>(program->input_specs[4].constant), 5);
  EXPECT_EQ(program->output_specs[0].kind, OutputKind::kBufferMutation);
  EXPECT_EQ(program->output_specs[0].target, "n.b");
  EXPECT_TRUE(program->output_specs[2].value_name.empty());
  EXPECT_EQ(as_text(program->weights.gather("n.b")->bytes), "abcd");
}

// --- messages ------------------------------------------------------------------------------------

TEST(Pt2, LocatesWrongTypes) {
  EXPECT_EQ(failure_after([](Pt2Parts& p) { node_of(p, 1)["inputs"][0]["arg"]["as_tensor"] = 3; }),
            "n.pt2: models/model.json: graph_module.graph.nodes[1].inputs[0].arg.as_tensor: "
            "expected a tensor, found 3");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { node_of(p, 0)["target"] = nullptr; }),
            "n.pt2: models/model.json: graph_module.graph.nodes[0].target: expected a string, "
            "found null");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { node_of(p, 0).erase("outputs"); }),
            "n.pt2: models/model.json: graph_module.graph.nodes[0]: \"outputs\" is missing");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { weight_of(p)["is_param"] = 1; }),
            "n.pt2: data/weights/model_weights_config.json: config.fc.weight.is_param: expected "
            "true or false, found 1");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { p.model = json::array(); }),
            "n.pt2: models/model.json: expected an object with \"schema_version\", found an array");
  EXPECT_EQ(failure_after([](Pt2Parts& p) {
              node_of(p, 1)["inputs"][0]["arg"] = {{"as_int", 1}, {"as_bool", true}};
            }),
            "n.pt2: models/model.json: graph_module.graph.nodes[1].inputs[0].arg: expected one "
            "tag, found several");
  EXPECT_EQ(failure_after([](Pt2Parts& p) {
              node_of(p, 1)["inputs"][0]["arg"] = {{"as_int", 1e300}};
            }),
            "n.pt2: models/model.json: graph_module.graph.nodes[1].inputs[0].arg.as_int: expected "
            "an integer, found 1e+300");
}

TEST(Pt2, RefusesGraphsThatAreNotInOrder) {
  const std::string place = "n.pt2: models/model.json: graph_module.graph.";
  EXPECT_EQ(failure_after([](Pt2Parts& p) { std::swap(node_of(p, 0), node_of(p, 1)); }),
            place +
                "nodes[0].inputs[0].arg: uses \"linear\", which no input and no earlier node "
                "defines");
  EXPECT_EQ(failure_after([](Pt2Parts& p) {
              node_of(p, 0)["inputs"][0]["arg"]["as_tensor"]["name"] = "linear";
            }),
            place +
                "nodes[0].inputs[0].arg: uses \"linear\", which no input and no earlier node "
                "defines");
  EXPECT_EQ(failure_after(
                [](Pt2Parts& p) { node_of(p, 1)["outputs"][0]["as_tensor"]["name"] = "linear"; }),
            place + "nodes[1].outputs[0]: defines \"linear\" a second time");
  EXPECT_EQ(failure_after(
                [](Pt2Parts& p) { graph_of(p)["outputs"][0]["as_tensor"]["name"] = "nothing"; }),
            place + "outputs[0]: uses \"nothing\", which no input and no earlier node defines");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { graph_of(p)["tensor_values"].erase("linear"); }),
            place + "nodes[0].outputs[0]: tensor \"linear\" is not in tensor_values");
}

TEST(Pt2, RefusesControlCharactersInNames) {
  for (const std::string name : {"re\nlu", "relu\t", "\x1B[2J", "\x7F"}) {
    const auto in_node = [&](const char* key) {
      return failure_after([&](Pt2Parts& p) { node_of(p, 1)[key] = name; });
    };
    const std::string text = ": expected a name, found a control character in it";
    const std::string place = "n.pt2: models/model.json: graph_module.graph.nodes[1].";
    EXPECT_EQ(in_node("name"), place + "name" + text);
    EXPECT_EQ(in_node("target"), place + "target" + text);
    EXPECT_EQ(failure_after(
                  [&](Pt2Parts& p) { node_of(p, 1)["outputs"][0]["as_tensor"]["name"] = name; }),
              place + "outputs[0].as_tensor.name" + text);
  }
}

TEST(Pt2, SourceLinesHaveNoControlCharacters) {
  Pt2Parts parts = small_pt2();
  node_of(parts, 1)["metadata"] = {
      {"stack_trace", "  File \"a\x1B[2J.py\", line 3, in forward\n    return\t\x1B]0;x\x07\n"},
      {"nn_module_stack", "L__self__,a\nb\tc,torch.nn.modules.linear.Li\x1Bnear"}};
  const auto program = read_parts(parts);
  ASSERT_TRUE(program) << program.error().message;
  const Node& node = program->graph.nodes[1];
  for (const std::string& text :
       {node.source.file, node.source.text, node.module_path, node.module_type}) {
    EXPECT_FALSE(text.empty());
    EXPECT_FALSE(base::has_control_character(text)) << text;
  }
}

TEST(Pt2, RefusesExcessiveSizes) {
  const auto with_size = [](json size) {
    return failure_after(
        [&](Pt2Parts& p) { graph_of(p)["tensor_values"]["x"]["sizes"][0] = std::move(size); });
  };
  const std::string place = "n.pt2: models/model.json: graph_module.graph.tensor_values.x";
  EXPECT_EQ(with_size({{"as_int", -2}}), place + ".sizes[0]: expected 0 to 2147483647, found -2");
  EXPECT_EQ(with_size({{"as_int", int64_t{1} << 31}}),
            place + ".sizes[0]: expected 0 to 2147483647, found 2147483648");
  EXPECT_EQ(failure_after([](Pt2Parts& p) {
              json& tensor = graph_of(p)["tensor_values"]["x"];
              tensor["sizes"] = json(3, {{"as_int", INT32_MAX}});
              tensor["strides"] = tensor["sizes"];
            }),
            place + ": the size of float32[2147483647,2147483647,2147483647] overflows 63 bits");
  EXPECT_EQ(with_size({{"as_expr", {{"expr_str", ""}}}}),
            place + ".sizes[0].as_expr.expr_str: expected an expression, found an empty string");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { graph_of(p)["tensor_values"]["x"]["dtype"] = 14; }),
            place + ".dtype: expected a known scalar type, found 14");
  EXPECT_EQ(failure_after([](Pt2Parts& p) {
              graph_of(p)["tensor_values"]["x"] = tensor_meta(std::vector<int64_t>(65, 1));
            }),
            place + ".sizes: 65 axes, at most 64 are read");
  EXPECT_EQ(
      failure_after([](Pt2Parts& p) { graph_of(p)["tensor_values"]["x"]["strides"].erase(0); }),
      place + ": 2 sizes but 1 strides");
}

TEST(Pt2, RefusesInconsistentSignatures) {
  const std::string place = "n.pt2: models/model.json: graph_module.signature.";
  EXPECT_EQ(failure_after(
                [](Pt2Parts& p) { p.model["graph_module"]["signature"]["input_specs"].erase(0); }),
            place + "input_specs: 1 entries, but the graph has 2 such values");
  EXPECT_EQ(failure_after([](Pt2Parts& p) {
              json& specs = p.model["graph_module"]["signature"]["input_specs"];
              std::swap(specs[0], specs[1]);
            }),
            place + "input_specs[0]: names \"x\", but the graph has \"p_weight\" at this index");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { p.weights["config"] = json::object(); }),
            "n.pt2: the graph uses fc.weight, which no config lists");
  EXPECT_EQ(failure_after([](Pt2Parts& p) {
              weight_of(p)["tensor_meta"] = tensor_meta({3, 4});
            }),
            "n.pt2: fc.weight is float32[3,4] in its config and float32[4,3] in the graph");
}

TEST(Pt2, RefusesInvalidJson) {
  const Pt2Parts parts = small_pt2();
  const auto with_text = [&](const std::string& text) {
    const auto program =
        read(parts.pack_texts(text, parts.weights.dump(), parts.constants.dump()), "n.pt2");
    return program ? std::string("no error") : program.error().message;
  };
  const std::string text = parts.model.dump();
  EXPECT_EQ(with_text(text), "no error");
  for (size_t size = 0; size < text.size(); size += 7) {
    const std::string message = with_text(text.substr(0, size));
    EXPECT_TRUE(message.starts_with("n.pt2: models/model.json: byte ")) << message;
  }
  const std::string depth = "n.pt2: models/model.json: nested more than 100 levels deep";
  EXPECT_EQ(with_text(std::string(1'000'000, '[')), depth);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(with_text(objects), depth);
  EXPECT_NE(with_text("{\"a\": 1e999}").find("byte"), std::string::npos);
  EXPECT_NE(with_text("\"\xFF\xFE\"").find("byte"), std::string::npos);
}

TEST(Pt2, RefusesDuplicateNames) {
  const Pt2Parts parts = small_pt2();
  std::string text = parts.weights.dump();
  const size_t at = text.find("\"fc.weight\"");
  const std::string row = text.substr(at, text.size() - at - 2);
  text.insert(at, row + ",");
  const auto program =
      read(parts.pack_texts(parts.model.dump(), text, parts.constants.dump()), "n.pt2");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "n.pt2: data/weights/model_weights_config.json: config.fc.weight: the name occurs "
            "twice");
}

TEST(Pt2, ErrorForOtherArchivesSuggestsReexport) {
  const auto expect = [](const std::string& message, std::string_view part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
    EXPECT_TRUE(message.ends_with("re-export the model with PyTorch 2.9 or later")) << message;
  };
  expect(failure_after([](Pt2Parts& p) { p.model["schema_version"]["major"] = 7; }),
         "schema_version: schema 7.20 is not supported, expected 8.x");
  expect(failure_after([](Pt2Parts& p) { p.model["schema_version"]["major"] = 9; }),
         "schema 9.20 is not supported");
  expect(failure_after([](Pt2Parts& p) { p.others.erase("archive_format"); }),
         "no archive_format member");
  const auto only = [](std::string name) {
    return read(testing::make_zip({{std::move(name), to_bytes("{}"), 0, 0, {}, {}, {}}}), "n.pt2")
        .error()
        .message;
  };
  expect(only("serialized_exported_program.json"), "the layout of an old PyTorch");
  expect(only("net/data.pkl"), "as torch.save and torch.jit.save write it");
  expect(only("hello.txt"), "no archive_format member");
  const auto packed = [](std::vector<testing::ZipMember> members) {
    members.push_back({"n/archive_format", to_bytes("pt2"), 0, 0, {}, {}, {}});
    return read(testing::make_zip(members), "n.pt2").error().message;
  };
  expect(packed({}), "no models/*.json");
  expect(packed({{"n/models/model.json", to_bytes(small_pt2().model.dump()), 0, 0, {}, {}, {}}}),
         "no data/weights/model_weights_config.json");
}

TEST(Pt2, RefusesOtherByteOrdersAndSeveralModels) {
  EXPECT_EQ(failure_after([](Pt2Parts& p) { p.others["byteorder"] = to_bytes("big"); }),
            "n.pt2: byteorder: expected \"little\", found \"big\"");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { p.others["archive_format"] = to_bytes("p\n"); }),
            "n.pt2: archive_format: expected \"pt2\", found \"p?\"");
  EXPECT_EQ(failure_after([](Pt2Parts& p) { p.others["models/a.json"] = to_bytes("{}"); }),
            "n.pt2: contains the models a and model, expected one");
}

// --- weights -------------------------------------------------------------------------------------

std::vector<float> floats(const WeightTensor& tensor) {
  std::vector<float> values;
  for (size_t at = 0; at < tensor.bytes.size(); at += 4) {
    const auto bits = load_le<uint32_t>(tensor.bytes, at);
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(value);
  }
  return values;
}

TEST(Pt2Weights, GathersContiguousTensors) {
  const auto program = read_parts(small_pt2());
  const auto tensor = program->weights.gather_finite("fc.weight");
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->sizes, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(floats(*tensor), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(program->weights.gather("none").error().message, "n.pt2: no tensor named none");
}

TEST(Pt2Weights, ViewsShareAStorage) {
  Pt2Parts parts = small_pt2();
  const auto add = [&](const char* name, std::vector<int64_t> sizes, std::vector<int64_t> strides,
                       int64_t offset) {
    json row = weight_of(parts);
    row["tensor_meta"] = tensor_meta(sizes);
    for (size_t i = 0; i < strides.size(); ++i) {
      row["tensor_meta"]["strides"][i]["as_int"] = strides[i];
    }
    row["tensor_meta"]["storage_offset"]["as_int"] = offset;
    parts.weights["config"][name] = row;
  };
  add("transposed", {3, 4}, {1, 3}, 0);
  add("column", {4}, {3}, 2);
  add("tail", {2, 3}, {3, 1}, 6);
  add("expanded", {2, 2}, {0, 1}, 10);
  add("scalar", {}, {}, 11);
  add("empty", {0, 3}, {3, 1}, 99);
  add("one_row", {1, 3}, {77, 1}, 3);
  const auto program = read_parts(parts);
  ASSERT_TRUE(program) << program.error().message;
  const auto values = [&](const char* name) {
    const auto tensor = program->weights.gather(name);
    return tensor ? floats(*tensor) : std::vector<float>{-1};
  };
  EXPECT_EQ(values("transposed"), (std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  EXPECT_EQ(values("column"), (std::vector<float>{2, 5, 8, 11}));
  EXPECT_EQ(values("tail"), (std::vector<float>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(values("expanded"), (std::vector<float>{10, 11, 10, 11}));
  EXPECT_EQ(values("scalar"), (std::vector<float>{11}));
  EXPECT_EQ(values("empty"), (std::vector<float>{}));
  EXPECT_EQ(values("one_row"), (std::vector<float>{3, 4, 5}));
}

TEST(Pt2Weights, LocatesWhatIsMissing) {
  const std::string place = "n.pt2: data/weights/weight_0: ";
  EXPECT_EQ(gather_failure_after([](Pt2Parts& p) {
              weight_of(p)["tensor_meta"] = tensor_meta({16, 8, 3, 3});
            }),
            place + "4,608 bytes expected for fc.weight float32[16,8,3,3], the archive holds 48");
  EXPECT_EQ(gather_failure_after(
                [](Pt2Parts& p) { weight_of(p)["tensor_meta"]["storage_offset"]["as_int"] = 1; }),
            place + "52 bytes expected for fc.weight float32[4,3], the archive holds 48");
  EXPECT_EQ(gather_failure_after([](Pt2Parts& p) { p.others.erase("data/weights/weight_0"); }),
            place + "the archive lacks this member, which holds fc.weight");
  EXPECT_EQ(gather_failure_after([](Pt2Parts& p) { weight_of(p)["use_pickle"] = true; }),
            place + "fc.weight is a pickled object, expected a plain tensor");
  EXPECT_EQ(gather_failure_after([](Pt2Parts& p) {
              weight_of(p)["tensor_meta"]["strides"][0] = {{"as_expr", {{"expr_str", "s0"}}}};
            }),
            place + "fc.weight float32[4,3] has sizes, strides or an offset that no storage has");
  EXPECT_EQ(
      gather_failure_after([](Pt2Parts& p) { weight_of(p)["path_name"] = "../../etc/passwd"; }),
      "n.pt2: data/weights/../../etc/passwd: the archive lacks this member, which holds "
      "fc.weight");
}

TEST(Pt2Weights, RefusesStridesThatExpandSmallStorage) {
  EXPECT_EQ(gather_failure_after([](Pt2Parts& p) {
              weight_of(p)["tensor_meta"] = tensor_meta({1'000'000'000, 3});
              weight_of(p)["tensor_meta"]["strides"][0]["as_int"] = 0;
            }),
            "n.pt2: data/weights/weight_0: fc.weight float32[1000000000,3] unfolds 48 bytes of "
            "storage to 12,000,000,000, too many");
}

TEST(Pt2Weights, LocatesNonFiniteValues) {
  EXPECT_EQ(gather_failure_after([](Pt2Parts& p) {
              const uint32_t bits = 0x7FC0'0000;
              std::memcpy(&p.others["data/weights/weight_0"][7 * 4], &bits, 4);
            }),
            "n.pt2: data/weights/weight_0: fc.weight float32[4,3] is NaN at [2,1], expected finite "
            "numbers");
  EXPECT_EQ(gather_failure_after([](Pt2Parts& p) {
              const uint16_t bits = 0xFC00;
              weight_of(p)["tensor_meta"] = tensor_meta({3}, 6);
              std::memcpy(&p.others["data/weights/weight_0"][4], &bits, 2);
            }),
            "n.pt2: data/weights/weight_0: fc.weight float16[3] is infinite at [2], expected "
            "finite numbers");
}

TEST(Pt2Weights, OnlyParametersMustBeFinite) {
  for (const bool is_parameter : {false, true}) {
    const std::string message = gather_failure_after([=](Pt2Parts& p) {
      const uint32_t minus_infinity = 0xFF80'0000;
      std::memcpy(&p.others["data/weights/weight_0"][7 * 4], &minus_infinity, 4);
      weight_of(p)["is_param"] = is_parameter;
    });
    EXPECT_EQ(message == "no error", !is_parameter) << message;
  }
}

// --- fixtures ------------------------------------------------------------------------------------

TEST(Pt2Fixtures, AllOfPyTorchsArchivesAreRead) {
  const std::filesystem::path folder = test::source_folder() / "tests" / "data" / "pt2";
  ASSERT_TRUE(std::filesystem::exists(folder)) << "no fixtures in " << folder;
  size_t nodes = 0;
  size_t nodes_with_source = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pt2") continue;
    const auto program = read(entry.path());
    ASSERT_TRUE(program) << program.error().message;
    for (const Node& node : program->graph.nodes) {
      ++nodes;
      if (node.source.line > 0) ++nodes_with_source;
      EXPECT_EQ(node.source.file.find("site-packages"), std::string::npos) << node.source.file;
    }
    for (const InputSpec& spec : program->input_specs) {
      const Payload* payload = program->weights.find(spec.target);
      if (!payload) continue;
      const auto tensor = program->weights.gather(spec.target);
      EXPECT_EQ(tensor.ok(), !payload->uses_pickle) << tensor.error().message;
    }
  }
  // Quantize and dequantize nodes and checks of dynamic shapes have no source line.
  EXPECT_GT(2 * nodes_with_source, nodes);
}

/// Returns the small archive with its relu inside of a region. The region's names are those of the
/// nodes outside, as PyTorch writes them.
Pt2Parts with_region(bool autocast_enabled) {
  Pt2Parts parts = small_pt2();
  json inner = node_of(parts, 1);
  inner["outputs"][0]["as_tensor"]["name"] = "inner";
  json relu_again = inner;
  relu_again["name"] = "linear";
  relu_again["inputs"][0]["arg"]["as_tensor"]["name"] = "inner";
  relu_again["outputs"][0]["as_tensor"]["name"] = "last";
  const json region = {{"inputs", {{{"as_tensor", {{"name", "linear"}}}}}},
                       {"outputs", {{{"as_tensor", {{"name", "last"}}}}}},
                       {"nodes", {inner, relu_again}},
                       {"tensor_values",
                        {{"linear", tensor_meta({2, 4})},
                         {"inner", tensor_meta({2, 4})},
                         {"last", tensor_meta({2, 4})}}},
                       {"sym_int_values", json::object()}};
  const auto argument = [](json value) { return json{{"name", ""}, {"arg", value}, {"kind", 1}}; };
  json& node = node_of(parts, 1);
  node["target"] = "torch.ops.higher_order.wrap_with_autocast";
  node["inputs"] = {argument({{"as_string", "cpu"}}),
                    argument({{"as_scalar_type", 13}}),
                    argument({{"as_bool", autocast_enabled}}),
                    argument({{"as_bool", false}}),
                    argument({{"as_graph", {{"name", "submod_1"}, {"graph", region}}}}),
                    argument({{"as_tensor", {{"name", "linear"}}}})};
  return parts;
}

TEST(Pt2, RegionsWithoutEffectAreInlined) {
  const auto program = read_parts(with_region(false));
  ASSERT_TRUE(program) << program.error().message;
  const Graph& graph = program->graph;
  ASSERT_EQ(graph.nodes.size(), 3U);
  const auto name = [](const Argument& argument) { return std::get<TensorName>(argument).name; };
  EXPECT_EQ(graph.nodes[1].target, "torch.ops.aten.relu.default");
  EXPECT_EQ(name(graph.nodes[1].inputs[0].value), "linear");
  EXPECT_EQ(name(graph.nodes[1].outputs[0]), name(graph.nodes[2].inputs[0].value));
  EXPECT_EQ(name(graph.nodes[2].outputs[0]), "relu");
  EXPECT_NE(graph.tensor(name(graph.nodes[1].outputs[0])), nullptr);
}

TEST(Pt2, RegionsWithEffectAreKept) {
  const auto program = read_parts(with_region(true));
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_EQ(program->graph.nodes.size(), 2U);
  EXPECT_EQ(program->graph.nodes[1].target, "torch.ops.higher_order.wrap_with_autocast");
}

/// An operand of the region that is returned unchanged gets its second name by an alias.
TEST(Pt2, RegionThatReturnsItsOperand) {
  Pt2Parts parts = with_region(false);
  json& region = node_of(parts, 1)["inputs"][4]["arg"]["as_graph"]["graph"];
  region["outputs"][0]["as_tensor"]["name"] = "linear";
  const auto program = read_parts(parts);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->graph.nodes.back().target, "torch.ops.aten.alias.default");
  region["nodes"][0]["inputs"][0]["arg"]["as_tensor"]["name"] = "nowhere";
  EXPECT_NE(failure(parts).find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace thimble::formats::pt2
