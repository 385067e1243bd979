// SPDX-License-Identifier: Apache-2.0
// thimble run: runs a model on the host runtime, an emulated board or the reference evaluator.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "driver/data.h"
#include "tools/bundled.h"
#include "tools/commands.h"
#include "tools/etdump.h"
#include "tools/inputs.h"
#include "tools/io_types.h"
#include "tools/model.h"
#include "tools/output.h"
#include "tools/pairs.h"
#include "tools/profile_trace.h"
#include "tools/quality.h"
#include "tools/run.h"
#include "tools/run_report.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

/// Inputs of a profile without --input.
std::vector<ir::Tensor> zeros(const std::vector<hostrun::Port>& ports) {
  std::vector<ir::Tensor> inputs;
  for (const hostrun::Port& port : ports) inputs.push_back(ir::zeros(port.dtype, port.shape));
  return inputs;
}

/// --output, --trace and --etdump.
Status write_files(const RunArguments& arguments, RunResult& result) {
  const fs::path& folder = arguments.output;
  OutputFiles files;
  THIMBLE_CHECK(files.make_folder(folder));
  files.protect(arguments.model);
  for (const fs::path& input : arguments.inputs) files.protect(input);
  if (!arguments.trace.empty()) {
    THIMBLE_TRY(const std::string trace,
                profile_trace(arguments.model, result.model, result.outcome));
    THIMBLE_CHECK(files.add(arguments.trace, trace));
  }
  if (!arguments.etdump.empty()) {
    THIMBLE_TRY(const Etdump dump, etdump_of(result.model, result.outcome));
    THIMBLE_CHECK(files.add(arguments.etdump, dump.file));
    if (!arguments.etdump_outputs.empty()) {
      THIMBLE_CHECK(files.add(arguments.etdump_outputs, dump.tensors));
    }
    result.etdump_unit = dump.unit;
  }
  if (!arguments.save_state.empty()) {
    THIMBLE_CHECK(files.add(arguments.save_state, result.saved_state));
  }
  if (folder.empty()) return files.commit();
  const std::vector<ir::Tensor>& outputs = result.outputs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Bytes bytes = formats::npy::format_npy(driver::to_npy(outputs[i]));
    THIMBLE_CHECK(files.add(folder / fmt::format("output_{}.npy", i), bytes));
  }
  return files.commit();
}

Status check_arguments(const RunArguments& arguments) {
  if (arguments.profile && arguments.on == "eval") {
    return bad_input(
        "--profile: not supported by the evaluator: use --on qemu, or --on host for an NPU");
  }
  const bool on_serial = arguments.on.starts_with("serial:");
  if (on_serial && !(arguments.trace.empty() && arguments.etdump.empty())) {
    return bad_input("--trace and --etdump: not supported with --on serial: use --profile");
  }
  if (!arguments.trace.empty() && !arguments.profile) {
    return bad_input("--trace: writes the profile of a run: use it with --profile");
  }
  if (!arguments.etdump_outputs.empty() && arguments.etdump.empty()) {
    return bad_input("--etdump-outputs: holds tensors of an ETDump: use it with --etdump");
  }
  if (!arguments.etdump.empty() && (arguments.on == "eval" || arguments.on == "fvp")) {
    return bad_input("--etdump: not supported with --on {}: use --on host or --on qemu",
                     arguments.on);
  }
  if (!arguments.etdump_outputs.empty() && arguments.on == "qemu") {
    return bad_input("--etdump-outputs: use --on host: a board computes the same tensors");
  }
  return ok();
}

Result<OpenOptions> open_options(const RunArguments& arguments) {
  const bool dumps_board = arguments.on == "qemu" && !arguments.etdump.empty();
  OpenOptions options;
  options.on = arguments.on;
  options.fvp = arguments.fvp;
  options.time_limit = arguments.time_limit;
  options.patience = arguments.patience;
  options.target = arguments.target;
  options.count_instructions = true;
  options.profile = arguments.profile || dumps_board;
  options.trace = !arguments.etdump.empty() && !dumps_board;
  options.trace_tensors = !arguments.etdump_outputs.empty();
  options.method = arguments.method;
  options.data_file = arguments.data_file;
  options.input_names = arguments.input_names;
  THIMBLE_CHECK(parse_shapes(arguments.shapes, &options.shapes));
  return options;
}

