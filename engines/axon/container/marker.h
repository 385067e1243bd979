// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marker of a network that is compiled into the firmware: the payload of the delegate AxonBackend.
// It consists of "AXNG", the version, the length of the name, the name, and zeros up to a multiple
// of four. All numbers are little-endian. The name is that of the generated header: the model's
// name and twelve hexadecimal digits of a hash of the network.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace thimble::abi::axon {

inline constexpr char kMarkerId[] = "AxonBackend";

inline constexpr uint32_t kMarkerMagic = 0x474E5841;  // "AXNG"
inline constexpr uint32_t kMarkerVersion = 1;
inline constexpr uint32_t kMarkerNameMax = 255;
inline constexpr uint32_t kMarkerHashDigits = 12;

struct MarkerHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t name_bytes;
};
static_assert(sizeof(MarkerHeader) == 12);

struct Marker {
  const char* name = nullptr;  // not zero-terminated
  uint32_t name_bytes = 0;
};

/// Returns false for bytes that are not a marker of this version.
inline bool read_marker(const uint8_t* data, uint32_t bytes, Marker& marker) {
  MarkerHeader header;
  if (bytes < sizeof header) return false;
  memcpy(&header, data, sizeof header);
  if (header.magic != kMarkerMagic || header.version != kMarkerVersion) return false;
  if (header.name_bytes == 0 || header.name_bytes > kMarkerNameMax) return false;
  const uint32_t whole = (static_cast<uint32_t>(sizeof header) + header.name_bytes + 3) / 4 * 4;
  if (bytes != whole) return false;
  marker.name = reinterpret_cast<const char*>(data) + sizeof header;
  marker.name_bytes = header.name_bytes;
  for (uint32_t i = 0; i < whole - sizeof header; ++i) {
    const bool zero = marker.name[i] == 0;
    if (zero != (i >= header.name_bytes)) return false;
  }
  return true;
}

}  // namespace thimble::abi::axon
