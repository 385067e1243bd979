#pragma once
// A driver payload as text: what the driver checks against the NPU before it starts the stream,
// and the stream. The form itself: isa/driver_payload.h.

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

  /// Row of the configuration table, or null for one that is not there.
  [[nodiscard]] const Config* hardware() const { return config_of(header.config); }
};

[[nodiscard]] bool is_payload(ByteView bytes);

/// Messages begin with `label: byte N`.
[[nodiscard]] Result<Payload> read_payload(ByteView bytes, std::string_view label);

/// Header lines as comments, then the stream; assembles to the stream.
[[nodiscard]] std::string print(const Payload& payload);

}  // namespace thimble::ethos_u::text