/// Runs the calls from saved states, and saves the states after the last call.
Status run_with_state(const RunArguments& arguments, const Calls& calls, RunResult* result) {
  const Model& model = result->model;
  if (!model.save || arguments.profile || !arguments.etdump.empty()) {
    return bad_input(
        "--load-state, --save-state: on this machine only (--on host, --on eval), and "
        "without --profile and --etdump");
  }
  THIMBLE_CHECK(model.reset());
  if (!arguments.load_state.empty()) {
    THIMBLE_TRY(const Bytes saved, read_file(arguments.load_state));
    THIMBLE_TRY(const Bytes own, model.save());
    if (saved.size() != own.size()) {
      return bad_input("{}: has {} B, the states of {} have {} B", arguments.load_state.string(),
                       saved.size(), model.label, own.size());
    }
    THIMBLE_CHECK(model.restore(saved));
  }
  for (const std::vector<ir::Tensor>& inputs : calls) {
    THIMBLE_TRY(std::vector<ir::Tensor> outputs, model.step(inputs));
    result->outcome.outputs.push_back(std::move(outputs));
  }
  if (model.host != nullptr) result->outcome.arena_bytes_used = model.host->arena_bytes();
  THIMBLE_TRY(result->saved_state, model.save());
  return ok();
}

Result<RunResult> run_model(const RunArguments& arguments) {
  THIMBLE_CHECK(check_arguments(arguments));
  THIMBLE_TRY(const OpenOptions options, open_options(arguments));
  RunResult result;
  THIMBLE_TRY(result.model, open_model(arguments.model, options));
  result.zeros =
      arguments.profile && arguments.inputs.empty() && arguments.arrays.empty() && !arguments.steps;
  InputCalls calls = {{zeros(result.model.inputs)}};
  if (!result.zeros) {
    THIMBLE_TRY(calls, arguments.arrays.empty()
                           ? read_inputs(arguments.inputs, result.model, arguments.steps)
                           : split_calls(arguments.arrays, result.model, arguments.steps));
  }
  const Progress progress(fmt::format("running {} on {}", result.model.label, result.model.where),
                          arguments.progress);
  if (arguments.load_state.empty() && arguments.save_state.empty()) {
    THIMBLE_TRY(result.outcome, result.model.run(calls.inputs));
  } else {
    THIMBLE_CHECK(run_with_state(arguments, calls.inputs, &result));
  }
  for (size_t i = 0; i < result.model.outputs.size(); ++i) {
    const Calls& outputs = result.outcome.outputs;
    result.outputs.push_back(calls.series != Series::kNone ? stacked(outputs, i, calls.series)
                                                           : outputs[0][i]);
  }
  THIMBLE_CHECK(write_files(arguments, result));
  return result;
}

const char* series_text(const RunResult& result, const RunArguments& arguments) {
  if (!arguments.steps) return "one for each sample";
  return result.model.has_state ? "a series that keeps the state" : "a series";
}

Result<BundledResult> check_bundled(const RunArguments& arguments) {
  const bool has_data = !arguments.inputs.empty() || !arguments.output.empty() ||
                        !arguments.method.empty() || arguments.steps || arguments.profile ||
                        !arguments.trace.empty() || !arguments.etdump.empty() ||
                        !arguments.etdump_outputs.empty();
  if (has_data) {
    return bad_input(
        "--bundled: the file has its own inputs and methods: remove --input, --output, --method, "
        "--steps, --profile, --trace, --etdump and --etdump-outputs");
  }
  THIMBLE_TRY(const OpenOptions options, open_options(arguments));
  return run_bundled(arguments.model, options, {arguments.rtol, arguments.atol});
}

Json to_json(const BundledResult& result) {
  Json cases = Json::array();
  for (const CaseResult& each : result.cases) {
    cases.push_back({{"method", each.method},
                     {"case", each.index},
                     {"passed", each.passed},
                     {"error_max", number(each.error_max)}});
    if (!each.passed) cases.back()["difference"] = each.difference;
  }
  return {{"on", result.where}, {"failed", result.failed()}, {"cases", cases}};
}

int run_bundled_file(const RunArguments& arguments) {
  const Result<BundledResult> result = check_bundled(arguments);
  if (!result) return fail(result.error(), arguments.json);
  if (arguments.json) {
    print_json(to_json(*result));
  } else {
    std::printf("%s on %s\n", arguments.model.filename().c_str(), result->where.c_str());
    for (const CaseResult& each : result->cases) {
      if (each.passed) continue;
      std::printf("  failed: %s, test case %zu: %s\n", each.method.c_str(), each.index,
                  each.difference.c_str());
    }
    std::printf("  %zu of %zu test cases passed\n", result->cases.size() - result->failed(),
                result->cases.size());
  }
  return result->failed() == 0 ? 0 : 1;
}

