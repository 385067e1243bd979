#pragma once
// What a part's file says beside its hardware: how models are quantized for it, how they are cut,
// which kernels are called. What it leaves open, and what the user says otherwise, is the command
// line's.

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
  std::optional<std::string> observer;     // of recipe_observers()
  std::optional<bool> equalize, tune;
  std::optional<bool> preferences;  // whether the engines' own (QuantWishes) are granted
  // [partition]
  std::optional<bool> keep_small;        // regions that the CPU would run faster stay
  std::optional<int64_t> minimum_steps;  // of a region's innermost loops; less is the CPU's
  std::vector<std::string> engine_off;   // patterns; what matches nothing is no error here
  // [kernels]
  std::optional<std::string> kernels;  // "native", "executorch"
};

/// The names that `observer` takes: those of quant::Observer, which targets do not know.
[[nodiscard]] std::span<const std::string_view> recipe_observers();

}  // namespace thimble::engine
