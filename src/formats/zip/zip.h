// SPDX-License-Identifier: Apache-2.0
#pragma once
// Read-only zip archives, the container of .pt2 and .npz. All data from the file is untrusted.
// `open` rejects unsafe names (absolute ones, or with "..", a drive, a backslash or control
// characters), duplicate names, encrypted members, overlapping members and members that inflate
// beyond the limits below, which bound the memory of a reader.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::zip {

/// Three orders of magnitude above the number of members of a model with a few hundred weights.
inline constexpr uint64_t kMembersMax = 200'000;
/// Deflate reaches about 1000:1 on zeros; tensors and JSON of real models stay well below 100:1.
inline constexpr uint64_t kInflationMax = 100;
/// Members up to this size have no inflation limit: small constant tensors compress extremely well.
inline constexpr uint64_t kInflationFreeBytes = 64 * 1024;
/// Limit for the sum of the uncompressed sizes of all compressed members of an archive, in bytes.
inline constexpr uint64_t kInflatedBytesMax = uint64_t{4} << 30;

struct Member {
  std::string name;
  uint64_t size_bytes = 0;             // uncompressed
  uint64_t size_compressed_bytes = 0;  // in the file
  bool is_compressed = false;
};

class Archive {
 public:
  static Result<Archive> open(const std::filesystem::path& path);
  /// `name` names the archive in messages.
  static Result<Archive> open(Bytes bytes, std::string name);

  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) noexcept;
  ~Archive();

  [[nodiscard]] const std::string& name() const;
  /// Members in archive order, without folders.
  [[nodiscard]] const std::vector<Member>& members() const;
  [[nodiscard]] const Member* find(std::string_view member) const;
  /// Returns the whole member after checking its CRC. Not thread-safe.
  /// Messages name the member `shown_as` if it is not empty.
  [[nodiscard]] Result<Bytes> read(std::string_view member, std::string_view shown_as = {}) const;

 private:
  struct State;
  explicit Archive(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thimble::formats::zip
