#pragma once
// Reads `.npy` files as model inputs: one call, or several calls along the first axis.

#include <filesystem>
#include <span>
#include <vector>

#include "base/result.h"
#include "hostrun/interface.h"
#include "ir/tensor.h"

namespace thimble::tools {

/// The inputs of each call: inputs[call][port]. With `steps` the first axis counts calls, either
/// [calls, ...] or, for an input [batch, ...], [calls * batch, ...]. float64 is converted to
/// float32; any other difference from the port's type or shape is an error.
[[nodiscard]] Result<std::vector<std::vector<ir::Tensor>>> read_inputs(
    std::span<const std::filesystem::path> files, std::span<const hostrun::Port> ports, bool steps,
    std::string_view model);

}  // namespace thimble::tools
