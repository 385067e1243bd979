#pragma once
// The driver payload around a command stream, in its two forms (COP1 and COP2): what the driver
// checks against the NPU before it starts the stream. Layout with a worked example:
// docs/ethos-u.md.

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "npu/ethos_u/isa/config.h"

namespace thimble::ethos_u::text {

/// The configuration word: what the stream was made for.
struct PayloadConfig {
  uint32_t word = 0;
  Generation generation = Generation::kU55;
  uint32_t macs = 0;
  uint32_t stream_version = 0;
  uint32_t shram_kib = 0;           // U55, U65: all cores together
  bool custom_dma = false;          // U55, U65
  uint32_t axi_sram_ports = 0;      // U85
  uint32_t axi_external_ports = 0;  // U85
  uint32_t weight_decoders = 0;     // U85
};

struct Payload {
  int form = 1;  // COP1, COP2
  PayloadConfig config;
  uint32_t id = 0;             // architecture version the stream was made for
  bool has_metadata = false;   // COP2
  uint32_t addressing = 0;     // COP2
  uint64_t staging_bytes = 0;  // COP2
  size_t stream_offset = 0;    // bytes from the start of the payload
  std::vector<uint32_t> stream;

  /// Row of the configuration table, or null for one that is not there.
  [[nodiscard]] const Config* hardware() const;
};

[[nodiscard]] bool is_payload(ByteView bytes);
[[nodiscard]] Result<Payload> read_payload(ByteView bytes, std::string_view label);

/// Header lines as comments, then the stream; assembles to the stream.
[[nodiscard]] std::string print(const Payload& payload);

}  // namespace thimble::ethos_u::text
