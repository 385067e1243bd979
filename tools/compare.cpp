// SPDX-License-Identifier: Apache-2.0
// thimble compare: compares a compiled model with its float model over a data set.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/cancel.h"
#include "driver/compile.h"
#include "driver/condition.h"
#include "driver/data.h"
#include "emit/decompile.h"
#include "formats/pte/read.h"
#include "ir/dtype_text.h"
#include "quant/fast_float.h"
#include "tools/bundled.h"
#include "tools/commands.h"
#include "tools/compare.h"
#include "tools/io_types.h"
#include "tools/match_inputs.h"
#include "tools/measured_option.h"
#include "tools/model.h"
#include "tools/output.h"
#include "tools/pairs.h"
#include "tools/per_layer.h"
#include "tools/quality.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

constexpr driver::Metric kCompareMetrics[] = {{"accuracy", driver::Unit::kShare},
                                              {"agreement", driver::Unit::kShare},
                                              {"sqnr", driver::Unit::kDecibels}};

struct Comparison {
  std::string where;
  int64_t calls = 0;
  std::vector<double> sqnr_db;            // per output; NaN for an output of integers
  std::vector<HitRate> output_agreement;  // per output of integers: share of equal elements
  std::vector<std::string> warnings;
  std::vector<std::string> violations;  // conditions of --fail-if that are true
  HitRate agreement;       // share of rows of the first output with the same top-1 class
  HitRate accuracy_float;  // float model, against the labels
  HitRate accuracy;
  std::vector<LayerQuality> layers;      // only with --per-layer
  std::optional<MeasuredOption> option;  // only with --per-layer
};

/// Calls per boot of an emulated board. The progress is updated between boots.
constexpr int64_t kCallsAtOnce = 64;
/// Number of samples for --per-layer.
constexpr int64_t kLayerCalls = 8;

Status check_outputs(const ir::Graph& graph, const Model& model) {
  const std::vector<hostrun::Port>& ports = model.outputs;
  if (graph.outputs().size() != ports.size()) {
    return bad_input("{}: {} outputs, the float model has {}", model.label, ports.size(),
                     graph.outputs().size());
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const ir::Value& value = graph.value(graph.outputs()[i]);
    if (is_comparable(value, ports[i])) continue;
    return bad_input("{}: {}, the float model has {} {}{}", model.label, ports[i].describe(),
                     value.name, ir::dtype_text(value.type.dtype), ir::list_text(value.type.shape));
  }
  return ok();
}

/// Calls visit(elements) with the elements of an int8, uint8 or int16 tensor.
template <typename Visit>
void visit_codes(ir::Tensor& codes, const Visit& visit) {
  switch (codes.dtype) {
    case ir::DType::kI16:
      return visit(codes.data<int16_t>());
    case ir::DType::kU8:
      return visit(codes.data<uint8_t>());
    default:
      return visit(codes.data<int8_t>());
  }
}

/// Quantizes an input and dequantizes an output of an integer type, as an application does.
ir::Tensor to_port(const ir::Tensor& tensor, const hostrun::Port& port) {
  if (!port.quant || tensor.dtype != ir::DType::kF32) return tensor;
  ir::Tensor codes = ir::zeros(port.dtype, tensor.shape);
  const std::span<const float> values = tensor.data<float>();
  visit_codes(codes, [&]<typename Code>(std::span<Code> to) {
    using Limits = std::numeric_limits<Code>;
    for (size_t i = 0; i < values.size(); ++i) {
      const double code =
          std::nearbyint(values[i] / port.quant->scale[0]) + port.quant->zero_point[0];
      to[i] = static_cast<Code>(std::clamp<double>(code, Limits::min(), Limits::max()));
    }
  });
  return codes;
}
ir::Tensor from_port(ir::Tensor tensor, const hostrun::Port& port) {
  if (!port.quant || tensor.dtype == ir::DType::kF32) return tensor;
  ir::Tensor values = ir::zeros(ir::DType::kF32, tensor.shape);
  visit_codes(tensor, [&](auto codes) {
    for (size_t i = 0; i < codes.size(); ++i) {
      values.data<float>()[i] =
          static_cast<float>((codes[i] - port.quant->zero_point[0]) * port.quant->scale[0]);
    }
  });
  return values;
}

