#pragma once
// What the engines of a part take, for people who know PyTorch's operators.

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace thimble::tools {

/// Of an operator of the integer graph those of PyTorch that become it, among others that are made
/// of several: "conv1d, conv2d" of "qconv2d".
[[nodiscard]] std::vector<std::string> pytorch_names(std::string_view op);

/// What the engine tells, by operator.
[[nodiscard]] std::vector<engine::OpSupport> supported_by(const engine::PartNpu& use);

}  // namespace thimble::tools
