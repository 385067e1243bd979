// SPDX-License-Identifier: Apache-2.0
// thimble inspect: shows the content of a file as text or JSON.

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "driver/report.h"
#include "emit/debug_handles.h"
#include "formats/kind/file_kind.h"
#include "formats/npy/npy.h"
#include "formats/pt2/reader.h"
#include "formats/pte/print.h"
#include "formats/pte/read.h"
#include "formats/pte/records.h"
#include "hostrun/interface.h"
#include "ir/dtype_text.h"
#include "ir/op.h"
#include "ir/print.h"
#include "tools/commands.h"
#include "tools/engine_cli.h"
#include "tools/explain.h"
#include "tools/facts.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;
namespace pt2 = formats::pt2;

struct InspectArguments {
  fs::path file;
  bool commands = false;
  bool json = false;
};

using Report = InspectReport;
using EngineClis = std::vector<std::unique_ptr<EngineCli>>;

Json to_json(const std::vector<hostrun::Port>& ports) {
  Json list = Json::array();
  for (const hostrun::Port& port : ports) {
    list.push_back({{"name", port.name},
                    {"dtype", ir::dtype_text(port.dtype)},
                    {"shape", port.shape},
                    {"dim_order", hostrun::full_order(port)}});
    if (!port.quant) continue;
    list.back()["scale"] = port.quant->scale[0];
    list.back()["zero_point"] = port.quant->zero_point[0];
  }
  return list;
}

Json to_json(const std::vector<emit::DebugCall>& calls) {
  Json list = Json::array();
  for (const emit::DebugCall& call : calls) {
    Json results = Json::array(), operations = Json::object();
    for (const emit::InstructionResult& result : call.results) {
      results.push_back(
          {{"name", result.name}, {"scale", result.scale}, {"zero_point", result.zero_point}});
    }
    for (const emit::DebugOperation& operation : call.operations) {
      operations[emit::operation_id(operation.word)] = operation.nodes;
    }
    list.push_back({{"nodes", call.nodes}, {"results", results}, {"operations", operations}});
  }
  return list;
}

std::string describe(const std::vector<hostrun::Port>& ports) {
  std::string text;
  for (const hostrun::Port& port : ports) text += fmt::format("  {}\n", port.describe());
  return text;
}

/// The command streams, layer lists and kernel lists of a program's NPU delegates.
Status add_commands(const formats::pte::Program& program, const std::string& label,
                    const EngineClis& engines, Report* report) {
  report->json["streams"] = Json::array();
  for (const formats::pte::ExecutionPlan& plan : program.plans) {
    for (const formats::pte::BackendDelegate& row : plan.delegates) {
      for (const auto& engine : engines) {
        THIMBLE_TRY(const std::optional<std::string> text,
                    engine->print_delegate(program, row, label));
        if (!text) continue;
        report->text += "\n" + *text;
        report->json["streams"].push_back(*text);
        break;
      }
    }
  }
  return ok();
}

Result<Report> inspect_pte(const fs::path& path, bool commands, const EngineClis& engines) {
  const std::string label = path.filename().string();
  THIMBLE_TRY(const Bytes bytes, read_file(path));
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(bytes, label));
  // Fails if an input is a number or has an unsupported type. Then the report does not say what can
  // run.
  const Result<hostrun::Interface> runnable = hostrun::read_interface(program, label);
  const hostrun::Interface interface = runnable.ok() ? *runnable : hostrun::Interface();
  const Explanation explanation = explain(program);
  Report report;
  report.text = fmt::format("{}   {} B, target {}, {} instructions, arena {} B\n{}{}\n", label,
                            driver::with_commas(static_cast<int64_t>(bytes.size())),
                            interface.target.empty() ? "not named" : interface.target,
                            interface.ops.size(), driver::with_commas(interface.arena_bytes),
                            describe(interface.inputs), describe(interface.outputs));
  if (!runnable.ok()) report.text = fmt::format("{}\n", runnable.error().message);
  report.text += explanation.text + "\n" + formats::pte::print(program, {false});
  if (interface.records) report.text += "\n" + formats::pte::print_records(program);
  report.json = {{"file", label},
                 {"format", "pte"},
                 {"bytes", bytes.size()},
                 {"target", interface.target.empty() ? Json(nullptr) : Json(interface.target)},
                 {"arena_bytes", interface.arena_bytes},
                 {"records", interface.records},
                 {"inputs", to_json(interface.inputs)},
                 {"outputs", to_json(interface.outputs)},
                 {"ops", interface.ops},
                 {"methods", explanation.methods},
                 {"program", Json::parse(formats::pte::print_json(program))}};
  THIMBLE_TRY(const std::vector<emit::DebugCall> debug, emit::read_debug(program));
  if (!debug.empty()) report.json["debug_handles"] = to_json(debug);
  if (commands) THIMBLE_CHECK(add_commands(program, label, engines, &report));
  return report;
}

std::string_view kind_text(pt2::InputKind kind) {
  switch (kind) {
    case pt2::InputKind::kUserInput:
      return "input";
    case pt2::InputKind::kParameter:
      return "parameter";
    case pt2::InputKind::kBuffer:
      return "buffer";
    case pt2::InputKind::kTensorConstant:
      return "constant";
    default:
      return "other";
  }
}

