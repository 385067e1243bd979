// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text form of a kernel list's program block, and its parser:
//
//   list   weights 2345, scratch 1024, prefetch 0, profile 0, 4321 cycles, hash 1a2b3c4d
//   input  0   int8[1,3,4,4] channels_last scale 0.5 zero -3
//   kernel 0   Conv2DStandard input0[1,4,4,3] -> scratch+0[1,4,4,8]
//              window 3,3 pad 1,1 zero 3,0,5 scales 8,32,64 weights 96 bias 0; macs 3456 cycles 60
//   kernel 1   Table scratch+0[1,4,4,8] -> output0[1,4,4,8:128,8,32,1]
//              function LOGISTIC table 312; cycles 128
//   output 0   int8[1,8,4,4] channels_last scale 0.00390625 zero -128
//
// A view is written as its memory, the offset if it has one, the dimensions, and the strides if
// they are not dense. Pad is written `-> VIEW inside VIEW`: the second view is the filled one
// (KernelRecord::padded). Numbers of a kernel are named by the table in fields.h; default values
// are omitted. Offsets and counts of the block follow from the lines, so text and bytes correspond
// one to one. `#` begins a comment.

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::neutron::text {

/// Returns an error for bytes that check() rejects.
[[nodiscard]] Result<std::string> print(ByteView program, ByteView weights, std::string_view label);

/// Returns Header.program_bytes bytes with the hash given in the text. The result is not checked
/// with check(). Messages begin with `label:line`.
[[nodiscard]] Result<Bytes> parse(std::string_view text, std::string_view label);

}  // namespace thimble::neutron::text
