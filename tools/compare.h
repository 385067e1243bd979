// SPDX-License-Identifier: Apache-2.0
#pragma once
// `thimble compare`, for the command line and for other callers.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "driver/data.h"
#include "tools/command_line.h"
#include "tools/output.h"

namespace thimble::tools {

struct CompareArguments {
  std::filesystem::path float_model;
  std::filesystem::path model;
  std::filesystem::path data;
  std::string on = "host";
  int patience = 30;
  std::string target;
  std::vector<std::string> shapes;
  std::vector<std::string> preprocess;
  std::string fail_if;
  bool per_layer = false;
  std::filesystem::path bundle;
  bool json = false;

  // Not options of the command line:
  std::shared_ptr<const driver::SampleArrays> samples;  // used instead of `data` if not null
  ProgressFunction progress;  // used instead of a line on the terminal if not empty
};

void add_compare_options(Verb& verb, CompareArguments* arguments);

/// Returns what `compare --json` prints. A condition of --fail-if that is true is in "violations".
[[nodiscard]] Result<Json> compare_json(const CompareArguments& arguments);

struct QualityFigures {
  std::optional<double> sqnr_db;    // lowest of all outputs of real numbers
  std::optional<double> agreement;  // share of rows with the same class as in float
  std::optional<double> accuracy;   // with labels
  std::vector<std::string> warnings;
};

/// Runs the compiled model on this machine and compares it with the float model.
[[nodiscard]] Result<QualityFigures> compare_quality(const std::filesystem::path& float_model,
                                                     const std::filesystem::path& model,
                                                     const std::filesystem::path& data);

}  // namespace thimble::tools
