// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text form of a graph. print(parse(t)) == t for every printed t.
//
//   graph @forward {
//     input %x: f32[1,1,8,8]
//     const %b: i32[2] = 0x00010000ffffffff             // little-endian bytes, logical order
//     const %w: f32[8,1,3,3] = 0x0000803f...            // a repeated pattern (parsed only)
//     %y: i8[1,8,8,8] order(0,2,3,1) quant(0.05, -3) = qconv2d(%x, %w, _, %m, %s) {stride=[1,1],
//         x_zp=3} at "net.py":31 "self.conv(x)" in "features.0" of "aten.conv2d.default"
//     output %y
//   }
// Each operator is printed on one line. White space and `// comments` may separate any two tokens.
// Hand-written text may omit the type of an operator: `%y = add(%a, %b)`.
// Doubles are printed as the shortest text that parses to the same bits.

#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::ir {
[[nodiscard]] std::string print(const Graph& graph);
/// Errors are located: `name:line:column: what was found, what was expected`.
[[nodiscard]] Result<Graph> parse(std::string_view text, std::string_view file_name);
}  // namespace thimble::ir
