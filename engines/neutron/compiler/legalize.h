// SPDX-License-Identifier: Apache-2.0
#pragma once
// legalize(subgraph): legalizes a subgraph for the NPU, with the same inputs and outputs.
//
// Afterwards each operator corresponds to one LiteRT operator. lower() adds at most one kernel for
// it, and copies where necessary. Values keep their names; an
// intermediate value has the name of its result plus a suffix. A legalized subgraph does not change
// when it is legalized again.
//
// The legalized graph defines the result. It may differ from the result of the graph before:
// qlinear by the rounding, a clamped linear function by 1 where the exact value is within 2^-20 of
// a half.
//
//   qlinear                     rounds once, as FULLY_CONNECTED does
//   qconv2d with groups         slices, convolutions (groups merged to fill the NPU), concat;
//                               a depthwise convolution is unchanged
//   qconv_transpose2d           as qconv2d; output_padding reduces the padding at the end. Beyond
//                               the limits of LiteRT's operator: one convolution of all phases, and
//                               data movement (legalize_phases.cpp)
//   qmatmul                     three dimensions
//   adaptive pools              pools, if all windows have equal size
//   expand                      concat of a value with itself
//   slice with a step           slices, reshape, concat
//   gather, constant positions  unchanged if it is a nearest upsampling or a reflection; reshape
//                               and concat if it repeats elements; else slices of segments, and
//                               concat
//   rescale, lut of a clamped
//   linear function             depthwise 1x1 convolution (clamped_linear.h)
//   lut of neg                  qsub from zero
//
// Other operators outside the limits (limits.h) stay as they are and are refused later. Tested by
// tests/conformance/neutron_rules_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

[[nodiscard]] Result<ir::Graph> legalize(const ir::Graph& subgraph);

}  // namespace thimble::engine::neutron
