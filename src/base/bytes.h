// SPDX-License-Identifier: Apache-2.0
#pragma once
// Views of raw bytes. Numbers are loaded byte by byte, so the alignment of the buffer and the byte
// order of the host do not matter. The caller checks every load against the size.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace thimble {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline ByteView as_byte_view(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Returns the little-endian unsigned number at `offset`. Requires `offset + sizeof(T)` to be at
/// most the size of `bytes`.
template <typename T>
[[nodiscard]] T load_le(ByteView bytes, size_t offset) {
  static_assert(std::is_unsigned_v<T>);
  uint64_t value = 0;
  for (size_t i = sizeof(T); i-- > 0;) {
    value = (value << 8) | std::to_integer<uint64_t>(bytes[offset + i]);
  }
  return static_cast<T>(value);
}

/// Appends `value` in little-endian order.
template <typename T>
void append_le(Bytes& bytes, T value) {
  static_assert(std::is_unsigned_v<T>);
  for (size_t i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<std::byte>((static_cast<uint64_t>(value) >> (8 * i)) & 0xFF));
  }
}

inline void append(Bytes& bytes, ByteView more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}
/// Appends the bytes of `record` as they are in memory.
template <typename T>
void append_record(Bytes& bytes, const T& record) {
  append(bytes, std::as_bytes(std::span(&record, 1)));
}
/// Appends zeros until the size is a multiple of `alignment`.
inline void align_size(Bytes& bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

}  // namespace thimble
