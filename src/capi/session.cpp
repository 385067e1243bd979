// SPDX-License-Identifier: Apache-2.0
#include "capi/session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/cancel.h"
#include "capi/words.h"
#include "driver/report.h"
#include "driver/share_arena.h"
#include "report/report.h"
#include "tools/compare.h"
#include "tools/compile_arguments.h"
#include "tools/compile_outputs.h"
#include "tools/facts.h"
#include "tools/fit.h"
#include "tools/output.h"
#include "tools/run.h"
#include "tools/version.h"

namespace thimble::capi {

namespace fs = std::filesystem;

Result<std::shared_ptr<const Bytes>> ModelSource::read() const {
  if (bytes != nullptr) return bytes;
  THIMBLE_TRY(Bytes content, tools::read_file(path));
  return std::make_shared<const Bytes>(std::move(content));
}

Result<ModelFile> ModelFile::open(const ModelSource& source) {
  ModelFile file;
  if (source.bytes == nullptr) {
    file.path_ = source.path;
    return file;
  }
  file.shown_ = source.shown.empty() ? source.name : source.shown;
  THIMBLE_TRY(base::WorkFolder folder, base::WorkFolder::create("model"));
  THIMBLE_CHECK(folder.write(source.name, *source.bytes));
  file.path_ = folder.file(source.name);
  file.folder_.emplace(std::move(folder));
  return file;
}

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

Error ModelFile::shown(Error error) const {
  if (!folder_) return error;
  error.message = replaced(std::move(error.message), path_.string(), shown_);
  // Messages begin with the name of the file; in code that they suggest, a name is one of a file.
  const std::string name = path_.filename().string() + ":";
  if (error.message.starts_with(name)) error.message.replace(0, name.size(), shown_ + ":");
  return error;
}

std::vector<tools::OptionFacts> options_of(std::string_view verb_name) {
  tools::CommandLine line("", "thimble");
  tools::Verb verb(line, "verb", "");
  tools::CompileArguments compile;
  tools::FitArguments fit;
  tools::CompareArguments compare;
  tools::RunArguments run;
  tools::DiffArguments diff;
  if (verb_name == "compile") add_compile_options(verb, &compile);
  if (verb_name == "fit") add_fit_options(verb, &fit);
  if (verb_name == "compare") add_compare_options(verb, &compare);
  if (verb_name == "run") add_run_options(verb, &run);
  if (verb_name == "diff") add_diff_options(verb, &diff);
  return verb.options();
}

bool is_program_option(std::string_view name) {
  constexpr std::string_view kProgramOptions[] = {
      "json", "output", "out-dir", "share-arena", "exclusive", "concurrent", "method"};
  return std::ranges::find(kProgramOptions, name) != std::end(kProgramOptions);
}

struct CompiledModel::Live {
  tools::CompileArguments arguments;
  engine::VendorTools vendor;
  driver::Compiled compiled;
};

namespace {

Status check_options(const Words& options) {
  for (const std::string& word : options) {
    const std::string name = word.substr(0, word.find('='));
    if (name != "-o" && !(name.starts_with("--") && is_program_option(name.substr(2)))) continue;
    return bad_input("{}: an option of the program `thimble` only", name);
  }
  return ok();
}

/// Returns true for calibration data in a file, not "random".
bool is_file(const ModelSource& calibration) {
  return !calibration.path.empty() && calibration.path != "random";
}

Status check_layout(const std::string& layout) {
  for (const tools::OptionFacts& option : options_of("compile")) {
    if (option.name != "c-layout") continue;
    if (std::ranges::find(option.values, layout) != option.values.end()) return ok();
    return bad_input("layout: found {}, expected {}", layout, fmt::join(option.values, ", "));
  }
  return ok();
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> CompiledModel::compile(CompileRequest request,
                                                              const ProgressFunction& progress) {
  std::shared_ptr<CompiledModel> model(new CompiledModel);
  model->request_ = std::move(request);
  // The object keeps the files of this compilation; messages of it name their paths.
  THIMBLE_TRY(const std::shared_ptr<const Bytes> content, model->request_.model.read());
  ModelSource& calibration = model->request_.calibration;
  std::shared_ptr<const Bytes> samples;
  if (is_file(calibration) && calibration.bytes == nullptr) {
    THIMBLE_TRY(samples, calibration.read());
    calibration.name = calibration.path.filename().string();
  }
  THIMBLE_TRY(const std::shared_ptr<Live> live, compile_live(model->request_, {}, progress));
  model->request_.model.bytes = content;
  if (samples != nullptr) calibration.bytes = samples;
  model->live_ = live;
  model->state_.pte = live->compiled.pte;
  model->state_.report_json = driver::json_report(live->compiled.report);
  model->state_.version = tools::release_version();
  return model;
}

Result<std::shared_ptr<CompiledModel::Live>> CompiledModel::compile_live(
    const CompileRequest& request, const std::string& c_layout, const ProgressFunction& progress) {
  return with_file(request.model, [&](const fs::path& model) {
    return with_file(request.calibration, [&](const fs::path& samples) {
      return compile_files(request, model, samples, c_layout, progress);
    });
  });
}

Result<std::shared_ptr<CompiledModel::Live>> CompiledModel::compile_files(
    const CompileRequest& request, const fs::path& model, const fs::path& samples,
    const std::string& c_layout, const ProgressFunction& progress) {
  THIMBLE_CHECK(check_options(request.options));
  auto live = std::make_shared<Live>();
  Words words = joined({model.string(), "--target", request.target}, request.options);
  if (!samples.empty()) words.insert(words.end(), {"--calibrate", samples.string()});
  tools::CompileArguments& arguments = live->arguments;
  THIMBLE_CHECK(parse("compile", tools::add_compile_options, words, &arguments));
  if (arguments.models.size() != 1) {
    return bad_input("{}: one argument too many", arguments.models.back().string());
  }
  arguments.model = arguments.models[0];
  if (!arguments.calibrations.empty()) arguments.calibrate = arguments.calibrations[0];
  if (!c_layout.empty()) {
    THIMBLE_CHECK(check_layout(c_layout));
    arguments.emit = {"c"};
    arguments.c_layout = c_layout;
  }
  arguments.command = "thimble compile " + request.model.name;
  if (!samples.empty()) words.back() = request.calibration.path.string();
  for (size_t i = 1; i < words.size(); ++i) arguments.command += " " + words[i];
  THIMBLE_TRY(driver::CompileOptions options, compile_options(arguments));
  options.samples = request.samples;
  options.progress = progress;
  live->vendor = options.vendor;
  THIMBLE_TRY(live->compiled, driver::compile(arguments.model, options));
  THIMBLE_CHECK(check_conditions(arguments, live->compiled.report));
  return live;
}

std::shared_ptr<CompiledModel> CompiledModel::restore(CompileRequest request, State state) {
  std::shared_ptr<CompiledModel> model(new CompiledModel);
  model->request_ = std::move(request);
  model->state_ = std::move(state);
  return model;
}

Result<std::shared_ptr<CompiledModel::Live>> CompiledModel::live() {
  if (live_ != nullptr) return live_;
  if (state_.version != tools::release_version()) {
    return bad_input("{}: compiled by version {}, this is version {}: compile the model again",
                     label(), state_.version, tools::release_version());
  }
  if (state_.is_shared) {
    return bad_input("{}: is for a shared arena: compile the models again", label());
  }
  THIMBLE_TRY(live_, compile_live(request_, {}, {}));
  return live_;
}

Result<CompiledModel::Shared> CompiledModel::share_arena(
    const std::vector<std::shared_ptr<CompiledModel>>& models, bool exclusive) {
  if (models.size() < 2) return bad_input("share_arena: several models expected");
  std::vector<std::shared_ptr<Live>> live;
  std::vector<driver::Compiled> compiled;
  for (const std::shared_ptr<CompiledModel>& model : models) {
    const std::lock_guard lock(model->mutex_);
    THIMBLE_TRY(const std::shared_ptr<Live> own, model->live());
    live.push_back(std::make_shared<Live>(*own));
    compiled.push_back(own->compiled);
  }
  THIMBLE_TRY(const driver::CompileOptions options, compile_options(live[0]->arguments));
  Shared shared;
  THIMBLE_TRY(shared.summary, driver::share_arena(compiled, options, exclusive));
  for (size_t i = 0; i < models.size(); ++i) {
    std::shared_ptr<CompiledModel> model(new CompiledModel);
    live[i]->compiled = std::move(compiled[i]);
    model->request_ = models[i]->request_;
    model->state_.pte = live[i]->compiled.pte;
    model->state_.report_json = driver::json_report(live[i]->compiled.report);
    model->state_.version = tools::release_version();
    model->state_.is_shared = true;
    model->live_ = std::move(live[i]);
    shared.models.push_back(std::move(model));
  }
  return shared;
}

std::string CompiledModel::label() const {
  return fs::path(request_.model.name).replace_extension(".pte").string();
}

Result<std::string> CompiledModel::report_html() {
  const std::lock_guard lock(mutex_);
  if (state_.report_html.empty()) {
    THIMBLE_TRY(const std::shared_ptr<Live> live, this->live());
    state_.report_html =
        report::html_page(live->compiled, {live->arguments.command, tools::release_version()});
  }
  return state_.report_html;
}

Result<std::string> CompiledModel::report_text() {
  const std::lock_guard lock(mutex_);
  THIMBLE_TRY(const std::shared_ptr<Live> live, this->live());
  return driver::text_report(live->compiled.report, {});
}

Status CompiledModel::save(const fs::path& path) {
  if (path.empty()) return bad_input("the file to save has no name");
  const std::lock_guard lock(mutex_);
  // A restored model is compiled again only if its options may request other files.
  if (live_ == nullptr && (request_.options.empty() || state_.is_shared)) {
    tools::OutputFiles files;
    files.protect(request_.model.path);
    THIMBLE_CHECK(files.add(path, state_.pte));
    return files.commit();
  }
  THIMBLE_TRY(const std::shared_ptr<Live> live, this->live());
  tools::CompileArguments arguments = live->arguments;
  arguments.output = path;
  // The report lists the files of this call only.
  driver::CompileReport& report = live->compiled.report;
  const std::vector<std::string> notes = report.notes;
  const Status written = write_outputs(arguments, live->vendor, live->compiled);
  report.notes = notes;
  report.files.clear();
  return written.ok() ? ok() : Status(written.error());
}

Result<std::map<std::string, std::string>> CompiledModel::to_c(const std::string& layout) {
  THIMBLE_TRY(const std::shared_ptr<Live> live, compile_live(request_, layout, {}));
  THIMBLE_TRY(const base::WorkFolder folder, base::WorkFolder::create("c"));
  tools::CompileArguments arguments = live->arguments;
  arguments.output = folder.file(label());
  arguments.report.clear();
  arguments.kernels.clear();
  arguments.kernels_dir.clear();
  THIMBLE_CHECK(write_outputs(arguments, live->vendor, live->compiled));
  std::map<std::string, std::string> sources;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path(), error)) {
    if (!entry.is_regular_file()) continue;
    THIMBLE_TRY(const Bytes bytes, tools::read_file(entry.path()));
    sources[entry.path().lexically_relative(folder.path()).generic_string()] =
        std::string(as_text(bytes));
  }
  if (error) return bad_input("{}: {}", folder.path().string(), error.message());
  return sources;
}

Result<std::string> CompiledModel::compare(std::shared_ptr<const driver::SampleArrays> samples,
                                           const fs::path& data, const Words& options,
                                           const ProgressFunction& progress) const {
  ModelSource program;
  program.bytes = std::make_shared<const Bytes>(state_.pte);
  program.name = label();
  program.shown = "the compiled model";
  const auto compare_files = [&](const fs::path& model,
                                 const fs::path& pte) -> Result<std::string> {
    Words words = joined({model.string(), pte.string(), "--data",
                          samples != nullptr ? samples->label : data.string()},
                         options);
    tools::CompareArguments arguments;
    THIMBLE_CHECK(parse("compare", tools::add_compare_options, words, &arguments));
    // The float graph has the sizes of the compilation.
    tools::CompileArguments compiled;
    THIMBLE_CHECK(parse("compile", tools::add_compile_options,
                        joined({model.string(), "--target", request_.target}, request_.options),
                        &compiled));
    arguments.shapes = compiled.shapes;
    arguments.samples = samples;
    arguments.progress = progress ? progress : [](std::string_view, int64_t, int64_t) {};
    THIMBLE_TRY(const tools::Json json, compare_json(arguments));
    return text_of(json);
  };
  return with_file(request_.model, [&](const fs::path& model) {
    return with_file(program, [&](const fs::path& pte) { return compare_files(model, pte); });
  });
}

namespace {

/// Refuses the options of `thimble run` that concern one run.
Status check_run_options(const Words& options) {
  constexpr std::string_view kOptions[] = {"--on", "--target", "--time-limit", "--fvp"};
  for (const std::string& word : options) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with('-') || std::ranges::find(kOptions, name) != std::end(kOptions)) continue;
    return bad_input("{}: found an option, expected one of {}", name, fmt::join(kOptions, ", "));
  }
  return ok();
}

}  // namespace

