// SPDX-License-Identifier: Apache-2.0
#pragma once
// The header in front of a command stream. It names the NPU for which the stream was compiled. Two
// formats exist, both of little-endian 32-bit words; the stream starts at a multiple of 16 bytes.
//
//   COP1  'COP1'; then actions, each a word `id | high << 8 | low << 16`:
//         1 configuration, two words follow: CONFIG, ID. 5 no operation. 2 the stream, of
//         high << 16 | low words, which end the payload
//   COP2  'COP2', version (1 in the low half), number of bytes after the next word, 0;
//         entry 1, number of bytes that follow; metadata: its size, 'VEUM', 1, size - 16, CONFIG,
//         ID, addressing, staging (u64), padding to a multiple of 16; the rest is the stream
//
// CONFIG  log2 of MACs @0:4, version of the stream @4:4, product @28:4 (0 U55, 1 U65, 2 U85)
//         U55, U65: SHRAM of all cores in KiB @8:8
//         U85: log2 of SRAM ports @8:2, of external ports @10:1, of weight decoders @12:2
// ID      architecture: major @28:4, minor @20:8, patch @16:4; product @12:4; version @0:12
//
// The hardware registers CONFIG and ID have the same fields. Sources: docs/ethos-u.md.

#include <stddef.h>
#include <stdint.h>

#include "engines/ethos_u/isa/config.h"

