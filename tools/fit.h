// SPDX-License-Identifier: Apache-2.0
#pragma once
// `thimble fit`, for the command line and for other callers.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "driver/data.h"
#include "tools/command_line.h"
#include "tools/output.h"

namespace thimble::tools {

struct FitArguments {
  std::vector<std::filesystem::path> models;
  std::vector<std::string> parts;
  std::vector<std::string> requirements;
  std::vector<std::filesystem::path> calibrations;
  std::vector<std::string> shapes;
  std::vector<std::string> io;
  std::string kernel_code;
  std::string sort = "fits";
  bool json = false, csv = false;

  // Not options of the command line:
  std::vector<std::shared_ptr<const driver::SampleArrays>> samples;  // one per model, may be null
  ProgressFunction progress;  // used instead of a line on the terminal if not empty
};

void add_fit_options(Verb& verb, FitArguments* arguments);

/// Returns what `fit --json` prints.
[[nodiscard]] Result<Json> fit_json(const FitArguments& arguments);

}  // namespace thimble::tools
