#pragma once
// A look at a command stream before it runs: that it is made of whole commands up to its STOP, and
// which regions its operations use. What the commands mean is the NPU's affair.

#include "abi/status.h"
#include "engines/ethos_u/delegate/driver.h"

namespace thimble::runtime::ethos_u {

/// Regions of the delegate: constants, scratch, fast scratch.
inline constexpr uint32_t kRegionConstants = 0;
inline constexpr uint32_t kRegionScratch = 1;
inline constexpr uint32_t kRegionFast = 2;

struct StreamFacts {
  uint32_t reads = 0;   // bit r: some operation reads region r
  uint32_t writes = 0;  // the same
};

/// kBadPayload if the stream is no sequence of commands. `stream` is 4-byte aligned.
[[nodiscard]] Status look_at_stream(const Bytes& stream, bool is_u85, StreamFacts& facts);

}  // namespace thimble::runtime::ethos_u
