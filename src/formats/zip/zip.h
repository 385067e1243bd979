#pragma once
// Read-only zip archives, the container of .pt2 and .npz. Everything that comes from the file is
// hostile until checked: `open` refuses names that leave the archive, duplicate names, encrypted
// members, overlapping members and members that inflate beyond the limits below, so a reader never
// allocates much more than the file is long.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thimble::formats::zip {

/// A model of a few hundred weights has as many members; this leaves three orders of magnitude.
inline constexpr uint64_t kMembersMax = 200'000;
/// Deflate reaches about 1000:1 on zeros; real tensors and JSON stay well below 100:1.
inline constexpr uint64_t kInflationMax = 100;
/// Members up to this size may inflate as they like: small constant tensors compress extremely.
inline constexpr uint64_t kInflationFreeBytes = 64 * 1024;
/// Sum of the sizes of all compressed members of one archive.
inline constexpr uint64_t kInflatedBytesMax = uint64_t{4} << 30;

struct Member {
  std::string name;
  uint64_t size_bytes = 0;             // uncompressed
  uint64_t size_compressed_bytes = 0;  // in the file
  bool is_compressed = false;
};

class Archive {
 public:
  /// `name` is what messages call the archive.
  static Result<Archive> open(const std::filesystem::path& path);
  static Result<Archive> open(Bytes bytes, std::string name);

  Archive(Archive&&) noexcept;
  Archive& operator=(Archive&&) noexcept;
  ~Archive();

  [[nodiscard]] const std::string& name() const;
  /// Members in archive order, folders left out.
  [[nodiscard]] const std::vector<Member>& members() const;
  [[nodiscard]] const Member* find(std::string_view member) const;
  /// The whole member, its CRC checked. Not safe to call from two threads at once.
  /// Messages call the member `shown_as` if that is given.
  [[nodiscard]] Result<Bytes> read(std::string_view member, std::string_view shown_as = {}) const;

 private:
  struct State;
  explicit Archive(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace thimble::formats::zip
