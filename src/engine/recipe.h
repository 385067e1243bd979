// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compilation settings of a part's file: quantization, partitioning, choice of kernels. An option
// on the command line overrides a setting of the file.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thimble::engine {

struct Recipe {
  // [quantization]
  std::optional<std::string> activations;  // "int8", "int16"
  std::optional<std::string> observer;     // one of recipe_observers()
  std::optional<bool> equalize, tune;
  std::optional<bool> preferences;  // apply the engines' QuantPreferences
  // [partition]
  std::optional<bool> keep_small;        // leave subgraphs that the CPU runs faster on the CPU
  std::optional<int64_t> minimum_steps;  // smaller subgraphs (in inner loop steps) go to the CPU
  std::vector<std::string> engine_off;   // patterns; a pattern without a match is no error
  // [kernels]
  std::optional<std::string> kernels;  // "native", "executorch"
  /// Name of the memory that the kernels' code runs in; empty: the one that stores the program.
  std::optional<std::string> kernel_code;
};

/// Returns the accepted values of `observer`: the names of quant::Observer, which src/engine must
/// not include.
[[nodiscard]] std::span<const std::string_view> recipe_observers();

}  // namespace thimble::engine
