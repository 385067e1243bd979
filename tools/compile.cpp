// thimble compile: compiles a `.pt2` to a `.pte` and reports the result.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/condition.h"
#include "driver/output_quality.h"
#include "driver/report.h"
#include "driver/share_arena.h"
#include "emit/c/model.h"
#include "formats/pte/read.h"
#include "hostrun/kernel_source.h"
#include "interchange/tflite.h"
#include "interchange/tosa.h"
#include "ir/print.h"
#include "report/model_explorer.h"
#include "report/report.h"
#include "tools/c_files.h"
#include "tools/commands.h"
#include "tools/engine_cli.h"
#include "tools/linker_files.h"
#include "tools/output.h"
#include "tools/pairs.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

struct CompileArguments {
  std::vector<fs::path> models;
  fs::path model;
  std::string target;
  std::vector<fs::path> calibrations;
  fs::path calibrate;
  fs::path output;
  std::vector<std::string> emit = {"pte"};
  fs::path out_dir;
  fs::path save_stages;
  std::string io = "float";
  std::string activations;
  std::string accuracy;
  std::string compat;
  std::string io_layout;
  std::string observer;
  std::vector<std::string> quant;
  std::vector<std::string> engine_off;
  std::optional<bool> npu_small;
  std::vector<std::string> shapes;
  std::vector<std::string> memories;
  fs::path report;
  fs::path kernels, kernels_dir;
  bool keep_float = false;
  std::optional<bool> equalize, tune;
  bool pareto = false;
  std::string npu_weights = "payload";
  std::vector<std::shared_ptr<EngineCli>> engines;
  std::string optimize = "speed";
  std::string inputs = "caller";
  struct {
    bool wanted = false;
    std::optional<bool> exclusive;
  } share;
  std::string c_layout;
  std::string fail_if;
  bool names = false;
  bool json = false;
  std::string command;  // the whole command line

  [[nodiscard]] bool emits(std::string_view kind) const {
    return std::find(emit.begin(), emit.end(), kind) != emit.end();
  }
};

constexpr driver::Metric kMetrics[] = {{"sqnr", driver::Unit::kDecibels}};
constexpr driver::ConditionOption kFailIf = {"--fail-if", kMetrics};

/// Rejects a network for which a condition of --fail-if is true.
Status check_conditions(const CompileArguments& arguments, const driver::CompileReport& report) {
  THIMBLE_TRY(const auto conditions, driver::parse_conditions(arguments.fail_if, kFailIf));
  for (const driver::Condition& condition : conditions) {
    const std::optional<double> now = driver::lowest_sqnr_db(report);
    if (!now) {
      return bad_input("--fail-if {}: SQNR is not known without samples", condition.text);
    }
    if (!is_true(condition, *now)) continue;
    std::string text = fmt::format("--fail-if {}: SQNR {:.1f} dB", condition.text, *now);
    for (const std::string& warning : report.warnings) text += "\n  warning: " + warning;
    return unsupported("{}", text);
  }
  return ok();
}

/// Rejects option combinations that this version does not support, before any compilation.
Status check_supported(const CompileArguments& arguments) {
  if (!arguments.accuracy.empty() && arguments.activations == "int16") {
    return bad_input(
        "--accuracy selects the values with 16 bits: cannot be used with --activations int16");
  }
  if (!arguments.c_layout.empty() && !arguments.emits("c")) {
    return bad_input("--c-layout {}: requires --emit c", arguments.c_layout);
  }
  if (arguments.keep_float) {
    return bad_input(
        "--float: not supported, because this version has no float kernels: use --calibrate "
        "DATA.npz");
  }
  const std::string report = extension(arguments.report);
  if (!arguments.report.empty() && report != ".json" && report != ".html") {
    return bad_input("--report {}: a name that ends in .json or .html expected",
                     arguments.report.string());
  }
  return ok();
}

/// Parses a goal such as `top1>=0.97`.
Result<quant::AccuracyGoal> parse_goal(const std::string& text) {
  const size_t relation = text.find(">=");
  for (const quant::Metric metric : quant::kMetrics) {
    if (text.substr(0, relation) != quant::metric_name(metric)) continue;
    const char* const number = text.c_str() + relation + 2;
    char* end = nullptr;
    const double least = std::strtod(number, &end);
    if (end == number || *end != 0 || !std::isfinite(least)) break;
    return quant::AccuracyGoal{metric, least, {}};
  }
  return bad_input("--accuracy {}: sqnr>=DB, top1>=SHARE or agreement>=SHARE expected", text);
}

