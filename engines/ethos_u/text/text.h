#pragma once
// Command streams as text, one command per line, and back:
//
//   IFM_PRECISION signed=1 precision=0 format=NHCWB16 scale_mode=OPA_OPB_16 round=DOUBLE
//   IFM_BASE0 0x10890
//   KERNEL_WAIT 0
//   POOL AVERAGE
//
// Fields and their places come from the command table, so a command is text as soon as it has a
// row. Text and words are one to one: what the table cannot say in full (an unknown code, a bit
// outside every field, a stream that ends inside a command) is `.word`, so assembling gives back
// any stream word for word. `#` begins a comment.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u::text {

struct Options {
  bool offsets = false;  // the word offset of each command, as a comment
};

[[nodiscard]] std::string disassemble(std::span<const uint32_t> words, Generation generation,
                                      const Options& options = {});

/// Messages begin with `label:line`.
[[nodiscard]] Result<std::vector<uint32_t>> assemble(std::string_view text, Generation generation,
                                                     std::string_view label);

}  // namespace thimble::ethos_u::text
