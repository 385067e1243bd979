// SPDX-License-Identifier: Apache-2.0
// thimble compile: compiles a `.pt2` to a `.pte` and reports the result.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/methods.h"
#include "driver/report.h"
#include "driver/share_arena.h"
#include "tools/commands.h"
#include "tools/compile_arguments.h"
#include "tools/compile_outputs.h"
#include "tools/output.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;

/// `report_written`: set if the program does not fit, and the report says so.
Result<driver::Compiled> compile_and_write(const CompileArguments& arguments,
                                           bool* report_written) {
  THIMBLE_TRY(driver::CompileOptions options, compile_options(arguments));
  Progress progress(fmt::format("compiling {}", arguments.model.filename().string()));
  options.progress = progress.function();
  if (!arguments.report.empty()) {
    options.on_refusal = [&](const driver::Compiled& refused) -> Status {
      THIMBLE_CHECK(write_refusal(arguments, refused));
      *report_written = true;
      return ok();
    };
  }
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
  bool report_written = false;
  const Result<driver::Compiled> compiled = compile_and_write(arguments, &report_written);
  if (!compiled) {
    const int code = fail(named(compiled.error(), arguments.model), arguments.json);
    std::vector<std::string> written;
    if (report_written) written.push_back(arguments.report.string());
    if (!arguments.save_stages.empty()) written.emplace_back("stages");
    const std::string but = fmt::format("{}", fmt::join(written, " and "));
    if (code == 1) {
      std::fprintf(stderr, "nothing was written%s%s\n", but.empty() ? "" : " but ", but.c_str());
    }
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
  OutputFiles files;
  std::string text;
  for (size_t i = 0; i < each.size(); ++i) {
    THIMBLE_CHECK(add_outputs(each[i], options.vendor, compiled[i], &files));
    const driver::CompileReport& report = compiled[i].report;
    text += all.json
                ? driver::json_report(report)
                : driver::text_report(report, all.emits("pte") ? pte_path(each[i]) : fs::path());
  }
  THIMBLE_CHECK(files.commit());
  return text + (all.json ? "" : summary);
}

/// Several methods of one file: a report for each, then what they share.
Result<std::string> compile_methods(CompileArguments& arguments) {
  THIMBLE_TRY(const std::vector<driver::MethodModel> methods, method_models(arguments));
  arguments.model = methods[0].model;
  if (arguments.emit != std::vector<std::string>{"pte"} && !arguments.emits("c")) {
    return bad_input("--method: --emit {}: only pte is supported", fmt::join(arguments.emit, ","));
  }
  const bool report_is_json = arguments.report.empty() || arguments.report.extension() == ".json";
  if (!report_is_json || !arguments.save_stages.empty()) {
    return bad_input("--method: --report FILE.html and --save-stages are for one model");
  }
  THIMBLE_TRY(driver::CompileOptions options, compile_options(arguments));
  Progress progress("compiling methods");
  options.progress = progress.function();
  THIMBLE_TRY(const driver::CompiledMethods compiled, driver::compile_methods(methods, options));
  for (const driver::Compiled& method : compiled.methods) {
    THIMBLE_CHECK(check_conditions(arguments, method.report));
  }
  const fs::path path = pte_path(arguments);
  THIMBLE_CHECK(write_methods(arguments, methods, compiled));
  if (arguments.json) return driver::methods_json(compiled);
  std::string text;
  for (const driver::Compiled& method : compiled.methods) {
    text += fmt::format("method {}\n", method.lowered.graph.name);
    text += driver::text_report(method.report, "");
  }
  return text + driver::methods_summary(compiled) + fmt::format("{}\n", path.string());
}

int compile_all(CompileArguments& arguments) {
  if (!arguments.methods.empty()) {
    const Result<std::string> text = compile_methods(arguments);
    if (!text) {
      const int code = fail(text.error(), arguments.json);
      if (code == 1) std::fprintf(stderr, "nothing was written\n");
      return code;
    }
    std::fputs(text->c_str(), stdout);
    return 0;
  }
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
  const bool has_file_of_one = !arguments.output.empty() || !arguments.report.empty() ||
                               !arguments.kernels.empty() || !arguments.kernels_dir.empty();
  if (models < 2 || has_file_of_one) {
    return fail(Error{ErrorKind::kBadInput,
                      "--share-arena: several models expected, --out-dir for their files, no -o, "
                      "--report, --kernels and --kernels-dir, which are of one model"},
                arguments.json);
  }
  const Result<std::string> text = compile_shared(arguments);
  if (!text) return fail(text.error(), arguments.json);
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

void add_compile(CommandLine& line, int* exit_code) {
  Verb verb(line, "compile", "Compile a .pt2 into a .pte for a target");
  auto arguments = std::make_shared<CompileArguments>();
  add_compile_options(verb, arguments.get());
  verb.callback([arguments, exit_code, &line] {
    arguments->command = line.text();
    *exit_code = compile_all(*arguments);
  });
}

}  // namespace thimble::tools