Result<driver::CompileOptions> compile_options(const CompileArguments& arguments) {
  THIMBLE_CHECK(check_supported(arguments));
  driver::CompileOptions options;
  for (const auto& engine : arguments.engines) {
    THIMBLE_CHECK(engine->apply_options(arguments.target, arguments.model, &options.vendor));
  }
  options.target = arguments.target;
  options.calibration = arguments.calibrate;
  options.io = arguments.io == "int8" ? quant::Io::kInt8 : quant::Io::kFloat;
  options.io_channels_last = arguments.io_layout == "nhwc";
  options.save_stages = arguments.save_stages;
  options.names = arguments.names;
  options.c_output = arguments.emits("c");
  options.pte_output = arguments.emits("pte") || !options.c_output;
  if (!arguments.activations.empty()) options.wide_activations = arguments.activations == "int16";
  // LiteRT has no equivalent of our softmax with 16-bit result. All output files of a run must hold
  // the same network.
  options.narrow_softmax = arguments.emits("tflite");
  if (!arguments.accuracy.empty()) {
    THIMBLE_TRY(options.goal, parse_goal(arguments.accuracy));
  }
  options.equalize = arguments.equalize;
  options.tune = arguments.tune;
  options.pareto = arguments.pareto;
  options.owns_inputs = arguments.inputs == "arena";
  options.external_weights = arguments.npu_weights == "named";
  for (const engine::Optimize mode : engine::kOptimizes) {
    if (arguments.optimize == engine::optimize_name(mode)) options.optimize = mode;
  }
  if (arguments.compat == "executorch") options.dialect = engine::Dialect::kStock;
  if (arguments.compat == "none") options.dialect = engine::Dialect::kNative;
  for (const quant::Observer observer : quant::kObservers) {
    if (arguments.observer == quant::observer_name(observer)) options.observer = observer;
  }
  for (const std::string& text : arguments.quant) {
    THIMBLE_TRY(driver::QuantChoice choice, driver::parse_quant_choice(text));
    options.quant.push_back(std::move(choice));
  }
  options.engine_off = arguments.engine_off;
  options.keep_small = arguments.npu_small;
  THIMBLE_CHECK(driver::parse_conditions(arguments.fail_if, kFailIf));
  THIMBLE_CHECK(parse_pairs(arguments.shapes, "--shape", &options.shapes));
  THIMBLE_CHECK(parse_pairs(arguments.memories, "--memory", &options.memory));
  return options;
}

fs::path pte_path(const CompileArguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  return arguments.out_dir / arguments.model.filename().replace_extension(".pte");
}

/// --kernels and --kernels-dir: what a firmware links for the file.
Status add_kernels(const CompileArguments& arguments, const driver::Compiled& compiled,
                   const std::string& label, OutputFiles* files) {
  if (arguments.kernels.empty() && arguments.kernels_dir.empty()) return ok();
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(compiled.pte, label));
  THIMBLE_TRY(const hostrun::Interface interface, hostrun::read_interface(program, label));
  THIMBLE_TRY(const hostrun::UsedKernels used,
              hostrun::used_kernels(interface, compiled.part->cpu->isa, label));
  const std::string source = hostrun::kernel_source(used, label);
  if (!arguments.kernels.empty()) THIMBLE_CHECK(files->add(arguments.kernels, source));
  if (arguments.kernels_dir.empty()) return ok();
  std::vector<std::string> sources = {"kernels_used.cpp"};
  // Kernel lists that a vendor's compiler has generated for the subgraphs.
  for (const std::string& name : files->names_in(arguments.kernels_dir)) {
    if (extension(name) == ".c") sources.push_back(name);
  }
  THIMBLE_CHECK(files->add(arguments.kernels_dir / "kernels_used.cpp", source));
  if (compiled.report.placement && !arguments.emits("c")) {
    const std::string name = emit::c::model_name(pte_path(arguments).stem().string());
    THIMBLE_CHECK(files->add(arguments.kernels_dir / linker_file_name(name),
                             emit::linker_file(linker_file_of(compiled, name))));
  }
  return files->add(arguments.kernels_dir / "kernels_used.cmake",
                    hostrun::kernel_cmake(used, label, sources));
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) return bad_input("{}: {}", folder.string(), error.message());
  return ok();
}

