// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scans a command stream before it runs: checks that it consists of complete commands up to STOP,
// and collects the regions that its operations use. The operations themselves are not checked.

#include "abi/status.h"
#include "engines/ethos_u/delegate/driver.h"

namespace thimble::runtime::ethos_u {

/// Region numbers of the delegate: constants, scratch, fast scratch.
inline constexpr uint32_t kRegionConstants = 0;
inline constexpr uint32_t kRegionScratch = 1;
inline constexpr uint32_t kRegionFast = 2;

struct StreamFacts {
  uint32_t reads = 0;   // bit r: an operation reads region r
  uint32_t writes = 0;  // bit r: an operation writes region r
};

/// Returns kBadPayload if the stream is not a sequence of complete commands. `stream` is 4-byte
/// aligned.
[[nodiscard]] Status scan_stream(const Bytes& stream, bool is_u85, StreamFacts& facts);

}  // namespace thimble::runtime::ethos_u