/// An output of integers, such as the result of argmax: each element is a class.
void compare_integers(const ir::Tensor& reference, const ir::Tensor& got, HitRate* agreement) {
  const std::vector<double> wanted = values_of(reference);
  const std::vector<double> found = values_of(got);
  for (size_t i = 0; i < wanted.size(); ++i) agreement->add(wanted[i] == found[i]);
}

/// Calibrated range of each input, as far as the file has it.
std::vector<std::optional<driver::ValueRange>> calibrated_ranges(
    const formats::pte::Program& program, const Model& model) {
  const std::vector<std::optional<ir::Type>> types = emit::quantized_inputs(program);
  std::vector<std::optional<driver::ValueRange>> ranges;
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    std::optional<ir::Quant> quant = model.inputs[i].quant;
    double low = INT8_MIN, high = INT8_MAX;
    if (model.inputs[i].dtype == ir::DType::kU8) std::tie(low, high) = std::pair(0, UINT8_MAX);
    if (model.inputs[i].dtype == ir::DType::kI16) {
      std::tie(low, high) = std::pair(INT16_MIN, INT16_MAX);
    }
    if (i < types.size() && types[i] && types[i]->quant) {
      quant = types[i]->quant;
      if (types[i]->dtype == ir::DType::kI16) std::tie(low, high) = std::pair(INT16_MIN, INT16_MAX);
    }
    ranges.emplace_back();
    if (!quant) continue;
    const double scale = quant->scale[0], zero = quant->zero_point[0];
    ranges.back() = driver::ValueRange{scale * (low - zero), scale * (high - zero)};
  }
  return ranges;
}

Status warn_of_ranges(const CompareArguments& arguments, const Model& model,
                      const MatchedInputs& matched, const driver::Samples& samples,
                      Comparison* result) {
  THIMBLE_TRY(const Bytes bytes, read_file(arguments.model));
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(bytes, model.label));
  const auto ranges = calibrated_ranges(program, model);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto& [name, data] = samples.data.inputs[matched.graph_input[i]];
    if (!ranges[i] || data.dtype != ir::DType::kF32) continue;
    std::string warning = driver::range_warning(name, data, *ranges[i]);
    if (!warning.empty()) result->warnings.push_back(std::move(warning));
  }
  return ok();
}

/// The value of a metric; nullopt if the data does not give it.
std::optional<double> value_of(const Comparison& result, std::string_view metric) {
  if (metric == "accuracy") return result.accuracy.value();
  if (metric == "agreement") return result.agreement.value();
  std::optional<double> lowest;
  for (const double value : result.sqnr_db) {
    if (!std::isnan(value)) lowest = std::min(lowest.value_or(value), value);
  }
  return lowest;
}

Status check_conditions(const std::vector<driver::Condition>& conditions, Comparison* result) {
  for (const driver::Condition& condition : conditions) {
    const std::optional<double> now = value_of(*result, condition.name);
    if (!now) {
      return bad_input("--fail-if {}: the data and the model give no {}", condition.text,
                       condition.name);
    }
    if (!is_true(condition, *now)) continue;
    result->violations.push_back(condition.name == "sqnr"
                                     ? fmt::format("{}: {:.1f} dB", condition.text, *now)
                                     : fmt::format("{}: {:.2f} %", condition.text, 100 * *now));
  }
  return ok();
}

void compare_classes(const ir::Tensor& reference, const ir::Tensor& got,
                     const std::optional<std::vector<int64_t>>& labels, int64_t call,
                     Comparison* result) {
  const std::optional<std::vector<int64_t>> wanted = classes_of(reference, reference);
  const std::optional<std::vector<int64_t>> found = classes_of(reference, got);
  if (!wanted || !found) return;
  for (size_t row = 0; row < wanted->size(); ++row) {
    result->agreement.add((*wanted)[row] == (*found)[row]);
    const size_t sample = static_cast<size_t>(call) * wanted->size() + row;
    if (!labels || sample >= labels->size()) continue;
    result->accuracy_float.add((*wanted)[row] == (*labels)[sample]);
    result->accuracy.add((*found)[row] == (*labels)[sample]);
  }
}

