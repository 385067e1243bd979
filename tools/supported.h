#pragma once
// What the engines of a part take, for people who know PyTorch's operators.

#include <string>
#include <string_view>
#include <vector>

#include "target/target.h"

namespace thimble::tools {

/// Of an operator of the integer graph those of PyTorch that become it, among others that are made
/// of several: "conv1d, conv2d" of "qconv2d".
[[nodiscard]] std::vector<std::string> pytorch_names(std::string_view op);

/// What the engine tells, by operator.
[[nodiscard]] std::vector<target::OpSupport> supported_by(const target::EngineUse& use);

}  // namespace thimble::tools
