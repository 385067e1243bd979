// SPDX-License-Identifier: Apache-2.0
#include "capi/delegates.h"

#include "capi/words.h"
#include "driver/compile_delegate.h"
#include "driver/engine_nodes.h"
#include "ir/dtype_text.h"
#include "tools/compile_arguments.h"
#include "tools/output.h"

namespace thimble::capi {
namespace {

using tools::Json;
using Imported = import_pt2::ImportedNode::Result;

std::string_view result_text(Imported result) {
  switch (result) {
    case Imported::kOperators:
      return "operators";
    case Imported::kConstant:
      return "constant";
    case Imported::kOperand:
      return "operand";
    case Imported::kNothing:
      return "nothing";
  }
  return "";
}

Json source_json(const ir::Source& source) {
  return {{"node", source.node},
          {"op", source.target},
          {"source", source.where()},
          {"source_text", source.text},
          {"module", source.module}};
}

Json to_json(const driver::EngineNodes& nodes) {
  Json json = {{"engines", nodes.engines}, {"nodes", Json::array()}, {"refused", Json::array()}};
  for (const driver::EngineNode& node : nodes.nodes) {
    Json row = source_json(node.source);
    row["result"] = result_text(node.result);
    row["subgraph"] = node.subgraph < 0 ? Json() : Json(node.subgraph);
    row["reason"] = node.reason;
    json["nodes"].push_back(std::move(row));
  }
  for (const ir::RefusedNode& node : nodes.refused) {
    Json row = source_json(node.source);
    row["reason"] = node.reason;
    json["refused"].push_back(std::move(row));
  }
  return json;
}

Json to_json(const std::vector<driver::IoReport>& ports) {
  Json rows = Json::array();
  for (const driver::IoReport& port : ports) {
    Json row = {{"name", port.name},
                {"dtype", ir::dtype_name(port.type.dtype)},
                {"shape", port.type.shape}};
    if (port.type.quant) {
      row["scale"] = port.type.quant->scale[0];
      row["zero_point"] = port.type.quant->zero_point[0];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json to_json(const driver::DelegateProgram& program) {
  const engine::Delegate& delegate = program.delegate;
  Json json = {{"engine", delegate.engine},
               {"id", delegate.id},
               {"payload_bytes", delegate.payload.size()},
               {"constant_bytes", delegate.constant_bytes},
               {"scratch_bytes", delegate.scratch_bytes},
               {"fast_scratch_bytes", delegate.fast_scratch_bytes},
               {"cycles", delegate.cycles ? Json(*delegate.cycles) : Json()},
               {"note", delegate.note},
               {"inputs", to_json(program.inputs)},
               {"outputs", to_json(program.outputs)},
               {"ops", Json::array()}};
  for (const engine::DelegateRow& row : delegate.rows) {
    const auto index = static_cast<size_t>(row.ir_op);
    Json op = source_json(row.ir_op < 0 ? ir::Source{} : program.graph.ops()[index].source);
    op["what"] = row.what;
    op["cycles"] = row.cycles ? Json(*row.cycles) : Json();
    json["ops"].push_back(std::move(op));
  }
  return json;
}

/// Returns the options of `thimble compile`.
Result<driver::CompileOptions> parsed(const std::filesystem::path& model, const std::string& target,
                                      const Words& options, const ProgressFunction& progress) {
  tools::CompileArguments arguments;
  THIMBLE_CHECK(parse("compile", tools::add_compile_options,
                      joined({model.string(), "--target", target}, options), &arguments));
  arguments.model = arguments.models[0];
  THIMBLE_TRY(driver::CompileOptions result, compile_options(arguments));
  result.progress = progress;
  return result;
}

}  // namespace

Result<std::string> engine_nodes(const ModelSource& source, const std::string& target,
                                 const Words& options, const ProgressFunction& progress) {
  return with_file(source, [&](const std::filesystem::path& path) -> Result<std::string> {
    THIMBLE_TRY(const driver::CompileOptions request, parsed(path, target, options, progress));
    THIMBLE_TRY(const driver::EngineNodes nodes, driver::engine_nodes(path, request));
    return text_of(to_json(nodes));
  });
}

Result<DelegatePayload> compile_delegate(const ModelSource& source, const std::string& target,
                                         const Words& options, const ProgressFunction& progress) {
  const auto compile = [&](const std::filesystem::path& path) -> Result<driver::DelegateProgram> {
    THIMBLE_TRY(const driver::CompileOptions request, parsed(path, target, options, progress));
    return driver::compile_delegate(path, request);
  };
  THIMBLE_TRY(driver::DelegateProgram program, with_file(source, compile));
  DelegatePayload result;
  result.report_json = text_of(to_json(program));
  result.id = program.delegate.id;
  result.payload = std::move(program.delegate.payload);
  result.named = std::move(program.delegate.named);
  for (engine::GeneratedFile& file : program.delegate.files) {
    result.files.emplace_back(std::move(file.name), std::move(file.text));
  }
  return result;
}

}  // namespace thimble::capi
