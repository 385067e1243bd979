// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lists the operators that the engines of a part support, by their PyTorch names.

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace thimble::tools {

/// Returns the PyTorch operators that become the given operator of the integer graph, alone or
/// together with others: "conv1d, conv2d" for "qconv2d".
[[nodiscard]] std::vector<std::string> pytorch_names(std::string_view op);

/// Returns the operators that the engine supports, sorted by name.
[[nodiscard]] std::vector<engine::OpSupport> supported_by(const engine::PartNpu& use);

}  // namespace thimble::tools
