// SPDX-License-Identifier: Apache-2.0
#include "tools/compile_arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/size_text.h"
#include "driver/condition.h"
#include "driver/output_quality.h"
#include "tools/io_types.h"
#include "tools/output.h"
#include "tools/pairs.h"

namespace thimble::tools {
namespace {

constexpr driver::Metric kMetrics[] = {{"sqnr", driver::Unit::kDecibels}};
constexpr driver::ConditionOption kFailIf = {"--fail-if", kMetrics};

/// Rejects option combinations that this version does not support, before any compilation.
Status check_supported(const CompileArguments& arguments) {
  if (!arguments.accuracy.empty() && arguments.activations == "int16") {
    return bad_input(
        "--accuracy selects the values with 16 bits: cannot be used with --activations int16");
  }
  if (!arguments.c_layout.empty() && !arguments.emits("c")) {
    return bad_input("--c-layout {}: requires --emit c", arguments.c_layout);
  }
  if (arguments.keep_float && !arguments.calibrations.empty()) {
    return bad_input("--float does not quantize: it cannot be used with --calibrate");
  }
  if (arguments.keep_float && !(arguments.observer.empty() && arguments.effort.empty())) {
    return bad_input("--float does not quantize: it cannot be used with {}",
                     arguments.observer.empty() ? "--effort" : "--observer");
  }
  if (arguments.keep_float && (arguments.emits("tflite") || arguments.emits("tosa"))) {
    return bad_input(
        "--float with --emit {}: such a file has the quantized graph; --emit tosa-fp "
        "writes the float graph",
        arguments.emits("tflite") ? "tflite" : "tosa");
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

bool CompileArguments::emits(std::string_view kind) const {
  return std::find(emit.begin(), emit.end(), kind) != emit.end();
}

Status check_conditions(const CompileArguments& arguments, const driver::CompileReport& report) {
  THIMBLE_TRY(const auto conditions, driver::parse_conditions(arguments.fail_if, kFailIf));
  for (const driver::Condition& condition : conditions) {
    const std::optional<double> now = driver::lowest_sqnr_db(report);
    if (!now) {
      return bad_input("--fail-if {}: {}", condition.text,
                       report.quant.quality_samples == 0
                           ? "SQNR is not known without samples"
                           : "no output has an SQNR: none has real numbers that vary over the "
                             "samples");
    }
    if (!is_true(condition, *now)) continue;
    std::string text = fmt::format("--fail-if {}: SQNR{} {:.1f} dB", condition.text,
                                   driver::of_first_samples(report.quant), *now);
    for (const std::string& warning : report.warnings) text += "\n  warning: " + warning;
    return unsupported("{}", text);
  }
  return ok();
}

namespace {

/// Parses --weights into `int4` and, for auto:flash=SIZE, `int4_flash_max`.
Status parse_weights(const std::string& text, driver::CompileOptions* options) {
  using driver::Int4Weights;
  constexpr std::string_view kAuto = "auto:flash=";
  if (text == "int4") {
    options->int4 = Int4Weights::kPerChannel;
  } else if (text == "int4:group=32") {
    options->int4 = Int4Weights::kPerGroup;
  } else if (text.starts_with(kAuto)) {
    const auto bytes = parse_size(std::string_view(text).substr(kAuto.size()));
    if (!bytes) return bad_input("--weights: found {}, expected a size as in {}200K", text, kAuto);
    options->int4 = Int4Weights::kWithinFlash;
    options->int4_flash_max = *bytes;
  }
  return ok();
}

}  // namespace

Result<driver::CompileOptions> compile_options(const CompileArguments& arguments) {
  THIMBLE_CHECK(check_supported(arguments));
  driver::CompileOptions options;
  for (const auto& engine : arguments.engines) {
    THIMBLE_CHECK(engine->apply_options(arguments.target, arguments.model, &options.vendor));
  }
  options.target = arguments.target;
  options.calibration = arguments.calibrate;
  THIMBLE_TRY(options.io, parse_io_types(arguments.io));
  THIMBLE_TRY(options.preprocess, parse_preprocess(arguments.preprocess));
  THIMBLE_TRY(options.input_mean, parse_numbers(arguments.input_mean, "--input-mean"));
  THIMBLE_TRY(options.input_std, parse_numbers(arguments.input_std, "--input-std"));
  for (const double number : options.input_std) {
    if (number <= 0) return bad_input("--input-std {}: a positive number expected", number);
  }
  options.io_channels_last = arguments.io_layout == "nhwc";
  options.save_stages = arguments.save_stages;
  options.names = arguments.names;
  options.c_output = arguments.emits("c");
  options.pte_output = arguments.emits("pte") || !options.c_output;
  if (!arguments.activations.empty()) options.wide_activations = arguments.activations == "int16";
  THIMBLE_CHECK(parse_weights(arguments.weights, &options));
  // LiteRT has no equivalent of our softmax with 16-bit result. All output files of a run must hold
  // the same network.
  options.narrow_softmax = arguments.emits("tflite");
  if (!arguments.accuracy.empty()) {
    if (options.int4 == driver::Int4Weights::kWithinFlash) {
      return bad_input(
          "--weights auto cannot be used with --accuracy: the 16-bit operators of an accuracy goal "
          "change the flash; use --weights int4, or --quant OP=int4");
    }
    THIMBLE_TRY(options.goal, parse_goal(arguments.accuracy));
  }
  options.equalize = arguments.equalize;
  options.tune = arguments.tune;
  if (!arguments.effort.empty()) options.effort = arguments.effort[0] - '0';
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
  options.keep_float = arguments.keep_float;
  options.soft_float = arguments.soft_float;
  options.engine_off = arguments.engine_off;
  options.skip_passes = arguments.skip_passes;
  options.keep_small = arguments.npu_small;
  options.kernel_code = arguments.kernel_code;
  THIMBLE_CHECK(driver::parse_conditions(arguments.fail_if, kFailIf));
  THIMBLE_CHECK(parse_shapes(arguments.shapes, &options.shapes));
  THIMBLE_CHECK(parse_bytes(arguments.memories, "--memory", &options.memory));
  return options;
}

void add_kernel_code_option(Verb& verb, std::string* value) {
  verb.option("--kernel-code", *value,
              "Memory of the part in which the code of kernels runs: its code RAM (itcm), sram")
      .not_empty("a memory of the part");
}

void add_compile_options(Verb& verb, CompileArguments* arguments) {
  CompileArguments& a = *arguments;
  std::vector<std::string> observers;
  for (const quant::Observer observer : quant::kObservers) {
    observers.emplace_back(quant::observer_name(observer));
  }
  verb.option("model", a.models, "File written by torch.export.save; several with --share-arena");
  verb.option("--method", a.methods,
              "NAME=FILE.pt2, for each method of a file with several, in place of the model; they "
              "share constants, arena and states. --calibrate NAME=DATA.npz for each");
  verb.option("--target", a.target, "Name of a part, as listed by `thimble targets`").required();
  verb.option("--calibrate", a.calibrations,
              "Samples (.npz, or .npy for one input) for the int8 ranges; for several models, one "
              "file each, in order; random: sizes and time without samples");
  verb.flag("--share-arena", a.share.wanted, "One arena for several models");
  verb.flag("--exclusive,!--concurrent", a.share.exclusive,
            "With --share-arena: one model runs at a time (default), or all may run at once");
  verb.option("-o,--output", a.output,
              "Output .pte; default: the model's name in the current folder");
  verb.option(
          "--emit", a.emit,
          "Files to write: pte, c, ir, tflite, tosa, tosa-fp (the float graph), model-explorer (a "
          "graph as JSON)")
      .delimiter(',')
      .one_of({"pte", "c", "ir", "tosa", "tosa-fp", "tflite", "model-explorer"});
  verb.option("--out-dir", a.out_dir, "Output folder, if -o is not given");
  verb.option("--c-layout", a.c_layout,
              "With --emit c: plain: .c, .h and .cmake; arduino, cmsis: a folder with the kernels")
      .one_of({"plain", "arduino", "cmsis"});
  verb.option("--save-stages", a.save_stages, "Folder for the text of every stage");
  verb.option("--io", a.io, kIoHelp).one_value_each().delimiter(',');
  verb.option(
          "--input-mean", a.input_mean,
          "With --io uint8 or int16: x = (element - mean) / std; one number, or one per channel")
      .one_value_each()
      .delimiter(',');
  verb.option("--input-std", a.input_std, "As --input-mean").one_value_each().delimiter(',');
  verb.option("--preprocess", a.preprocess, kPreprocessHelp).one_value_each();
  verb.option("--activations", a.activations, "Type of values between operators")
      .one_of({"int8", "int16"});
  verb.option(
          "--weights", a.weights,
          "Type of weights where a kernel exists; int4:group=32: with a factor for each 32 inputs; "
          "auto:flash=SIZE: int4 where the flash needs it")
      .one_of_or_prefix({"int8", "int4", "int4:group=32", "auto:flash=SIZE"});
  verb.option("--accuracy", a.accuracy,
              "sqnr|top1|agreement>=X on the calibration data: uses int16 where needed");
  verb.option("--compat", a.compat, "executorch: only operators of ExecuTorch's own runtime")
      .one_of({"executorch", "none"});
  verb.option("--io-layout", a.io_layout, "Memory order of images in inputs and outputs")
      .one_of({"nchw", "nhwc"});
  verb.option("--quant", a.quant, "MODULE|OP=int4|int8|int16|float: precision of these operators")
      .take_all();
  verb.option("--engine-off", a.engine_off, "OP|NODE|MODULE: keep these on the CPU").take_all();
  verb.option("--skip-passes", a.skip_passes,
              "NAME: passes that do not run, as `thimble opt --list` prints")
      .delimiter(',');
  verb.option("--shape", a.shapes, kShapeHelp).take_all();
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
  add_optimize_option(verb, arguments);
  add_kernel_code_option(verb, &a.kernel_code);
  verb.flag("--tune,!--no-tune", a.tune,
            "Try equalization and observers per value; keep those that increase the SQNR");
  verb.option("--effort", a.effort, "Work for rounding weights and comparing observers; 0: neither")
      .one_of({"0", "1", "2", "3"});
  verb.option("--kernels", a.kernels, "C++ file that lists the kernels the .pte calls");
  verb.option("--kernels-dir", a.kernels_dir,
              "Folder for kernels_used.cpp and kernels_used.cmake, which a firmware links");
  verb.flag("--names", a.names,
            "Write the names of inputs, outputs and of each call's value to the .pte");
  verb.option("--fail-if", a.fail_if, "sqnr<XdB: exit 1 and write nothing for a lower SQNR")
      .not_empty("a condition such as sqnr<20dB");
  verb.flag("--float", a.keep_float, "Run the model in float32, without quantization");
  verb.flag("--soft-float", a.soft_float, "Allow float32 operators on a core without an FPU");
  verb.flag("--json", a.json, "Print the report as one JSON object");
}

Result<std::vector<driver::MethodModel>> method_models(const CompileArguments& arguments) {
  if (!arguments.models.empty() || arguments.share.wanted) {
    return bad_input("--method NAME=FILE.pt2 for each method, without a model and --share-arena");
  }
  std::vector<driver::MethodModel> methods;
  for (const std::string& text : arguments.methods) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
      return bad_input("--method {}: NAME=FILE.pt2 expected", text);
    }
    methods.push_back({text.substr(0, equals), text.substr(equals + 1), {}});
  }
  if (methods.size() < 2) {
    return bad_input("--method {}: at least two methods expected; give one model without --method",
                     arguments.methods[0]);
  }
  for (size_t i = 0; i < arguments.calibrations.size(); ++i) {
    const std::string text = arguments.calibrations[i].string();
    const size_t equals = text.find('=');
    const auto named =
        std::ranges::find(methods, text.substr(0, equals), &driver::MethodModel::name);
    const bool has_name = equals != std::string::npos;
    if (has_name ? named == methods.end() : i >= methods.size()) {
      return bad_input("--calibrate {}: no method for it", text);
    }
    driver::MethodModel& method = has_name ? *named : methods[i];
    if (!method.calibration.empty()) {
      return bad_input("--calibrate {}: method {} has {} already", text, method.name,
                       method.calibration.string());
    }
    method.calibration = has_name ? text.substr(equals + 1) : text;
  }
  return methods;
}

}  // namespace thimble::tools