int run(const RunArguments& arguments) {
  if (arguments.bundled) return run_bundled_file(arguments);
  const Result<RunResult> result = run_model(arguments);
  if (!result) return fail(result.error(), arguments.json);
  if (arguments.json) {
    print_json(to_json(*result));
    return 0;
  }
  std::printf("%s on %s\n", result->model.label.c_str(), result->model.where.c_str());
  for (const std::string& note : {result->model.note, result->outcome.note}) {
    if (!note.empty()) std::printf("  note: %s\n", note.c_str());
  }
  if (result->zeros) std::printf("  no --input: all inputs are zeros\n");
  const size_t calls_made = result->outcome.outputs.size();
  if (calls_made > 1) std::printf("  %zu calls, %s\n", calls_made, series_text(*result, arguments));
  for (size_t i = 0; i < result->outputs.size(); ++i) {
    std::printf("  %s\n", values_text(result->model.outputs[i], result->outputs[i]).c_str());
  }
  print_facts(*result, arguments.profile);
  if (!result->etdump_unit.empty()) {
    std::printf("  ETDump written to %s, times in %s\n", arguments.etdump.c_str(),
                result->etdump_unit.c_str());
  }
  if (!arguments.output.empty()) std::printf("  written to %s\n", arguments.output.c_str());
  return 0;
}

}  // namespace

Result<Json> run_json(const RunArguments& arguments) {
  if (arguments.bundled) {
    THIMBLE_TRY(const BundledResult result, check_bundled(arguments));
    return to_json(result);
  }
  THIMBLE_TRY(const RunResult result, run_model(arguments));
  return to_json(result);
}

void add_run_options(Verb& verb, RunArguments* arguments) {
  RunArguments& a = *arguments;
  verb.option("model", a.model, "A .pte, a .pt2 (its float graph) or an .ir").required();
  verb.option("--input", a.inputs,
              "One .npy per input, in order, or one .npz with all of them by name; several samples "
              "of a model without state are run one by one")
      .take_all();
  verb.option("--output", a.output, "Folder for output_0.npy, output_1.npy, ...");
  verb.option("--on", a.on,
              "Platform that runs the model; default: host for a .pte, eval for other files; "
              "linux[:DEVICE]: the NPU of this Linux machine; serial:PORT[:BAUD]: a board with "
              "examples/serial_runner")
      .one_of_or_prefix({"host", "qemu", "fvp", "eval", "linux", "linux:DEVICE", "serial:PORT"});
  verb.option("--fvp", a.fvp, "The FVP of a Corstone-300 for --on fvp; default: THIMBLE_FVP");
  verb.option("--time-limit", a.time_limit, "Time limit of a board in seconds").positive();
  verb.option("--patience", a.patience,
              "With --on serial: seconds without an answer after which the run fails")
      .positive();
  verb.option("--target", a.target,
              "Target of a .pte that does not name one; with --profile, the part whose clocks and "
              "wait states give times");
  verb.option("--shape", a.shapes, kShapeHelp).take_all();
  verb.flag("--steps", a.steps, "The first axis of each input is a series of calls");
  verb.flag("--profile", a.profile,
            "Instructions of each operator (--on qemu), its cycles (--on serial); on the host, "
            "cycles of the NPU");
  verb.option("--trace", a.trace, "With --profile: a file for Perfetto and Chrome's tracing");
  verb.option("--method", a.method, "Method of a .pte with several; default: forward");
  verb.option("--load-state", a.load_state,
              "On the host or the evaluator: begin with the states of this file");
  verb.option("--save-state", a.save_state,
              "Write the states after the last call, for --load-state of another method");
  verb.option("--ptd", a.data_file,
              "File with the constants of a .pte that has them outside (.ptd)");
  verb.flag("--bundled", a.bundled,
            "The file is a bundled program (.bpte): run its test cases; exit code 1 if one fails");
  verb.option("--rtol", a.rtol, "With --bundled: relative tolerance of float outputs")
      .finite_and_not_negative();
  verb.option("--atol", a.atol, "With --bundled: absolute tolerance of float outputs")
      .finite_and_not_negative();
  verb.option(
      "--etdump", a.etdump,
      "A trace for ExecuTorch's Inspector: times of the host, or modelled ones (--on qemu)");
  verb.option(
      "--etdump-outputs", a.etdump_outputs,
      "With --etdump on the host: the tensors of each operator, the Inspector's debug buffer");
  verb.flag("--json", a.json, "Print the result as one JSON object");
}

void add_run(CommandLine& line, int* exit_code) {
  Verb verb(line, "run", "Run a .pte, .pt2 or .ir and show its outputs");
  auto arguments = std::make_shared<RunArguments>();
  add_run_options(verb, arguments.get());
  verb.callback([arguments, exit_code] { *exit_code = run(*arguments); });
}

}  // namespace thimble::tools
