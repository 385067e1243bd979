// SPDX-License-Identifier: Apache-2.0
#pragma once
// A driver payload as text: the header that the driver compares with the NPU, and the stream. The
// binary format: isa/driver_payload.h.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engines/ethos_u/isa/driver_payload.h"

namespace thimble::ethos_u::text {

struct Payload {
  DriverPayload header;
  Generation generation = Generation::kU55;
  std::vector<uint32_t> stream;

  /// Returns the row of the configuration table, or null for an unknown configuration.
  [[nodiscard]] const Config* hardware() const { return config_of(header.config); }
};

[[nodiscard]] bool is_payload(ByteView bytes);

/// Error messages begin with `label: byte N`.
[[nodiscard]] Result<Payload> read_payload(ByteView bytes, std::string_view label);

/// Prints the header as comment lines, then the stream. The text assembles to the stream.
[[nodiscard]] std::string print(const Payload& payload);

}  // namespace thimble::ethos_u::text