Result<std::unique_ptr<Interpreter>> Interpreter::open(const ModelSource& source,
                                                       const Words& options,
                                                       const Words& input_names) {
  THIMBLE_CHECK(check_run_options(options));
  tools::RunArguments arguments;
  THIMBLE_CHECK(parse("run", tools::add_run_options, joined({source.name}, options), &arguments));
  tools::OpenOptions open;
  open.on = arguments.on;
  open.fvp = arguments.fvp;
  open.time_limit = arguments.time_limit;
  open.target = arguments.target;
  open.input_names = input_names;
  std::unique_ptr<Interpreter> interpreter(new Interpreter);
  if (source.bytes != nullptr) {
    const std::string& label = source.shown.empty() ? source.name : source.shown;
    THIMBLE_TRY(interpreter->model_, tools::open_program(*source.bytes, label, open));
  } else {
    THIMBLE_TRY(interpreter->model_, tools::open_model(source.path, open));
  }
  return interpreter;
}

Result<std::vector<ir::Tensor>> Interpreter::run(std::span<const tools::InputArray> arrays,
                                                 bool steps) {
  THIMBLE_TRY(const tools::InputCalls calls, tools::split_calls(arrays, model_, steps));
  tools::Calls outputs;
  if (model_.step) {
    for (const std::vector<ir::Tensor>& inputs : calls.inputs) {
      THIMBLE_CHECK(check_cancelled());
      if (!model_.has_state) THIMBLE_CHECK(model_.reset());
      THIMBLE_TRY(std::vector<ir::Tensor> result, model_.step(inputs));
      outputs.push_back(std::move(result));
    }
  } else {
    // Each run of a board begins with the initial state, so that earlier calls are repeated.
    const size_t earlier = past_.size();
    tools::Calls all = past_;
    all.insert(all.end(), calls.inputs.begin(), calls.inputs.end());
    THIMBLE_TRY(tools::Outcome outcome, model_.run(all));
    if (model_.has_state) past_ = std::move(all);
    outputs.assign(
        std::make_move_iterator(outcome.outputs.begin() + static_cast<ptrdiff_t>(earlier)),
        std::make_move_iterator(outcome.outputs.end()));
  }
  if (calls.series == tools::Series::kNone) return std::move(outputs[0]);
  std::vector<ir::Tensor> results;
  for (size_t i = 0; i < model_.outputs.size(); ++i) {
    results.push_back(tools::stacked(outputs, i, calls.series));
  }
  return results;
}

