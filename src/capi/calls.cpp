// SPDX-License-Identifier: Apache-2.0
#include "capi/calls.h"

#include <set>

#include "abi/pte_ops.h"
#include "capi/words.h"
#include "driver/compile.h"
#include "engine/engine.h"
#include "ir/graph.h"
#include "tools/compile_arguments.h"

namespace thimble::capi {
namespace {

using ir::OpKind;
using ir::ValueId;
using tools::Json;

Json order_json(const ir::DimOrder& order, size_t rank) {
  Json json = Json::array();
  for (size_t i = 0; i < rank; ++i) json.push_back(order.empty() ? i : size_t{order[i]});
  return json;
}

class Writer {
 public:
  explicit Writer(const engine::Lowered& lowered) : lowered_(lowered), graph_(lowered.graph) {}

  Result<ProgramCalls> write() {
    Json json = {{"inputs", graph_.inputs()}, {"outputs", graph_.outputs()}};
    json["calls"] = Json::array();
    std::set<int> called;
    for (const engine::KernelCall& call : lowered_.calls) {
      if (call.delegate >= 0) return bad_input("a program with delegates has other calls");
      // ExecuTorch has this operator, with other arguments: it is a view.
      if (call.op == abi::PteOp::thimble_permute) continue;
      json["calls"].push_back(call_json(call));
      called.insert(call.ir_op);
    }
    json["views"] = Json::object();
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      if (called.contains(static_cast<int>(i))) continue;
      const ir::Op& op = graph_.ops()[i];
      json["views"][std::to_string(op.output)] = view_json(op);
    }
    json["values"] = Json::object();
    for (size_t i = 0; i < graph_.value_count(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const ir::Value& value = graph_.value(id);
      Json row = type_json(value.type.dtype, value.type.shape, value.type.dim_order);
      row["name"] = value.name;
      json["values"][std::to_string(id)] = std::move(row);
    }
    json["constants"] = std::move(types_);
    return ProgramCalls{text_of(json), std::move(constants_)};
  }

 private:
  static Json type_json(ir::DType dtype, const ir::Shape& shape, const ir::DimOrder& order) {
    return {{"dtype", ir::dtype_name(dtype)},
            {"shape", shape},
            {"dim_order", order_json(order, shape.size())}};
  }

  Json constant(ir::DType dtype, const ir::Shape& shape, const ir::DimOrder& order, Bytes bytes) {
    types_.push_back(type_json(dtype, shape, order));
    constants_.push_back(std::move(bytes));
    return {{"constant", constants_.size() - 1}};
  }

  Json value_json(ValueId id) {
    const ir::Value& value = graph_.value(id);
    if (value.constant == nullptr) return {{"value", id}};
    return constant(value.type.dtype, value.type.shape, value.type.dim_order,
                    ir::to_memory(*value.constant, value.type.dim_order));
  }

  Json argument_json(const engine::Argument& argument) {
    if (const auto* ref = std::get_if<engine::ValueRef>(&argument)) return value_json(ref->id);
    if (const auto* fixed = std::get_if<engine::Constant>(&argument)) {
      return constant(fixed->dtype, fixed->sizes, fixed->dim_order, *fixed->bytes);
    }
    if (const auto* scratch = std::get_if<engine::Scratch>(&argument)) {
      return {{"scratch", scratch->bytes}};
    }
    if (const auto* integer = std::get_if<int64_t>(&argument)) return *integer;
    if (const auto* boolean = std::get_if<bool>(&argument)) return *boolean;
    if (const auto* number = std::get_if<double>(&argument)) return *number;
    if (const auto* integers = std::get_if<engine::Integers>(&argument)) return *integers;
    if (const auto* list = std::get_if<engine::ValueList>(&argument)) {
      Json values = Json::array();
      for (const ValueId id : *list) values.push_back(value_json(id));
      return {{"list", std::move(values)}};
    }
    return {};
  }

  Json call_json(const engine::KernelCall& call) {
    const abi::PteOpInfo& info = abi::info(call.op);
    Json json = {{"op", info.name},
                 {"signature", info.arguments},
                 {"out", call.out},
                 {"arguments", Json::array()}};
    for (const engine::Argument& each : call.arguments) {
      json["arguments"].push_back(argument_json(each));
    }
    if (call.ir_op >= 0) {
      const ir::Source& source = graph_.ops()[static_cast<size_t>(call.ir_op)].source;
      json["node"] = source.node;
      json["source"] = source.where();
    }
    return json;
  }

  Json view_json(const ir::Op& op) {
    Json json = {{"op", ir::op_name(op.kind)}, {"operands", Json::array()}};
    for (const ValueId id : op.inputs) {
      if (id != ir::kNoValue) json["operands"].push_back(value_json(id));
    }
    if (op.kind == OpKind::permute) json["dims"] = op.get(ir::attr::dims);
    if (op.kind == OpKind::slice) {
      json["start"] = op.get(ir::attr::start);
      json["step"] = op.get(ir::attr::step);
    }
    if (op.kind == OpKind::slice || op.kind == OpKind::concat) json["dim"] = op.get(ir::attr::dim);
    return json;
  }

  const engine::Lowered& lowered_;
  const ir::Graph& graph_;
  Json types_ = Json::array();
  std::vector<Bytes> constants_;
};

}  // namespace

Result<ProgramCalls> program_calls(const ModelSource& source, const std::string& target,
                                   const Words& options, bool thimble_operators,
                                   const ProgressFunction& progress) {
  return with_file(source, [&](const std::filesystem::path& path) -> Result<ProgramCalls> {
    tools::CompileArguments arguments;
    THIMBLE_CHECK(
        parse("compile", tools::add_compile_options,
              joined({path.string(), "--target", target, "--compat", "executorch"}, options),
              &arguments));
    arguments.model = arguments.models[0];
    THIMBLE_TRY(driver::CompileOptions compile_options, tools::compile_options(arguments));
    if (thimble_operators) compile_options.dialect = engine::Dialect::kStockAndNative;
    compile_options.progress = progress;
    THIMBLE_TRY(const driver::Compiled compiled, driver::compile(arguments.model, compile_options));
    return Writer(compiled.lowered).write();
  });
}

}  // namespace thimble::capi
