// SPDX-License-Identifier: Apache-2.0
#pragma once
// `thimble run`, for the command line and for other callers.

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "tools/command_line.h"
#include "tools/inputs.h"
#include "tools/output.h"

namespace thimble::tools {

struct RunArguments {
  std::filesystem::path model;
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path output;
  std::filesystem::path trace;
  std::filesystem::path etdump;
  std::filesystem::path etdump_outputs;
  std::filesystem::path data_file;
  std::string method;
  std::filesystem::path load_state, save_state;
  bool bundled = false;
  double rtol = 1e-5, atol = 1e-8;
  std::string on;
  std::filesystem::path fvp;
  int time_limit = 300;
  int patience = 30;
  std::string target;
  std::vector<std::string> shapes;
  bool steps = false;
  bool profile = false;
  bool json = false;

  // Not options of the command line:
  std::vector<InputArray> arrays;        // used instead of `inputs` if not empty
  std::vector<std::string> input_names;  // as OpenOptions::input_names
  ProgressFunction progress;             // used instead of a line on the terminal if not empty
};
void add_run_options(Verb& verb, RunArguments* arguments);

/// Runs the model, and writes its files. Returns what `run --json` prints.
[[nodiscard]] Result<Json> run_json(const RunArguments& arguments);

}  // namespace thimble::tools
