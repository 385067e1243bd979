#pragma once
// form(region): the region in the NPU's arithmetic and forms, with the same inputs and outputs.
//
// After: each operator has one operator of LiteRT and one kernel. Values keep their names; what is
// made on the way to one has its name and an ending. A region in this form stays as it is.
//
//   qlinear                     rounds once, as FULLY_CONNECTED does
//   qconv2d with groups         slices, convolutions of as many groups as fill the NPU, concat
//   qconv_transpose2d           the same; output_padding is padding less at the end. Beyond the
//   limits
//                               of LiteRT's operator a convolution of all phases, and movement
//   qmatmul                     of three dimensions
//   adaptive pools              pools, where windows are equal
//   expand                      concat of one value with itself
//   slice with a step           slices, reshape, concat
//   gather of known positions   stays where it is a nearest upsampling or a reflection; else
//   reshape
//                               and concat where it repeats elements, slices and concat where it
//                               takes runs of them
//   rescale, lut of a line      a depthwise convolution of one tap
//   lut of neg                  qsub from zero
//
// What the rules (limits.h) refuse stays as it is. Tested by
// tests/conformance/neutron_rules_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

[[nodiscard]] Result<ir::Graph> form(const ir::Graph& region);

}  // namespace thimble::engine::neutron