bool Interpreter::runs_in_place() const {
  return model_.host != nullptr && model_.host->is_logical_order();
}

Result<std::vector<ByteView>> Interpreter::run_in_place(std::span<const ByteView> inputs) {
  THIMBLE_CHECK(model_.host->run_in_place(inputs));
  std::vector<ByteView> outputs;
  for (size_t i = 0; i < model_.outputs.size(); ++i) {
    THIMBLE_TRY(const ByteView output, model_.host->output(i));
    outputs.push_back(output);
  }
  return outputs;
}

Status Interpreter::reset() {
  past_.clear();
  return model_.reset ? model_.reset() : ok();
}

Result<std::string> profile(const ModelSource& source, const Words& options,
                            std::vector<tools::InputArray> arrays, const Words& input_names,
                            const ProgressFunction& progress) {
  return with_file(source, [&](const fs::path& path) -> Result<std::string> {
    tools::RunArguments arguments;
    THIMBLE_CHECK(parse("run", tools::add_run_options,
                        joined({path.string(), "--profile"}, options), &arguments));
    arguments.arrays = std::move(arrays);
    arguments.input_names = input_names;
    arguments.progress = progress ? progress : [](std::string_view, int64_t, int64_t) {};
    THIMBLE_TRY(const tools::Json json, run_json(arguments));
    return text_of(json);
  });
}

