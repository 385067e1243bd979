// SPDX-License-Identifier: Apache-2.0
#pragma once
// fit(): compiles models for many parts and compares the results with requirements.
//
// A model is imported once. It is quantized once for all parts with equal Arithmetic (stages.h).
// The rest is compiled per part, on all cores of this machine.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "driver/compile.h"
#include "driver/requirement.h"
#include "driver/stages.h"

namespace thimble::driver {

struct FitModel {
  std::filesystem::path path;
  std::filesystem::path calibration;                 // as CompileOptions::calibration
  std::shared_ptr<const SampleArrays> samples = {};  // as CompileOptions::samples
};

/// Accuracy of an integer graph on the calibration data.
struct FitQuality {
  std::optional<double> sqnr_db;   // of the worst output
  std::string worst_output;        // its name
  std::optional<double> accuracy;  // if the data has labels
};

struct FitOptions {
  CompileOptions compile;  // for all models and parts; target and calibration are not used
  std::vector<std::string> parts;
  std::vector<Condition> requirements;
  /// Measures an integer graph of a model. Not called for random data. May run in several threads.
  std::function<Result<FitQuality>(const FloatModel&, const Samples&, const ir::Graph& integer)>
      evaluate;
  ProgressFunction progress;  // may be empty
};

enum class Fits : uint8_t { kYes, kUnknown, kNo };

/// A model on a part.
struct FitRow {
  std::string part;
  Fits fits = Fits::kNo;
  Figures figures;
  double time_error_percent = 0;                    // as CompileReport::time_error_percent
  std::vector<std::string> memories_without_waits;  // as in CompileReport: the time is longer
  double marked_percent = 0;                        // as in CompileReport
  std::vector<MemoryUse> memories;                  // by name, with what is placed there for speed
  int64_t input_bytes = 0;        // of inputs in memory of the application, not in `memories`
  bool inputs_too_large = false;  // the SRAM is too small for the program and these inputs
  bool has_several_rams = false;  // the part has more memory than flash and SRAM
  std::string engines;            // the NPUs with their share of the MACs in percent, or the core
  double npu_share = 0;           // share of the MACs on NPUs, 0 to 1
  std::string reason;             // the first reason why `fits` is not kYes
};

struct ModelFit {
  std::string model;
  bool random = false;                // calibrated with random data
  std::vector<std::string> warnings;  // about the calibration data, and a low SQNR
  int64_t quantizations = 0;
  std::vector<FitRow> rows;  // in the order of FitOptions::parts
};

struct FitResult {
  std::vector<ModelFit> models;
  double seconds = 0;
};

/// An error of the input ends the whole call. A model that a part does not support is a row.
[[nodiscard]] Result<FitResult> fit(const std::vector<FitModel>& models, const FitOptions& options);

/// Keys of sort_rows().
[[nodiscard]] std::vector<std::string> fit_sort_keys();
/// Sorts by one of fit_sort_keys(). "fits": rows that fit first, then by time. Unknown figures are
/// last; equal rows are sorted by name.
void sort_rows(const std::string& key, std::vector<FitRow>* rows);

}  // namespace thimble::driver
