// SPDX-License-Identifier: Apache-2.0
#pragma once
// The directory of a zip archive. No library is used: Debian has no static libzip, and minizip 1.1
// reads zeros after the end of a file and rejects archives without members and ZIP64 sizes on
// 64-bit systems. The layout is that of PKWARE's APPNOTE.TXT 6.3.10, whose sections are cited.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/read_file.h"
#include "base/result.h"

namespace thimble::formats::zip {

/// Reads ranges of a file, or of bytes in memory.
class Input {
 public:
  Input() = default;
  explicit Input(Bytes bytes) : bytes_(std::move(bytes)), size_bytes_(bytes_.size()) {}
  explicit Input(base::InputFile file) : file_(std::move(file)), size_bytes_(file_->size_bytes) {}

  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }
  /// Returns false if the range is not inside of the input, or the file cannot be read.
  [[nodiscard]] bool read(uint64_t offset, std::span<std::byte> to);
  /// Set if the file could not be read by the last read().
  [[nodiscard]] const Failure& failure() const { return failure_; }

 private:
  Bytes bytes_;
  std::optional<base::InputFile> file_;
  uint64_t size_bytes_ = 0;
  Failure failure_;
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
