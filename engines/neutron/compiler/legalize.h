#pragma once
// legalize(region): legalizes a subgraph for the NPU, with the same inputs and outputs.
//
// Afterwards each operator corresponds to one operator of LiteRT and one kernel. Values keep their
// names; an intermediate value has the name of its result plus a suffix. A legalized subgraph does
// not change when it is legalized again.
//
//   qlinear                     rounds once, as FULLY_CONNECTED does
//   qconv2d with groups         slices, convolutions (groups merged to fill the NPU), concat
//   qconv_transpose2d           as qconv2d; output_padding reduces the padding at the end. Beyond
//                               the limits of LiteRT's operator: one convolution of all phases, and
//                               data movement (legalize_phases.cpp)
//   qmatmul                     three dimensions
//   adaptive pools              pools, if all windows have equal size
//   expand                      concat of a value with itself
//   slice with a step           slices, reshape, concat
//   gather, constant positions  unchanged if it is a nearest upsampling or a reflection; reshape
//                               and concat if it repeats elements; else slices of runs, and concat
//   rescale, lut of a line      depthwise 1x1 convolution
//   lut of neg                  qsub from zero
//
// Operators outside the limits (limits.h) stay as they are. Tested by
// tests/conformance/neutron_rules_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

[[nodiscard]] Result<ir::Graph> legalize(const ir::Graph& region);

}  // namespace thimble::engine::neutron