/// --bundle: the program and its inputs and outputs, as test cases.
Status write_bundle(const CompareArguments& arguments, const Model& model,
                    formats::bundle::TestSuite suite) {
  if (model.program == nullptr) return bad_input("--bundle: {} is not a .pte", model.label);
  if (model.has_state) {
    return bad_input("--bundle: {} keeps state between calls: its calls are no test cases",
                     model.label);
  }
  suite.method = hostrun::executed_plan(*model.program).name;
  formats::bundle::BundledProgram bundled;
  bundled.suites.push_back(std::move(suite));
  THIMBLE_TRY(bundled.program, read_file(arguments.model));
  OutputFiles files;
  files.protect(arguments.model);
  files.protect(arguments.float_model);
  if (!arguments.data.empty()) files.protect(arguments.data);
  THIMBLE_CHECK(files.add(arguments.bundle, formats::bundle::write(bundled)));
  return files.commit();
}

Result<Comparison> compare_models(const CompareArguments& arguments) {
  OpenOptions options;
  options.on = arguments.on;
  options.patience = arguments.patience;
  options.target = arguments.target;
  THIMBLE_CHECK(parse_shapes(arguments.shapes, &options.shapes));
  THIMBLE_TRY(const std::vector<passes::InputFormat> preprocess,
              parse_preprocess(arguments.preprocess));
  THIMBLE_TRY(const std::vector<driver::Condition> conditions,
              driver::parse_conditions(arguments.fail_if, {"--fail-if", kCompareMetrics}));
  THIMBLE_TRY(const ir::Graph graph,
              driver::load_float_graph(arguments.float_model, options.shapes, preprocess));
  THIMBLE_TRY(const Model model, open_model(arguments.model, options));
  THIMBLE_TRY(const MatchedInputs matched, match_inputs(graph, model.inputs, model.label));
  THIMBLE_CHECK(check_outputs(graph, model));
  if (arguments.per_layer && !matched.note.empty()) {
    return bad_input("--per-layer: {}", matched.note);
  }
  const std::string data =
      arguments.samples != nullptr ? arguments.samples->label : arguments.data.filename().string();
  THIMBLE_TRY(const driver::Samples samples, arguments.samples != nullptr
                                                 ? driver::join_samples(*arguments.samples, graph)
                                                 : driver::read_samples(arguments.data, graph));
  THIMBLE_CHECK(driver::check_samples(samples, graph, data));

  Comparison result;
  if (!matched.note.empty()) result.warnings.push_back(matched.note);
  THIMBLE_CHECK(warn_of_ranges(arguments, model, matched, samples, &result));
  if (arguments.per_layer) {
    THIMBLE_TRY(const Bytes bytes, read_file(arguments.model));
    THIMBLE_TRY(result.layers, layer_quality(graph, bytes, model.label, samples, kLayerCalls));
    driver::CompileOptions trial;
    THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(bytes, model.label));
    THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_interface(program, model.label));
    trial.target = arguments.target.empty() ? interface.target : arguments.target;
    trial.shapes = options.shapes;
    trial.preprocess = preprocess;
    if (!trial.target.empty()) {
      THIMBLE_TRY(result.option, measured_option(arguments.float_model, samples, trial));
    }
  }
  formats::bundle::TestSuite suite;
  quant::FastExecutor engine(graph, quant::float_kernels());
  result.where = model.where;
  result.calls = driver::call_count(samples, graph);
  if (result.calls == 0) {
    return bad_input("{}: no samples for one call", data);
  }
  std::vector<Sqnr> sqnr(graph.outputs().size());
  result.output_agreement.resize(sqnr.size());
  Progress progress("comparing", arguments.progress);
  // A run starts with the initial state, so all calls of a model with states are in one run.
  const int64_t at_once = graph.states().empty() ? kCallsAtOnce : result.calls;
  for (int64_t first = 0; first < result.calls; first += at_once) {
    progress.show("", first, result.calls);
    Calls inputs;
    for (int64_t call = first; call < std::min(first + at_once, result.calls); ++call) {
      inputs.push_back(driver::call_inputs(samples, graph, call));
    }
    Calls at_ports;
    for (const std::vector<ir::Tensor>& call : inputs) {
      std::vector<ir::Tensor>& ports = at_ports.emplace_back();
      for (size_t k = 0; k < call.size(); ++k) {
        ports.push_back(to_port(call[matched.graph_input[k]], model.inputs[k]));
      }
    }
    THIMBLE_TRY(Outcome outcome, model.run(at_ports));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!arguments.bundle.empty()) {
        suite.cases.push_back(test_case_of(model, at_ports[i], outcome.outputs[i]));
      }
      for (size_t k = 0; k < sqnr.size(); ++k) {
        outcome.outputs[i][k] = from_port(outcome.outputs[i][k], model.outputs[k]);
      }
      THIMBLE_CHECK(check_cancelled());
      engine.run(inputs[i], {});
      const std::vector<ir::Tensor> reference = engine.outputs();
      for (size_t k = 0; k < sqnr.size(); ++k) {
        if (reference[k].dtype == ir::DType::kF32) {
          sqnr[k].add(reference[k], outcome.outputs[i][k]);
        } else {
          compare_integers(reference[k], outcome.outputs[i][k], &result.output_agreement[k]);
        }
      }
      compare_classes(reference[0], outcome.outputs[i][0], samples.labels,
                      first + static_cast<int64_t>(i), &result);
    }
  }
  for (size_t k = 0; k < sqnr.size(); ++k) {
    const std::string& name = graph.value(graph.outputs()[k]).name;
    const bool real = !result.output_agreement[k].value();
    result.sqnr_db.push_back(real ? sqnr[k].decibels() : std::nan(""));
    std::string warning = driver::sqnr_warning(name, result.sqnr_db[k]);
    if (real && std::isnan(result.sqnr_db[k])) {
      warning = name + ": the output never varies over the samples: check the data";
    }
    if (!warning.empty()) result.warnings.push_back(std::move(warning));
  }
  THIMBLE_CHECK(check_conditions(conditions, &result));
  if (!arguments.bundle.empty()) THIMBLE_CHECK(write_bundle(arguments, model, std::move(suite)));
  return result;
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Comparison& result) {
  Json json;
  json["sqnr_db"] = Json::array();
  for (const double value : result.sqnr_db) json["sqnr_db"].push_back(number(value));
  json["output_agreement"] = Json::array();
  for (const HitRate& rate : result.output_agreement) {
    json["output_agreement"].push_back(or_null(rate.value()));
  }
  json["top1_agreement"] = or_null(result.agreement.value());
  if (result.accuracy.value()) {
    json["accuracy_float"] = *result.accuracy_float.value();
    json["accuracy"] = *result.accuracy.value();
  }
  if (!result.layers.empty()) json["layers"] = Json::array();
  for (const LayerQuality& layer : result.layers) {
    json["layers"].push_back({{"name", layer.name},
                              {"op", layer.kernel},
                              {"source", layer.source.where()},
                              {"sqnr_db", number(layer.sqnr_db)},
                              {"local_db", number(layer.local_db)},
                              {"cause", layer.cause}});
  }
  if (result.option) {
    json["option"] = {{"option", result.option->text},
                      {"before_db", number(result.option->before_db)},
                      {"sqnr_db", number(result.option->after_db)}};
  }
  json["calls"] = result.calls;
  json["on"] = result.where;
  json["warnings"] = result.warnings;
  json["violations"] = result.violations;
  return json;
}