Status write_outputs(const CompileArguments& arguments, const engine::VendorTools& vendor,
                     driver::Compiled& compiled) {
  THIMBLE_CHECK(make_folder(arguments.out_dir));
  THIMBLE_CHECK(make_folder(arguments.kernels_dir));
  OutputFiles files;
  files.protect(arguments.model);
  files.protect(arguments.calibrate);
  fs::path path = pte_path(arguments);
  const std::string label = path.filename().string();
  if (arguments.emits("pte")) THIMBLE_CHECK(files.add(path, compiled.pte));
  if (arguments.emits("tflite")) {
    THIMBLE_TRY(const Bytes model, interchange::to_tflite(compiled.integer_graph));
    THIMBLE_CHECK(files.add(path.replace_extension(".tflite"), model));
  }
  if (arguments.emits("tosa")) {
    THIMBLE_TRY(const Bytes model, interchange::to_tosa(compiled.integer_graph));
    THIMBLE_CHECK(files.add(path.replace_extension(".tosa"), model));
  }
  if (arguments.emits("ir")) {
    THIMBLE_TRY(const ir::Graph whole,
                partition::inline_subgraphs(compiled.lowered.graph, compiled.subgraphs));
    THIMBLE_CHECK(files.add(path.replace_extension(".ir"), ir::print(whole)));
  }
  if (arguments.emits("model-explorer")) {
    path.replace_extension(".model_explorer.json");
    THIMBLE_CHECK(files.add(path, report::model_explorer_json(compiled)));
  }
  if (arguments.emits("c")) {
    const std::string layout = arguments.c_layout.empty() ? "plain" : arguments.c_layout;
    THIMBLE_CHECK(add_c_files(compiled, pte_path(arguments), layout, &files));
  }
  const fs::path folder = path.parent_path();
  const EngineOutput output{compiled.lowered.delegates, vendor, folder,
                            arguments.kernels_dir.empty() ? folder : arguments.kernels_dir};
  for (const auto& engine : arguments.engines) {
    THIMBLE_CHECK(engine->add_files(output, &files, &compiled.report.notes));
  }
  THIMBLE_CHECK(add_kernels(arguments, compiled, label, &files));
  for (const OutputFiles::Added& file : files.added()) {
    compiled.report.files.push_back({file.path.string(), file.bytes});
  }
  if (!arguments.report.empty()) {
    const bool html = extension(arguments.report) == ".html";
    THIMBLE_CHECK(files.add(arguments.report,
                            html ? report::html_page(compiled, {arguments.command, THIMBLE_VERSION})
                                 : driver::json_report(compiled.report)));
  }
  return files.commit();
}

Result<driver::Compiled> compile_and_write(const CompileArguments& arguments) {
  THIMBLE_TRY(driver::CompileOptions options, compile_options(arguments));
  Progress progress(fmt::format("compiling {}", arguments.model.filename().string()));
  options.progress = progress.function();
  THIMBLE_TRY(driver::Compiled compiled, driver::compile(arguments.model, options));
  THIMBLE_CHECK(check_conditions(arguments, compiled.report));
  THIMBLE_CHECK(write_outputs(arguments, options.vendor, compiled));
  return compiled;
}

/// Prefixes an `unsupported` error with the name of the model.
Error named(Error error, const fs::path& model) {
  const std::string name = model.filename().string();
  if (error.kind == ErrorKind::kUnsupported && !error.message.starts_with(name)) {
    error.message = name + ": " + error.message;
  }
  return error;
}

