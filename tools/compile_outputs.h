// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files that `thimble compile` writes: the `.pte`, other formats of the network, what a
// firmware links, and the report.

#include <filesystem>

#include "base/result.h"
#include "driver/compile.h"
#include "driver/methods.h"
#include "tools/compile_arguments.h"
#include "tools/output.h"

namespace thimble::tools {

/// Path of the `.pte`: -o, or the model's name in --out-dir.
[[nodiscard]] std::filesystem::path pte_path(const CompileArguments& arguments);

/// Adds all files of one model; the caller commits them. Adds them, and notes of the engines about
/// them, to the report.
[[nodiscard]] Status add_outputs(const CompileArguments& arguments,
                                 const engine::VendorTools& vendor, driver::Compiled& compiled,
                                 OutputFiles* files);

/// Writes all files of one model, or none.
[[nodiscard]] Status write_outputs(const CompileArguments& arguments,
                                   const engine::VendorTools& vendor, driver::Compiled& compiled);

/// Writes the file of several methods, and what a firmware links for it.
[[nodiscard]] Status write_methods(const CompileArguments& arguments,
                                   const std::vector<driver::MethodModel>& methods,
                                   const driver::CompiledMethods& compiled);

/// Writes the report of a program that does not fit, and nothing else.
[[nodiscard]] Status write_refusal(const CompileArguments& arguments,
                                   const driver::Compiled& compiled);

}  // namespace thimble::tools
