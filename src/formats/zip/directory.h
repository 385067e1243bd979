// SPDX-License-Identifier: Apache-2.0
#pragma once
// The directory of a zip archive. A library is not used: of libzip, Debian has no static library,
// and minizip 1.1 reads zeros beyond the end of a file, no archive without members, and no ZIP64
// sizes on 64-bit systems. The layout is that of PKWARE's APPNOTE.TXT 6.3.10, whose sections are
// cited.

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::zip {

/// Reads ranges of a file, or of bytes in memory.
class Input {
 public:
  Input() = default;
  explicit Input(Bytes bytes) : bytes_(std::move(bytes)), size_bytes_(bytes_.size()) {}
  Input(std::ifstream file, uint64_t size_bytes)
      : file_(std::move(file)), size_bytes_(size_bytes) {}

  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }
  /// Returns false if the input ends before, or the file cannot be read.
  [[nodiscard]] bool read(uint64_t offset, std::span<std::byte> to);
  /// True if the file could not be read by the last read().
  [[nodiscard]] bool has_failed() const { return failed_; }
  /// The errno of this failure; 0: not known.
  [[nodiscard]] int error() const { return error_; }

 private:
  Bytes bytes_;
  std::ifstream file_;
  uint64_t size_bytes_ = 0;
  bool failed_ = false;
  int error_ = 0;
};

/// A row of the directory (4.3.12), with the values of the ZIP64 field (4.5.3).
struct Entry {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t size_compressed_bytes = 0;
  uint64_t size_bytes = 0;
  uint64_t local_header = 0;  // offset
};

inline constexpr uint16_t kFlagEncrypted = 1;
inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kDeflated = 8;

/// Returns the entries in the archive's order. `name` names the archive in messages.
[[nodiscard]] Result<std::vector<Entry>> read_directory(Input& input, const std::string& name);

/// Returns the offset of the member's data, after its local header (4.3.7); 0 if the header is
/// damaged or the data is not within the archive.
[[nodiscard]] uint64_t data_offset(Input& input, const Entry& entry);

}  // namespace thimble::formats::zip