int compile(const CompileArguments& arguments) {
  const Result<driver::Compiled> compiled = compile_and_write(arguments);
  if (!compiled) {
    const int code = fail(named(compiled.error(), arguments.model), arguments.json);
    const bool stages = !arguments.save_stages.empty();
    if (code == 1) std::fprintf(stderr, "nothing was written%s\n", stages ? " but stages" : "");
    return code;
  }
  const driver::CompileReport& report = compiled->report;
  const fs::path written = arguments.emits("pte") ? pte_path(arguments) : fs::path();
  std::string text =
      arguments.json ? driver::json_report(report) : driver::text_report(report, written);
  if (!arguments.json && !arguments.report.empty()) text += driver::table_report(report);
  std::fputs(text.c_str(), stdout);
  return 0;
}

/// Several models for one arena: each with its own report, then what they need together.
Result<std::string> compile_shared(const CompileArguments& all) {
  std::vector<CompileArguments> each;
  for (size_t i = 0; i < all.models.size(); ++i) {
    each.push_back(all);
    each[i].model = all.models[i];
    each[i].calibrate = i < all.calibrations.size() ? all.calibrations[i] : fs::path();
  }
  std::set<fs::path> names;
  for (const CompileArguments& arguments : each) {
    if (names.insert(pte_path(arguments)).second) continue;
    return bad_input("--share-arena: two models have the same output file {}",
                     pte_path(arguments).string());
  }
  std::vector<driver::Compiled> compiled;
  for (const CompileArguments& arguments : each) {
    THIMBLE_TRY(driver::CompileOptions options, compile_options(arguments));
    Progress progress(fmt::format("compiling {}", arguments.model.filename().string()));
    options.progress = progress.function();
    THIMBLE_TRY(driver::Compiled one, driver::compile(arguments.model, options));
    THIMBLE_CHECK(check_conditions(arguments, one.report));
    compiled.push_back(std::move(one));
  }
  THIMBLE_TRY(const driver::CompileOptions options, compile_options(each[0]));
  THIMBLE_TRY(const std::string summary,
              driver::share_arena(compiled, options, all.share.exclusive.value_or(true)));
  std::string text;
  for (size_t i = 0; i < each.size(); ++i) {
    THIMBLE_CHECK(write_outputs(each[i], options.vendor, compiled[i]));
    const driver::CompileReport& report = compiled[i].report;
    text += all.json
                ? driver::json_report(report)
                : driver::text_report(report, all.emits("pte") ? pte_path(each[i]) : fs::path());
  }
  return text + (all.json ? "" : summary);
}

int compile_all(CompileArguments& arguments) {
  const size_t models = arguments.models.size();
  if (!arguments.share.wanted && (models != 1 || arguments.calibrations.size() > 1)) {
    return fail(
        Error{ErrorKind::kBadInput, "one model expected; several models require --share-arena"},
        arguments.json);
  }
  if (!arguments.share.wanted) {
    arguments.model = arguments.models[0];
    if (!arguments.calibrations.empty()) arguments.calibrate = arguments.calibrations[0];
    return compile(arguments);
  }
  if (models < 2 || !arguments.output.empty() || !arguments.report.empty()) {
    return fail(Error{ErrorKind::kBadInput,
                      "--share-arena: several models expected, --out-dir for their files, no -o "
                      "and no --report"},
                arguments.json);
  }
  const Result<std::string> text = compile_shared(arguments);
  if (!text) return fail(text.error(), arguments.json);
  std::fputs(text->c_str(), stdout);
  return 0;
}

void add_optimize_option(Verb& verb, CompileArguments* a) {
  std::vector<std::string> modes;
  for (const engine::Optimize mode : engine::kOptimizes) {
    modes.emplace_back(engine::optimize_name(mode));
  }
  verb.option("--optimize", a->optimize,
              "speed: fewest instructions, or cycles of the NPU; size: least SRAM; flash: fewest "
              "bytes of file and kernels, for an NPU the same as speed")
      .one_of(modes);
}

}  // namespace

