// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of `thimble compile`, for the command line and for other callers.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/compile.h"
#include "driver/methods.h"
#include "tools/command_line.h"
#include "tools/engine_cli.h"

namespace thimble::tools {

struct CompileArguments {
  std::vector<std::filesystem::path> models;
  std::filesystem::path model;
  std::string target;
  std::vector<std::string> methods;  // "NAME=FILE"
  std::vector<std::filesystem::path> calibrations;
  std::filesystem::path calibrate;
  std::filesystem::path output;
  std::vector<std::string> emit = {"pte"};
  std::filesystem::path out_dir;
  std::filesystem::path save_stages;
  std::vector<std::string> io;
  std::vector<std::string> input_mean, input_std;
  std::vector<std::string> preprocess;
  std::string activations;
  std::string weights;
  std::string accuracy;
  std::string compat;
  std::string io_layout;
  std::string observer;
  std::vector<std::string> quant;
  std::vector<std::string> engine_off;
  std::vector<std::string> skip_passes;
  std::optional<bool> npu_small;
  std::vector<std::string> shapes;
  std::vector<std::string> memories;
  std::filesystem::path report;
  std::filesystem::path kernels, kernels_dir;
  bool keep_float = false, soft_float = false;
  std::optional<bool> equalize, tune;
  std::string effort;  // a digit; empty: the default
  bool pareto = false;
  std::string npu_weights = "payload";
  std::vector<std::shared_ptr<EngineCli>> engines;
  std::string optimize = "speed";
  std::string kernel_code;
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

  [[nodiscard]] bool emits(std::string_view kind) const;
};

/// Adds all options to the verb. The arguments must live until the line is parsed.
void add_compile_options(Verb& verb, CompileArguments* arguments);

/// --kernel-code of `compile` and `fit`.
void add_kernel_code_option(Verb& verb, std::string* value);

/// Returns the options of the driver. Options that contradict each other are bad input.
[[nodiscard]] Result<driver::CompileOptions> compile_options(const CompileArguments& arguments);

/// Returns the models of --method with their data of --calibrate: NAME=FILE, or one file each in
/// the order of the methods.
[[nodiscard]] Result<std::vector<driver::MethodModel>> method_models(
    const CompileArguments& arguments);

/// Rejects a network for which a condition of --fail-if is true.
[[nodiscard]] Status check_conditions(const CompileArguments& arguments,
                                      const driver::CompileReport& report);

}  // namespace thimble::tools