/// Prints the layers in execution order and marks the one with the lowest SQNR.
void print_layers(const std::vector<LayerQuality>& layers) {
  if (layers.empty()) return;
  const auto worst = std::ranges::min_element(layers, {}, [](const LayerQuality& layer) {
    return std::isnan(layer.sqnr_db) ? std::numeric_limits<double>::infinity() : layer.sqnr_db;
  });
  std::printf("  %-9s %-9s %-9s %-20s %-28s %s\n", "SQNR", "local", "cause", "value", "kernel",
              "source");
  for (auto layer = layers.begin(); layer != layers.end(); ++layer) {
    const ir::Source& source = layer->source;
    const std::string local = std::isnan(layer->local_db) ? "" : decibels_text(layer->local_db);
    std::printf("%c %9s %9s %-9s %-20s %-28s %s  %s%s%s\n", layer == worst ? '>' : ' ',
                decibels_text(layer->sqnr_db).c_str(), local.c_str(), layer->cause.c_str(),
                layer->name.c_str(), layer->kernel.c_str(), source.where().c_str(),
                source.text.c_str(), source.module.empty() ? "" : "  in ", source.module.c_str());
  }
}

void print(const CompareArguments& arguments, const Comparison& result) {
  std::printf("%s on %s compared with %s in float, %lld calls\n",
              arguments.model.filename().c_str(), result.where.c_str(),
              arguments.float_model.filename().c_str(), static_cast<long long>(result.calls));
  for (size_t i = 0; i < result.sqnr_db.size(); ++i) {
    if (const auto share = result.output_agreement[i].value()) {
      std::printf("  equal in output_%zu  %8.2f %%\n", i, 100.0 * *share);
    } else {
      std::printf("  SQNR output_%zu      %11s\n", i, decibels_text(result.sqnr_db[i]).c_str());
    }
  }
  const bool indices = !result.output_agreement.empty() && result.output_agreement[0].value();
  if (const auto share = result.agreement.value(); share && !indices) {
    std::printf("  same top-1         %8.2f %%\n", 100.0 * *share);
  }
  if (const auto share = result.accuracy_float.value()) {
    std::printf("  accuracy, float    %8.2f %%\n", 100.0 * *share);
    std::printf("  accuracy, compiled %8.2f %%\n", 100.0 * *result.accuracy.value());
  }
  print_layers(result.layers);
  if (result.option) {
    std::printf("  with these samples as calibration data: `compile %s` has %s, without it %s\n",
                result.option->text.c_str(), decibels_text(result.option->after_db).c_str(),
                decibels_text(result.option->before_db).c_str());
  }
  for (const std::string& warning : result.warnings)
    std::printf("  warning: %s\n", warning.c_str());
}

}  // namespace

