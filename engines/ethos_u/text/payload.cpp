// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/text/payload.h"

#include "engines/ethos_u/text/text.h"

namespace thimble::ethos_u::text {
namespace {

std::string_view generation_text(Generation generation) {
  return generation == Generation::kU55 ? "U55" : generation == Generation::kU65 ? "U65" : "U85";
}

/// Returns the fields of the CONFIG word other than product and MACs as text.
std::string hardware_text(uint32_t word) {
  if (product_of(word) == static_cast<uint32_t>(Generation::kU85)) {
    return fmt::format(", AXI ports {} SRAM and {} external, {} weight decoders",
                       1U << (word >> 8 & 3U), 1U << (word >> 10 & 1U), 1U << (word >> 12 & 3U));
  }
  return fmt::format(", SHRAM {} KiB{}", word >> 8 & 255U,
                     custom_dma_of(word) ? ", custom DMA" : "");
}

}  // namespace

bool is_payload(ByteView bytes) {
  if (bytes.size() < 4) return false;
  const uint32_t magic = load_le<uint32_t>(bytes, 0);
  return magic == kCop1 || magic == kCop2;
}

Result<Payload> read_payload(ByteView bytes, std::string_view label) {
  if (bytes.size() > UINT32_MAX) return bad_input("{}: byte 0: more than 4 GiB", label);
  Payload payload;
  DriverPayload& header = payload.header;
  uint32_t stopped = 0;
  if (!read_driver_payload(reinterpret_cast<const uint8_t*>(bytes.data()),
                           static_cast<uint32_t>(bytes.size()), header, &stopped)) {
    return bad_input("{}: byte {}: {}", label, stopped < 4 ? 0 : stopped - 4,
                     is_payload(bytes) ? "the payload ends here or its header has an invalid word"
                                       : "neither COP1 nor COP2");
  }
  if (product_of(header.config) > 2) {
    return bad_input("{}: byte 0: product {}, expected 0 (U55), 1 (U65) or 2 (U85)", label,
                     product_of(header.config));
  }
  payload.generation = static_cast<Generation>(product_of(header.config));
  payload.stream.resize(header.stream_words);
  for (size_t i = 0; i < payload.stream.size(); ++i) {
    payload.stream[i] = load_le<uint32_t>(bytes, header.stream_offset + 4 * i);
  }
  return payload;
}

std::string print(const Payload& payload) {
  const DriverPayload& header = payload.header;
  const Config* hardware = payload.hardware();
  std::string text = fmt::format(
      "# COP{}, {} words from byte {}\n# config {:#010x}: {}, {} MACs, stream version {}{}\n",
      header.cop_version, payload.stream.size(), header.stream_offset, header.config,
      hardware == nullptr ? generation_text(payload.generation) : hardware->name,
      1U << macs_log2_of(header.config), stream_version_of(header.config),
      hardware_text(header.config));
  text += fmt::format("# id {:#010x}: architecture {}.{}.{}\n", header.id, arch_major_of(header.id),
                      arch_minor_of(header.id), header.id >> 16 & 15U);
  if (header.cop_version == 2) {
    text += fmt::format("# addressing {}, staging {} B\n", header.addressing, header.staging_bytes);
  }
  return text + disassemble(payload.stream, payload.generation, {.offsets = true});
}

}  // namespace thimble::ethos_u::text