namespace thimble::ethos_u {

inline constexpr uint32_t kCop1 = 0x31504F43;
inline constexpr uint32_t kCop2 = 0x32504F43;
inline constexpr uint32_t kMetadataMagic = 0x4D554556;  // "VEUM"
inline constexpr uint32_t kActionConfig = 1;
inline constexpr uint32_t kActionStream = 2;
inline constexpr uint32_t kActionNothing = 5;
inline constexpr uint32_t kActionConfigWord = 0x00100001;  // release 0, patch 1
inline constexpr uint32_t kStreamAlignment = 16;
inline constexpr uint32_t kStreamWordsMax = (1U << 24) - 1;

constexpr uint32_t product_of(uint32_t config) {
  return config >> 28;
}
constexpr uint32_t macs_log2_of(uint32_t config) {
  return config & 15;
}
constexpr uint32_t stream_version_of(uint32_t config) {
  return config >> 4 & 15;
}
constexpr uint32_t axi_ports_of(uint32_t config) {
  return config >> 8 & 7;  // U85
}
constexpr bool custom_dma_of(uint32_t config) {
  return (config >> 27 & 1) != 0;
}
constexpr uint32_t arch_major_of(uint32_t id) {
  return id >> 28;
}
constexpr uint32_t arch_minor_of(uint32_t id) {
  return id >> 20 & 255;
}

constexpr uint32_t log2_of(uint32_t value) {
  uint32_t log = 0;
  while (value >> log > 1) ++log;
  return log;
}

/// Returns the word CONFIG of the hardware and of streams compiled for it.
constexpr uint32_t config_word(const Config& config) {
  const uint32_t macs = log2_of(config.macs);
  switch (config.generation) {
    case Generation::kU55:
      return macs | uint32_t{config.banks} << 8;
    case Generation::kU65:
      return macs | uint32_t{config.banks} * config.cores << 8 | 1U << 28;
    case Generation::kU85:
      break;
  }
  const uint32_t sram_ports = config.macs >= 2048 ? 2 : 1;
  const uint32_t external_ports = config.macs >= 1024 ? 1 : 0;
  return macs | 1U << 4 | sram_ports << 8 | external_ports << 10 | log2_of(config.cores) << 12 |
         2U << 28;
}

/// Returns the word ID: the architecture that streams of a generation require.
constexpr uint32_t id_word(Generation generation) {
  return generation == Generation::kU85 ? 0x20007000 : 0x10066001;
}

/// Returns the configuration of a CONFIG word; null if the word matches none.
constexpr const Config* config_of(uint32_t word) {
  for (const Config& config : kConfigs) {
    const uint32_t macs = log2_of(config.macs);
    if (static_cast<uint32_t>(config.generation) == product_of(word) &&
        macs == macs_log2_of(word)) {
      return &config;
    }
  }
  return nullptr;
}

struct DriverPayload {
  uint8_t cop_version = 1;  // 1: COP1, 2: COP2
  uint32_t config = 0;
  uint32_t id = 0;
  uint32_t addressing = 0;     // COP2
  uint64_t staging_bytes = 0;  // COP2
  uint32_t stream_offset = 0;  // bytes from the start of the payload
  uint32_t stream_words = 0;
};

namespace driver_payload_detail {

/// Reads the words of a payload in order. Reads past the end return 0 and are recorded.
struct Words {
  const uint8_t* data;
  uint32_t bytes;
  uint32_t at = 0;
  bool ended = false;
  uint32_t next() {
    if (bytes - at < 4) {
      ended = true;
      return 0;
    }
    const uint8_t* const p = data + at;
    at += 4;
    return static_cast<uint32_t>(p[0]) | static_cast<uint32_t>(p[1]) << 8 |
           static_cast<uint32_t>(p[2]) << 16 | static_cast<uint32_t>(p[3]) << 24;
  }
  [[nodiscard]] uint32_t left() const { return bytes - at; }
};

inline bool take_stream(const Words& words, uint32_t count, DriverPayload& payload) {
  payload.stream_offset = words.at;
  payload.stream_words = count;
  return words.at % kStreamAlignment == 0 && count != 0 && count <= kStreamWordsMax &&
         uint64_t{count} * 4 == words.left();
}

inline bool read_cop1(Words& words, DriverPayload& payload) {
  bool configured = false;
  while (!words.ended) {
    const uint32_t action = words.next();
    switch (action & 255) {
      case kActionConfig:
        payload.config = words.next();
        payload.id = words.next();
        configured = true;
        break;
      case kActionNothing:
        break;
      case kActionStream:
        return configured && take_stream(words, (action >> 8 & 255) << 16 | action >> 16, payload);
      default:
        return false;
    }
  }
  return false;
}

inline bool read_cop2(Words& words, DriverPayload& payload) {
  payload.cop_version = 2;
  const uint32_t version = words.next();
  const uint32_t length = words.next();
  if (words.next() != 0 || (version & 0xFFFF) != 1 || length != words.left()) return false;
  const uint32_t entry = words.next();
  const uint32_t entry_bytes = words.next();
  if (entry != 1 || entry_bytes != words.left()) return false;
  const uint32_t start = words.at;
  const uint32_t size = words.next();
  const uint32_t magic = words.next();
  const uint32_t metadata_version = words.next();
  const uint32_t rest = words.next();
  if (magic != kMetadataMagic || metadata_version != 1 || size < 36 || rest != size - 16) {
    return false;
  }
  payload.config = words.next();
  payload.id = words.next();
  payload.addressing = words.next();
  payload.staging_bytes = words.next();
  payload.staging_bytes |= uint64_t{words.next()} << 32;
  if (words.ended || size > words.bytes - start) return false;
  const uint32_t stream = (start + size + kStreamAlignment - 1) & ~(kStreamAlignment - 1);
  if (stream > words.bytes) return false;
  words.at = stream;
  return take_stream(words, words.left() / 4, payload);
}

}  // namespace driver_payload_detail

/// Returns true if the bytes are a valid payload; its stream is then inside the bytes. Otherwise
/// `*stopped` is the offset at which reading ended: after the invalid word, or the end of the
/// bytes.
[[nodiscard]] inline bool read_driver_payload(const uint8_t* data, uint32_t bytes,
                                              DriverPayload& payload, uint32_t* stopped = nullptr) {
  driver_payload_detail::Words words = {data, bytes};
  const uint32_t magic = words.next();
  const bool good = magic == kCop1
                        ? driver_payload_detail::read_cop1(words, payload)
                        : magic == kCop2 && driver_payload_detail::read_cop2(words, payload);
  if (stopped != nullptr) *stopped = words.at;
  return good;
}

}  // namespace thimble::ethos_u