Result<QualityFigures> compare_quality(const fs::path& float_model, const fs::path& model,
                                       const fs::path& data) {
  CompareArguments arguments;
  arguments.float_model = float_model;
  arguments.model = model;
  arguments.data = data;
  THIMBLE_TRY(const Comparison result, compare_models(arguments));
  return QualityFigures{value_of(result, "sqnr"), value_of(result, "agreement"),
                        value_of(result, "accuracy"), result.warnings};
}

namespace {

int compare(const CompareArguments& arguments) {
  const Result<Comparison> result = compare_models(arguments);
  if (!result) return fail(result.error(), arguments.json);
  if (arguments.json) {
    print_json(to_json(*result));
  } else {
    print(arguments, *result);
  }
  for (const std::string& violation : result->violations) {
    std::fprintf(stderr, "failed: %s\n", violation.c_str());
  }
  return result->violations.empty() ? 0 : 1;
}

}  // namespace

Result<Json> compare_json(const CompareArguments& arguments) {
  THIMBLE_TRY(const Comparison result, compare_models(arguments));
  return to_json(result);
}

void add_compare_options(Verb& verb, CompareArguments* arguments) {
  CompareArguments& a = *arguments;
  verb.option("float_model", a.float_model, "The .pt2").required();
  verb.option("model", a.model, "The .pte").required();
  verb.option("--data", a.data,
              "Samples (.npz, or .npy for one input), with `labels` for a classifier")
      .required();
  verb.option("--on", a.on,
              "Platform that runs the .pte; serial:PORT[:BAUD]: a board with "
              "examples/serial_runner")
      .one_of_or_prefix({"host", "qemu", "serial:PORT"});
  verb.option("--patience", a.patience,
              "With --on serial: seconds without an answer after which the comparison fails")
      .positive();
  verb.option("--target", a.target, "Target of a .pte that does not name one");
  verb.option("--preprocess", a.preprocess, kPreprocessHelp).one_value_each();
  verb.option("--shape", a.shapes, kShapeHelp).take_all();
  verb.option("--fail-if", a.fail_if,
              "Exit 1 if one of these is true: sqnr<5dB, agreement<0.9, accuracy<90%")
      .not_empty("a condition such as sqnr<5dB");
  verb.flag("--per-layer", a.per_layer,
            "Also compare each value with its float value (needs compile --names)");
  verb.option("--bundle", a.bundle,
              "Also write a bundled program (.bpte): the .pte, the samples and its outputs");
  verb.flag("--json", a.json, "Print the result as one JSON object");
}

void add_compare(CommandLine& line, int* exit_code) {
  Verb verb(line, "compare", "Compare a compiled model with its float model");
  auto arguments = std::make_shared<CompareArguments>();
  add_compare_options(verb, arguments.get());
  verb.callback([arguments, exit_code] { *exit_code = compare(*arguments); });
}

}  // namespace thimble::tools