void add_compile(CommandLine& line, int* exit_code) {
  Verb verb(line, "compile", "Compile a .pt2 into a .pte for a target");
  auto arguments = std::make_shared<CompileArguments>();
  CompileArguments& a = *arguments;
  std::vector<std::string> observers;
  for (const quant::Observer observer : quant::kObservers) {
    observers.emplace_back(quant::observer_name(observer));
  }
  verb.option("model", a.models, "File written by torch.export.save; several with --share-arena")
      .required();
  verb.option("--target", a.target, "Name of a part, as listed by `thimble targets`").required();
  verb.option("--calibrate", a.calibrations,
              "Samples (.npz, or .npy for one input) for the int8 ranges; for several models, one "
              "file each, in order; random: sizes and time without samples");
  verb.flag("--share-arena", a.share.wanted, "One arena for several models");
  verb.flag("--exclusive,!--concurrent", a.share.exclusive,
            "With --share-arena: one model runs at a time (default), or all may run at once");
  verb.option("-o,--output", a.output,
              "Output .pte; default: the model's name in the current folder");
  verb.option("--emit", a.emit,
              "Files to write: pte, c, ir, tflite, tosa, model-explorer (a graph as JSON)")
      .delimiter(',')
      .one_of({"pte", "c", "ir", "tosa", "tflite", "model-explorer"});
  verb.option("--out-dir", a.out_dir, "Output folder, if -o is not given");
  verb.option("--c-layout", a.c_layout,
              "With --emit c: plain: .c, .h and .cmake; arduino, cmsis: a folder with the kernels")
      .one_of({"plain", "arduino", "cmsis"});
  verb.option("--save-stages", a.save_stages, "Folder for the text of every stage");
  verb.option("--io", a.io, "Type of the model's inputs and outputs").one_of({"int8", "float"});
  verb.option("--activations", a.activations, "Type of values between operators")
      .one_of({"int8", "int16"});
  verb.option("--accuracy", a.accuracy,
              "sqnr|top1|agreement>=X on the calibration data: uses int16 where needed");
  verb.option("--compat", a.compat, "executorch: only operators of ExecuTorch's own runtime")
      .one_of({"executorch", "none"});
  verb.option("--io-layout", a.io_layout, "Memory order of images in inputs and outputs")
      .one_of({"nchw", "nhwc"});
  verb.option("--quant", a.quant, "MODULE|OP=int8|int16|float: precision of these operators")
      .take_all();
  verb.option("--engine-off", a.engine_off, "OP|NODE|MODULE: keep these on the CPU").take_all();
  verb.option("--shape", a.shapes, "NAME=N: dynamic size: its Dim if there is one, or INPUT:AXIS")
      .take_all();
  verb.option("--memory", a.memories, "NAME=BYTES: limit of sram, flash or the part's own; K, M")
      .take_all();
  verb.option("--report", a.report, "Write the report to a file: .json or .html");
  for (std::unique_ptr<EngineCli>& engine : engine_clis()) {
    engine->add_compile_options(verb);
    a.engines.push_back(std::move(engine));
  }
  verb.option("--observer", a.observer, "Observer that chooses int8 ranges").one_of(observers);
  verb.flag("--equalize,!--no-equalize", a.equalize,
            "Equalize the ranges of the channels of each value");
  verb.flag("--pareto", a.pareto, "Also print the SRAM and the cost of other schedules");
  verb.flag("--npu-small,!--no-npu-small", a.npu_small,
            "Keep subgraphs on the NPU that the CPU would run faster");
  verb.option("--npu-weights", a.npu_weights,
              "payload: in the delegate; named: as named data that the delegate looks up")
      .one_of({"payload", "named"});
  verb.option("--inputs", a.inputs,
              "caller: a run reads the application's buffers; arena: they are in the arena, and "
              "a run may overwrite them")
      .one_of({"caller", "arena"});
  add_optimize_option(verb, &a);
  verb.flag("--tune,!--no-tune", a.tune,
            "Try equalization and observers per value; keep those that increase the SQNR");
  verb.option("--kernels", a.kernels, "C++ file that lists the kernels the .pte calls");
  verb.option("--kernels-dir", a.kernels_dir,
              "Folder for kernels_used.cpp and kernels_used.cmake, which a firmware links");
  verb.flag("--names", a.names,
            "Write the names of inputs, outputs and of each call's value to the .pte");
  verb.option("--fail-if", a.fail_if, "sqnr<XdB: exit 1 and write nothing for a lower SQNR");
  verb.flag("--float", a.keep_float, "Keep the model in float");
  verb.flag("--json", a.json, "Print the report as one JSON object");
  verb.callback([arguments, exit_code, &line] {
    arguments->command = line.text();
    *exit_code = compile_all(*arguments);
  });
}

}  // namespace thimble::tools
