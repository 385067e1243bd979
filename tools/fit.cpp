// SPDX-License-Identifier: Apache-2.0
// thimble fit: which parts run a model, how fast, and why not.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "driver/fit.h"
#include "driver/report.h"
#include "quant/fast_float.h"
#include "quant/simulate.h"
#include "tools/commands.h"
#include "tools/compile_arguments.h"
#include "tools/fit.h"
#include "tools/io_types.h"
#include "tools/output.h"
#include "tools/pairs.h"
#include "tools/quality.h"

namespace thimble::tools {
namespace {

namespace fs = std::filesystem;
using driver::FitRow;
using driver::Fits;

ir::Tensor dequantized(const ir::Tensor& codes, const ir::Quant& quant) {
  ir::Tensor real = ir::zeros(ir::DType::kF32, codes.shape);
  const std::vector<double> values = values_of(codes);
  for (size_t i = 0; i < values.size(); ++i) {
    real.data<float>()[i] = static_cast<float>((values[i] - quant.zero_point[0]) * quant.scale[0]);
  }
  return real;
}

/// Compares the outputs of the float graph and of the integer graph. The accuracy is that of the
/// first output.
Result<driver::FitQuality> evaluate(const driver::FloatModel& model, const driver::Samples& samples,
                                    const ir::Graph& integer) {
  quant::FastExecutor reference(model.graph, quant::float_kernels());
  quant::FastExecutor compiled(integer, quant::integer_kernels());
  std::vector<Sqnr> sqnr(model.graph.outputs().size());
  HitRate accuracy;
  const int64_t calls = driver::call_count(samples, model.graph);
  for (int64_t call = 0; call < calls; ++call) {
    const std::vector<ir::Tensor> inputs = driver::call_inputs(samples, model.graph, call);
    THIMBLE_CHECK(check_cancelled());
    reference.run(inputs, {});
    compiled.run(inputs, {});
    const std::vector<ir::Tensor> expected = reference.outputs(), got = compiled.outputs();
    for (size_t i = 0; i < sqnr.size(); ++i) {
      if (expected[i].dtype != ir::DType::kF32) continue;  // indices have no SQNR
      const ir::Type& type = integer.type(integer.outputs()[i]);
      sqnr[i].add(expected[i], type.quant ? dequantized(got[i], *type.quant) : got[i]);
    }
    if (!samples.labels) continue;
    const std::optional<std::vector<int64_t>> classes = classes_of(expected[0], got[0]);
    for (size_t row = 0; classes && row < classes->size(); ++row) {
      const size_t label = static_cast<size_t>(call) * classes->size() + row;
      if (label < samples.labels->size()) accuracy.add((*classes)[row] == (*samples.labels)[label]);
    }
  }
  driver::FitQuality quality;
  for (size_t i = 0; i < sqnr.size(); ++i) {
    const double db = sqnr[i].decibels();
    if (std::isnan(db) || (quality.sqnr_db && db >= *quality.sqnr_db)) continue;
    quality.sqnr_db = db;
    quality.worst_output = model.graph.value(model.graph.outputs()[i]).name;
  }
  quality.accuracy = accuracy.value();
  return quality;
}

/// Returns the parts that the values of --part select among all parts; without --part, all chips
/// and boards.
Result<std::vector<std::string>> chosen_parts(const std::vector<std::string>& patterns) {
  if (patterns.empty()) return engine::chip_names();
  std::vector<std::string> parts;
  const std::vector<std::string> names = engine::part_names();
  for (const std::string& pattern : patterns) {
    std::vector<std::string> chosen;
    if (pattern.ends_with(".toml") || std::ranges::binary_search(names, pattern)) {
      chosen = {pattern};
    } else {
      chosen = engine::filter_names(names, pattern);
    }
    if (chosen.empty()) {  // a name that is not listed, or an error with similar names
      THIMBLE_TRY(const engine::Part part, engine::find_part(pattern));
      chosen = {part.name};
    }
    for (const std::string& name : chosen) {
      if (std::ranges::find(parts, name) == parts.end()) parts.push_back(name);
    }
  }
  return parts;
}

Result<std::vector<driver::FitModel>> models_of(const FitArguments& arguments) {
  const size_t given = arguments.calibrations.size();
  const bool random = given == 1 && arguments.calibrations[0] == driver::kRandomCalibration;
  if (given != 0 && !random && given != arguments.models.size()) {
    return bad_input("--calibrate: {} files for {} models; expected one for each, in order", given,
                     arguments.models.size());
  }
  std::vector<driver::FitModel> models;
  for (size_t i = 0; i < arguments.models.size(); ++i) {
    models.push_back({arguments.models[i], given == 0 || random
                                               ? fs::path(driver::kRandomCalibration)
                                               : arguments.calibrations[i]});
    if (i < arguments.samples.size()) models[i].samples = arguments.samples[i];
  }
  return models;
}

Result<driver::FitResult> fit_models(const FitArguments& arguments) {
  driver::FitOptions options;
  for (const std::string& text : arguments.requirements) {
    THIMBLE_TRY(const auto requirements, driver::parse_requirements(text));
    options.requirements.insert(options.requirements.end(), requirements.begin(),
                                requirements.end());
  }
  THIMBLE_TRY(options.parts, chosen_parts(arguments.parts));
  THIMBLE_TRY(const std::vector<driver::FitModel> models, models_of(arguments));
  THIMBLE_CHECK(parse_shapes(arguments.shapes, &options.compile.shapes));
  options.compile.kernel_code = arguments.kernel_code;
  THIMBLE_TRY(options.compile.io, parse_io_types(arguments.io));
  options.evaluate = evaluate;
  Progress progress("fitting", arguments.progress);
  options.progress = progress.function();
  THIMBLE_TRY(driver::FitResult result, driver::fit(models, options));
  for (driver::ModelFit& model : result.models) driver::sort_rows(arguments.sort, &model.rows);
  return result;
}

std::string_view fits_text(Fits fits) {
  switch (fits) {
    case Fits::kYes:
      return "yes";
    case Fits::kUnknown:
      return "?";
    case Fits::kNo:
      return "no";
  }
  return "";
}

Json figure_or_null(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}
Json bytes_or_null(const std::optional<double>& value) {
  return value ? Json(static_cast<int64_t>(*value)) : Json(nullptr);
}

/// Half of the error band of the time; nothing if the time has none.
std::optional<double> error_percent(const FitRow& row) {
  if (!row.figures.latency_us || row.time_error_percent == 0) return std::nullopt;
  return row.time_error_percent;
}

int64_t count_fitting(const driver::ModelFit& model) {
  return std::ranges::count(model.rows, Fits::kYes, &FitRow::fits);
}

Json to_json(const driver::FitResult& result) {
  Json json = {{"seconds", result.seconds}, {"models", Json::array()}};
  for (const driver::ModelFit& model : result.models) {
    Json rows = Json::array();
    for (const FitRow& row : model.rows) {
      Json memories = Json::array();
      for (const driver::MemoryUse& memory : row.memories) {
        memories.push_back(
            {{"name", memory.name},
             {"bytes_used", memory.bytes_used},
             {"bytes_size", memory.bytes_size == 0 ? Json(nullptr) : Json(memory.bytes_size)}});
      }
      const Json fits = row.fits == Fits::kUnknown ? Json(nullptr) : Json(row.fits == Fits::kYes);
      rows.push_back({{"part", row.part},
                      {"fits", fits},
                      {"flash_bytes", bytes_or_null(row.figures.flash_bytes)},
                      {"sram_bytes", bytes_or_null(row.figures.sram_bytes)},
                      {"input_bytes", row.input_bytes},
                      {"inputs_too_large", row.inputs_too_large},
                      {"memories", std::move(memories)},
                      {"time_us", figure_or_null(row.figures.latency_us)},
                      {"time_error_percent", figure_or_null(error_percent(row))},
                      {"memories_without_waits", row.memories_without_waits},
                      {"accuracy", figure_or_null(row.figures.accuracy)},
                      {"sqnr_db", figure_or_null(row.figures.sqnr_db)},
                      {"engines", row.engines},
                      {"npu_share", row.npu_share},
                      {"reason", row.reason}});
    }
    json["models"].push_back({{"model", model.model},
                              {"random_data", model.random},
                              {"warnings", model.warnings},
                              {"quantizations", model.quantizations},
                              {"fitting", count_fitting(model)},
                              {"parts", std::move(rows)}});
  }
  return json;
}

/// A field of a CSV file (RFC 4180).
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + "\"";
}

void print_csv(const driver::FitResult& result) {
  std::printf(
      "model,part,fits,flash_bytes,sram_bytes,time_us,time_error_percent,accuracy,sqnr_db,engines,"
      "npu_share,reason\n");
  const auto figure = [](const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : std::string();
  };
  for (const driver::ModelFit& model : result.models) {
    for (const FitRow& row : model.rows) {
      std::printf("%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n", csv_text(model.model).c_str(),
                  csv_text(row.part).c_str(), std::string(fits_text(row.fits)).c_str(),
                  figure(row.figures.flash_bytes).c_str(), figure(row.figures.sram_bytes).c_str(),
                  figure(row.figures.latency_us).c_str(), figure(error_percent(row)).c_str(),
                  figure(row.figures.accuracy).c_str(), figure(row.figures.sqnr_db).c_str(),
                  csv_text(row.engines).c_str(), figure(row.npu_share).c_str(),
                  csv_text(row.reason).c_str());
    }
  }
}

/// "1.92 ms +-20 %"; "~" marks a time without an error band.
std::string time_text(const FitRow& row) {
  if (!row.figures.latency_us) return "";
  const std::optional<double> error = error_percent(row);
  return driver::time_text(*row.figures.latency_us) +
         (error ? fmt::format(" +-{:.0f} %", *error) : " ~     ");
}

std::string bytes_text(const std::optional<double>& bytes) {
  return bytes ? driver::with_commas(static_cast<int64_t>(*bytes)) + " B" : "";
}

std::string quality_text(const FitRow& row) {
  constexpr double kPercent = 100;
  if (row.figures.accuracy) return fmt::format("{:.1f} %", kPercent * *row.figures.accuracy);
  return row.figures.sqnr_db ? decibels_text(*row.figures.sqnr_db) : "";
}

/// Prints columns that are as wide as their longest field. Numbers are aligned on the right.
void print_table(const driver::ModelFit& model) {
  struct Column {
    const char* title;
    bool right;
  };
  const bool labels = std::ranges::any_of(
      model.rows, [](const FitRow& row) { return row.figures.accuracy.has_value(); });
  std::vector<Column> columns = {
      {"part", false}, {"fits", false}, {"flash", true}, {"sram", true}, {"time", true}};
  if (!model.random) columns.push_back({labels ? "accuracy" : "SQNR", true});
  columns.push_back({"engines", false});
  columns.push_back({"first reason if not", false});
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].emplace_back(column.title);
  for (const FitRow& row : model.rows) {
    std::vector<std::string> line = {row.part, std::string(fits_text(row.fits)),
                                     bytes_text(row.figures.flash_bytes),
                                     bytes_text(row.figures.sram_bytes), time_text(row)};
    if (!model.random) line.push_back(quality_text(row));
    line.push_back(row.engines);
    line.push_back(row.reason);
    lines.push_back(std::move(line));
  }
  std::vector<size_t> widths(columns.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      text += columns[i].right ? fmt::format("  {:>{}}", line[i], widths[i])
                               : fmt::format("  {:<{}}", line[i], widths[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    std::printf("%s\n", text.c_str());
  }
}

std::string times(int64_t count) {
  return count == 1 ? "once" : fmt::format("{} times", count);
}

/// "76 parts, 3 meet every requirement", or "76 parts, 70 fit".
std::string summary(const driver::ModelFit& model, bool has_requirements) {
  const int64_t fitting = count_fitting(model);
  std::string_view verb = fitting == 1 ? "fits" : "fit";
  if (has_requirements) {
    verb = fitting == 1 ? "meets every requirement" : "meet every requirement";
  }
  const auto unknown = std::ranges::count(model.rows, Fits::kUnknown, &FitRow::fits);
  return fmt::format("{} parts, {} {}{}", model.rows.size(), fitting, verb,
                     unknown == 0 ? "" : fmt::format(", {} not known", unknown));
}

/// Says which inputs the figures of the memories do not have, and where that matters.
std::string inputs_lines(const driver::ModelFit& model) {
  int64_t bytes = 0;
  std::vector<std::string> parts;
  for (const FitRow& row : model.rows) {
    bytes = std::max(bytes, row.input_bytes);
    if (row.inputs_too_large) parts.push_back(row.part);
  }
  if (bytes == 0) return "";
  const std::string text =
      fmt::format("inputs of {} B are in memory of the application, which sram does not have",
                  driver::with_commas(bytes));
  if (parts.empty()) return text + "\n";
  return driver::wrapped(
      "",
      fmt::format("{}; the SRAM of {} is too small for both: with `compile --inputs arena` they "
                  "share memory",
                  text, fmt::join(parts, ", ")));
}

void print(const FitArguments& arguments, const driver::FitResult& result) {
  const std::string seconds = fmt::format("{:.1f} s", result.seconds);
  const bool only = result.models.size() == 1;
  for (const driver::ModelFit& model : result.models) {
    std::printf("%s%s\n", model.model.c_str(),
                model.random
                    ? "  calibrated with random data: no accuracy; --calibrate DATA.npz gives it"
                    : "");
    for (const std::string& warning : model.warnings) {
      std::printf("  warning: %s\n", warning.c_str());
    }
    print_table(model);
    if (std::ranges::any_of(model.rows, &FitRow::has_several_rams)) {
      std::printf(
          "sram: what the program needs of the RAM on the chip, without DRAM outside of it; with "
          "several\nmemories, `compile` also copies code and weights into free RAM, which is not "
          "in this figure\n");
    }
    std::fputs(inputs_lines(model).c_str(), stdout);
    const bool marked = std::ranges::any_of(model.rows, [](const FitRow& row) {
      return row.figures.latency_us && !error_percent(row);
    });
    if (marked) {
      std::printf(
          "~ an estimate without error band: wait states are not stated, an NPU runs operators, "
          "operators were not measured, or the core's timing is neither from a manual nor compared "
          "with a board\n");
    }
    std::printf("%s   quantized %s%s\n", summary(model, !arguments.requirements.empty()).c_str(),
                times(model.quantizations).c_str(), only ? (", " + seconds).c_str() : "\n");
  }
  if (!only) std::printf("%zu models, %s\n", result.models.size(), seconds.c_str());
}

int fit(const FitArguments& arguments) {
  const Result<driver::FitResult> result = fit_models(arguments);
  if (!result) return fail(result.error(), arguments.json);
  if (arguments.json) {
    print_json(to_json(*result));
  } else if (arguments.csv) {
    print_csv(*result);
  } else {
    print(arguments, *result);
  }
  return 0;
}

}  // namespace

Result<Json> fit_json(const FitArguments& arguments) {
  THIMBLE_TRY(const driver::FitResult result, fit_models(arguments));
  return to_json(result);
}

void add_fit_options(Verb& verb, FitArguments* arguments) {
  FitArguments& a = *arguments;
  verb.option("model", a.models, "Files written by torch.export.save").required();
  verb.option("--part", a.parts,
              "Parts: a name, a part of a name, a pattern with *, or a .toml file; default: all "
              "chips and boards")
      .take_all();
  verb.option("--require", a.requirements,
              "Requirements such as 'latency<20ms,sram<128K,flash<1M,accuracy>0.9,sqnr>20'")
      .take_all()
      .not_empty("a requirement such as sram<128K");
  verb.option(
          "--calibrate", a.calibrations,
          "Samples (.npz, or .npy for one input) for each model, with `labels` for the accuracy; "
          "random (the default): sizes and time only")
      .take_all();
  verb.option("--shape", a.shapes, kShapeHelp).take_all();
  verb.option("--io", a.io, kIoHelp).one_value_each().delimiter(',');
  add_kernel_code_option(verb, &a.kernel_code);
  verb.option("--sort", a.sort, "Order of the rows").one_of(driver::fit_sort_keys());
  const Option json = verb.flag("--json", a.json, "Print one JSON object");
  verb.flag("--csv", a.csv, "Print comma-separated values").excludes(json);
}

void add_fit(CommandLine& line, int* exit_code) {
  Verb verb(line, "fit", "Compare a model on all parts: does it fit, how fast, how accurate");
  auto arguments = std::make_shared<FitArguments>();
  add_fit_options(verb, arguments.get());
  verb.callback([arguments, exit_code] { *exit_code = fit(*arguments); });
}

}  // namespace thimble::tools