Result<Report> inspect_pt2(const fs::path& path) {
  THIMBLE_TRY(const pt2::ExportedProgram program, pt2::read(path));
  const pt2::Graph& graph = program.graph;
  const std::string label = path.filename().string();
  Report report;
  report.text = fmt::format("{}   torch {}, {} operators\n", label, program.torch_version,
                            graph.nodes.size());
  report.json = {{"file", label},
                 {"format", "pt2"},
                 {"torch_version", program.torch_version},
                 {"inputs", Json::array()},
                 {"outputs", Json::array()},
                 {"ops", Json::array()}};
  const auto type_of = [&](const std::string& name) {
    const pt2::TensorMeta* meta = graph.tensor(name);
    return meta == nullptr ? std::string("no tensor") : pt2::describe(*meta);
  };
  for (const pt2::InputSpec& spec : program.input_specs) {
    const std::string type = type_of(spec.value_name);
    report.text +=
        fmt::format("  {:<9} {} {} {}\n", kind_text(spec.kind), spec.value_name, type, spec.target);
    report.json["inputs"].push_back({{"name", spec.value_name},
                                     {"kind", kind_text(spec.kind)},
                                     {"type", type},
                                     {"target", spec.target}});
  }
  for (const pt2::Node& node : graph.nodes) {
    const std::string source =
        node.source.line == 0 ? "" : fmt::format("{}:{}", node.source.file, node.source.line);
    report.text += fmt::format("  {:<40} {:<20} {}\n", node.target, source, node.source.text);
    report.json["ops"].push_back(
        {{"name", node.name}, {"target", node.target}, {"source", source}});
  }
  for (const pt2::OutputSpec& spec : program.output_specs) {
    const std::string type = type_of(spec.value_name);
    report.text += fmt::format("  {:<9} {} {}\n", "output", spec.value_name, type);
    report.json["outputs"].push_back({{"name", spec.value_name}, {"type", type}});
  }
  return report;
}

Result<Report> inspect_npz(const fs::path& path) {
  THIMBLE_TRY(const formats::npy::NpzArrays arrays, formats::npy::read_npz(path));
  Report report;
  const std::string label = path.filename().string();
  report.text = fmt::format("{}   {} arrays\n", label, arrays.size());
  report.json = {{"file", label}, {"format", "npz"}, {"arrays", Json::array()}};
  for (const auto& [name, array] : arrays) {
    const std::string_view dtype = formats::npy::name(array.dtype);
    report.text += fmt::format("  {} {}{}\n", name, dtype, ir::list_text(array.shape));
    report.json["arrays"].push_back({{"name", name}, {"dtype", dtype}, {"shape", array.shape}});
  }
  return report;
}

Result<Report> inspect_ir(const fs::path& path) {
  const std::string label = path.filename().string();
  THIMBLE_TRY(const Bytes bytes, read_file(path));
  THIMBLE_TRY(const ir::Graph graph, ir::parse(as_text(bytes), label));
  std::map<std::string, int64_t> counts;
  for (const ir::Op& op : graph.ops()) counts[std::string(ir::op_name(op.kind))] += 1;
  Report report;
  report.text = fmt::format("{}   {} operators\n", label, graph.ops().size());
  for (const auto& [name, count] : counts) report.text += fmt::format("  {:<20} {}\n", name, count);
  report.json = {{"file", label},
                 {"format", "ir"},
                 {"ops", counts},
                 {"inputs", Json::array()},
                 {"outputs", Json::array()}};
  const auto add = [&](const char* key, const std::vector<ir::ValueId>& ids) {
    for (const ir::ValueId id : ids) {
      const ir::Value& value = graph.value(id);
      report.text += fmt::format("  {:<8} {} {}{}\n", key, value.name,
                                 ir::dtype_text(value.type.dtype), ir::list_text(value.type.shape));
      report.json[key].push_back({{"name", value.name},
                                  {"dtype", ir::dtype_text(value.type.dtype)},
                                  {"shape", value.type.shape}});
    }
  };
  add("inputs", graph.inputs());
  add("outputs", graph.outputs());
  return report;
}

Result<Report> inspect_file(const fs::path& path, bool commands) {
  const EngineClis engines = engine_clis();
  const std::string kind = extension(path);
  if (kind == ".pte") return inspect_pte(path, commands, engines);
  if (kind == ".pt2") return inspect_pt2(path);
  if (kind == ".npz") return inspect_npz(path);
  if (kind == ".ir") return inspect_ir(path);
  const std::string label = path.filename().string();
  THIMBLE_TRY(const Bytes bytes, read_file(path));
  std::string payloads;
  for (const auto& engine : engines) {
    THIMBLE_TRY(std::optional<Report> report, engine->inspect_file(bytes, label));
    if (report) return std::move(*report);
    if (!engine->file_format().empty()) payloads += fmt::format(" or {}", engine->file_format());
  }
  return formats::explain_file(
      path, formats::FileUse::kInspect,
      bad_input("{}: a .pt2, .pte, .npz, .ir{} expected", label, payloads));
}

int inspect(const InspectArguments& arguments) {
  const Result<Report> report = inspect_file(arguments.file, arguments.commands);
  if (!report) return fail(report.error(), arguments.json);
  if (arguments.json) {
    print_json(report->json);
  } else {
    std::fputs(printable(report->text).c_str(), stdout);
  }
  return 0;
}

}  // namespace

Result<Json> inspect_json(const fs::path& path, bool commands) {
  THIMBLE_TRY(Report report, inspect_file(path, commands));
  return std::move(report.json);
}

void add_inspect(CommandLine& line, int* exit_code) {
  Verb verb(line, "inspect", "Show the content of a .pt2, .pte, .npz, .ir or NPU payload");
  auto arguments = std::make_shared<InspectArguments>();
  verb.option("file", arguments->file, "The file").required();
  verb.flag("--commands", arguments->commands,
            "For a .pte: also its NPU command streams or layer lists");
  verb.flag("--json", arguments->json, "Print one JSON object");
  verb.callback([arguments, exit_code] { *exit_code = inspect(*arguments); });
}

}  // namespace thimble::tools
