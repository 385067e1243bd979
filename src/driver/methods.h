// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several exports of one model as methods of one file: `forward` and `prefill` of a decoder. They
// share the constants, the arena and the states.
//
// All methods are calibrated before any is quantized (quant/joint.h), so that equal layers have
// equal constants, of which the file stores one copy, and a state has the same parameters in all
// methods.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "driver/compile.h"

namespace thimble::driver {

struct MethodModel {
  std::string name;
  std::filesystem::path model;        // a `.pt2`
  std::filesystem::path calibration;  // as CompileOptions::calibration
};

struct CompiledMethods {
  Bytes pte;
  /// By method. Arena, flash and the memories of each report are those of the whole file; `pte` is
  /// empty.
  std::vector<Compiled> methods;
};

/// Returns an error for bad input, for options that methods do not support, and for methods whose
/// states differ.
[[nodiscard]] Result<CompiledMethods> compile_methods(std::span<const MethodModel> methods,
                                                      const CompileOptions& options);

/// One JSON object: the sums of the file, and the report of each method in `methods`.
[[nodiscard]] std::string methods_json(const CompiledMethods& compiled);

/// Returns the names of the methods with their inputs and calls, and what the file needs.
[[nodiscard]] std::string methods_summary(const CompiledMethods& compiled);

}  // namespace thimble::driver
