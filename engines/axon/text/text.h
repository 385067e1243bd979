// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text form of a layer list, with one entry per input, output, variable and layer (shortened):
//
//   list kws_00f1e2d3c4b5a697   22,064 B, interlayer 13,552, ...; 147,437 cycles
//   input 0    external 0 int8[1,1,40,13], scale 0.0625, zero -3
//   layer 0    conv2d 3x3 pad 1,1,1,1 relu, per channel; external 0 int8[1,1,40,13]
//              -> interlayer+0 int8[1,16,40,13] rows 16; 71,680 cycles
//   output 0   interlayer+0 int8[1,12,1,1] rows 4 of layer 5, scale 0.0039, zero -128

#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::axon::text {

/// Returns an error for bytes that check() rejects.
[[nodiscard]] Result<std::string> print(ByteView list, std::string_view label);

}  // namespace thimble::axon::text
