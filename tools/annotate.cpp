// SPDX-License-Identifier: Apache-2.0
// thimble annotate: what the quantizer does with each node of a model, for PyTorch's quantizers.

#include <filesystem>
#include <memory>
#include <string>

#include "driver/annotate.h"
#include "driver/compile.h"
#include "quant/pins.h"
#include "tools/commands.h"
#include "tools/facts.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

struct AnnotateArguments {
  std::filesystem::path model;
  std::string target;
  bool arithmetic = false;
};

Json to_json(const driver::ResultAnnotation& result) {
  Json json = {{"dtype", "int8"}, {"scheme", "affine"}, {"min", -128}, {"max", 127}};
  if (result.symmetric) json.update({{"scheme", "symmetric"}, {"min", -127}});
  if (const auto& fixed = result.fixed) {
    json = {{"dtype", fixed->wide ? "int16" : "int8"},
            {"scheme", "fixed"},
            {"min", fixed->min},
            {"max", fixed->max},
            {"scale", fixed->scale},
            {"zero_point", fixed->zero_point}};
  }
  if (!result.shares_with.empty()) json["shares_with"] = result.shares_with;
  return json;
}

Json to_json(const driver::WeightsAnnotation& weights) {
  Json json = {{"name", weights.name}, {"dtype", "int8"}, {"min", -127}, {"max", 127}};
  json["axis"] = weights.axis ? Json(*weights.axis) : Json();
  return json;
}

Json to_json(const driver::NodeAnnotation& node) {
  Json json = {{"node", node.node}};
  if (!node.source.target.empty()) json["op"] = node.source.target;
  if (const std::string where = node.source.where(); !where.empty()) json["source"] = where;
  if (node.result) json["result"] = to_json(*node.result);
  if (node.weights) json["weights"] = to_json(*node.weights);
  for (const driver::ConstantAnnotation& constant : node.constants) {
    json["constants"].push_back(
        {{"name", constant.name}, {"scheme", constant.symmetric ? "symmetric" : "affine"}});
  }
  return json;
}

Json to_json(const driver::AnnotatedModel& model) {
  Json json = {{"model", model.model}, {"target", model.target}, {"nodes", Json::array()}};
  for (const driver::NodeAnnotation& node : model.nodes) json["nodes"].push_back(to_json(node));
  json["decompose"] = Json::array();
  for (const ir::Source& source : model.decompose) {
    json["decompose"].push_back(
        {{"node", source.node}, {"op", source.target}, {"source", source.where()}});
  }
  return json;
}

Result<Json> operators(const std::filesystem::path& model, const driver::CompileOptions& options) {
  THIMBLE_TRY(const driver::Compiled compiled, driver::compile(model, options));
  Json json = {{"model", compiled.report.model},
               {"target", compiled.report.target},
               {"float_ops", compiled.report.float_ops},
               {"operators", Json::array()}};
  for (const driver::NodeArithmetic& node : driver::arithmetic_of_nodes(compiled.integer_graph)) {
    Json row = {{"node", node.node}, {"op", node.op}};
    if (node.rounding) row["rounding"] = *node.rounding;
    json["operators"].push_back(std::move(row));
  }
  return json;
}

int annotate(const AnnotateArguments& arguments) {
  const Result<Json> json = annotate_json(arguments.model, arguments.target, arguments.arithmetic);
  if (!json) return fail(json.error(), true);
  print_json(*json);
  return 0;
}

}  // namespace

Result<Json> annotate_json(const std::filesystem::path& model, const std::string& target,
                           bool arithmetic) {
  driver::CompileOptions options;
  options.target = target;
  if (arithmetic) return operators(model, options);
  THIMBLE_TRY(const driver::AnnotatedModel annotated, driver::annotate(model, options));
  return to_json(annotated);
}

void add_annotate(CommandLine& line, int* exit_code) {
  Verb verb(line, "annotate",
            "Print as JSON how each node of a .pt2 would be quantized, for PyTorch's quantizer");
  auto arguments = std::make_shared<AnnotateArguments>();
  AnnotateArguments& a = *arguments;
  verb.option("model", a.model, "File written by torch.export.save").required();
  verb.option("--target", a.target, "Name of a part, as listed by `thimble targets`").required();
  verb.flag("--arithmetic", a.arithmetic,
            "For a model that PyTorch quantized: compile it, and print the integer operators of "
            "each node with their rounding (docs/numerics.md)");
  verb.callback([arguments, exit_code] { *exit_code = annotate(*arguments); });
}

}  // namespace thimble::tools
