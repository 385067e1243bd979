// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts command streams to text, one command per line, and back:
//
//   IFM_PRECISION signed=1 precision=0 format=NHCWB16 scale_mode=OPA_OPB_16 round=DOUBLE
//   IFM_BASE0 0x10890
//   KERNEL_WAIT 0
//   POOL AVERAGE
//
// Fields and their positions come from the command table, so each row of the table has a text form.
// The conversion is lossless. Words that the table does not describe completely (an unknown code, a
// bit outside every field, a stream that ends inside a command) are written as `.word`. Assembling
// the text returns exactly the same words. `#` begins a comment.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::text {

struct Options {
  bool offsets = false;  // append the word offset of each command as a comment
};

[[nodiscard]] std::string disassemble(std::span<const uint32_t> words, Generation generation,
                                      const Options& options = {});

/// Error messages begin with `label:line`.
[[nodiscard]] Result<std::vector<uint32_t>> assemble(std::string_view text, Generation generation,
                                                     std::string_view label);

}  // namespace thimble::ethos_u::text
