// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads `.npy` and `.npz` files as model inputs: one call, or several calls along the first axis.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/npy/npy.h"
#include "hostrun/interface.h"
#include "ir/tensor.h"
#include "tools/model.h"

namespace thimble::tools {

/// How the first axis of the arrays counts calls.
enum class Series {
  kNone,     // the arrays are one call
  kCalls,    // [calls, ...]: outputs get the same axis
  kBatches,  // [calls * batch, ...] for an input [batch, ...]
};

struct InputCalls {
  std::vector<std::vector<ir::Tensor>> inputs;  // [call][port]
  Series series = Series::kNone;
};

/// An array for an input, and the name of the array in messages.
struct InputArray {
  formats::npy::NpyArray array;
  std::string label;
  std::string input = {};  // name of the input; empty: the arrays are in the order of the inputs
};

/// Divides an array for each port into calls. Without `steps`, arrays with samples of several calls
/// are accepted if the model has no state: each sample is a call. float64 is converted to float32;
/// any other difference from the port's type or shape is an error.
/// The names of arrays with names are exactly those of the inputs.
[[nodiscard]] Result<InputCalls> split_calls(std::span<const InputArray> arrays, const Model& model,
                                             bool steps);

/// Output `index` of all calls, one after another: [calls, ...], or [calls * batch, ...] for inputs
/// of this form.
[[nodiscard]] ir::Tensor stacked(const Calls& outputs, size_t index, Series series);

/// Reads a .npy for each port, in order, or one .npz with an array for each, by name; the array for
/// a single port may have any name. Then calls split_calls().
[[nodiscard]] Result<InputCalls> read_inputs(std::span<const std::filesystem::path> files,
                                             const Model& model, bool steps);

}  // namespace thimble::tools
