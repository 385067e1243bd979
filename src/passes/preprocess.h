// SPDX-License-Identifier: Apache-2.0
#pragma once
// The prologue of a graph: operators that make an input of the model from what a sensor delivers.
//
//   x: rgb565 160x120 -> crop 120x120 -> resize 96x96 -> mean 127.5 -> std 127.5
//   x: int16 stereo -> std 32768
//
// docs/inputs.md describes formats and steps. The operators are added before the float passes.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {

struct Extent {
  int64_t width = 0, height = 0;
};

/// Bytes that the application passes to one input.
struct InputFormat {
  std::string input;   // name; empty: the model's only input
  std::string format;  // "uint8", "int16", or a format of frames: "rgb565"
  Extent frame;        // of a camera's frame
  bool stereo = false;
  std::vector<double> crop;  // width, height, or also left and top; empty: all
  Extent resize;             // 0: not resized
  bool bgr = false;          // the model expects B, G, R
  std::vector<double> mean, std;
  std::string text;  // the option, for messages
};

/// Parses the text of --preprocess.
[[nodiscard]] Result<InputFormat> parse_input_format(std::string_view text);

/// Returns the graph with a prologue for each format. The new inputs have the names and places of
/// those that they replace.
[[nodiscard]] Result<ir::Graph> add_prologue(const ir::Graph& graph,
                                             const std::vector<InputFormat>& formats);

}  // namespace thimble::passes
