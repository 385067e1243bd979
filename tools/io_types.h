// SPDX-License-Identifier: Apache-2.0
#pragma once
// The option --io: types of the model's inputs and outputs.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "passes/preprocess.h"
#include "quant/quantize.h"

namespace thimble::tools {

inline constexpr const char* kIoHelp =
    "Type of the model's inputs and outputs: float, int8, uint8, int16; NAME=TYPE for one of them";

inline constexpr const char* kPreprocessHelp =
    "INPUT: FORMAT -> STEPS: what the application passes to an input, as in "
    "'x: rgb565 160x120 -> crop 120x120 -> resize 96x96 -> mean 127.5 -> std 127.5'";

inline constexpr const char* kShapeHelp =
    "NAME=N: size that the export left open: INPUT:AXIS, its symbol (for example s77), or batch";

/// Parses each text of --preprocess.
[[nodiscard]] Result<std::vector<passes::InputFormat>> parse_preprocess(
    const std::vector<std::string>& texts);

/// Parses the numbers of an option.
[[nodiscard]] Result<std::vector<double>> parse_numbers(const std::vector<std::string>& words,
                                                        std::string_view option);

/// Parses words such as `int8` and `x=uint8`. Without a word for all, all others are float.
[[nodiscard]] Result<quant::IoTypes> parse_io_types(const std::vector<std::string>& words);

}  // namespace thimble::tools