Result<std::string> fit(const FitRequest& request, const ProgressFunction& progress) {
  std::vector<ModelFile> files;
  Words words;
  for (const ModelSource& source : request.models) {
    THIMBLE_TRY(ModelFile file, ModelFile::open(source));
    words.push_back(file.path().string());
    files.push_back(std::move(file));
  }
  words.insert(words.end(), request.options.begin(), request.options.end());
  tools::FitArguments arguments;
  THIMBLE_CHECK(parse("fit", tools::add_fit_options, words, &arguments));
  arguments.samples = request.samples;
  arguments.progress = progress ? progress : [](std::string_view, int64_t, int64_t) {};
  const Result<tools::Json> json = fit_json(arguments);
  if (json.ok()) return text_of(*json);
  Error error = json.error();
  for (const ModelFile& file : files) error = file.shown(std::move(error));
  return error;
}

Result<std::string> annotate(const ModelSource& source, const std::string& target,
                             bool arithmetic) {
  return with_file(source, [&](const fs::path& path) -> Result<std::string> {
    THIMBLE_TRY(const tools::Json json, tools::annotate_json(path, target, arithmetic));
    return text_of(json);
  });
}

Result<std::string> inspect(const ModelSource& source, bool commands) {
  return with_file(source, [&](const fs::path& path) -> Result<std::string> {
    THIMBLE_TRY(const tools::Json json, tools::inspect_json(path, commands));
    return text_of(json);
  });
}

Result<std::string> targets(const std::string& name) {
  THIMBLE_TRY(const tools::Json json, tools::targets_json(name));
  return text_of(json);
}

Result<std::string> diff(const ModelSource& before, const ModelSource& after,
                         const Words& options) {
  const auto diff_files = [&](const fs::path& first,
                              const fs::path& second) -> Result<std::string> {
    tools::DiffArguments arguments;
    THIMBLE_CHECK(parse("diff", tools::add_diff_options,
                        joined({first.string(), second.string()}, options), &arguments));
    THIMBLE_TRY(const tools::Json json, diff_json(arguments));
    return text_of(json);
  };
  return with_file(before, [&](const fs::path& first) {
    return with_file(after, [&](const fs::path& second) { return diff_files(first, second); });
  });
}

const char* version() {
  return tools::release_version();
}

}  // namespace thimble::capi
