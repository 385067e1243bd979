#pragma once
// The marker of a network that is compiled into the firmware: the payload of the delegate
// AxonBackend. "AXNG", the version, the bytes of the name, the name, zeros up to a multiple of
// four; all numbers little-endian. The name is what the generated header calls the network: that of
// the model and twelve hexadecimal digits of a hash of its content.

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
  const char* name = nullptr;  // without a zero behind it
  uint32_t name_bytes = 0;
};

/// False for anything that is no marker of this version.
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
