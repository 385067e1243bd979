#include "formats/zip/zip.h"

#include <algorithm>
#include <fstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#include <zip.h>

namespace thimble::formats::zip {

namespace {

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Handle = std::unique_ptr<zip_t, DiscardArchive>;

struct CloseMember {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using OpenMember = std::unique_ptr<zip_file_t, CloseMember>;

/// Releases libzip's error object. The caller converts its text to lower case.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t* operator&() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_;
};

/// Returns false for names with "..", an absolute path, a drive or a backslash. An unpacking tool
/// could write such a member outside its folder. No writer of .pt2 or .npz creates these names.
bool is_safe_name(std::string_view name) {
  if (name.empty() || name.front() == '/') return false;
  for (const char c : name) {
    if (c == '\\' || c == ':' || static_cast<unsigned char>(c) < 0x20) return false;
  }
  for (size_t start = 0; start <= name.size();) {
    const size_t end = std::min(name.find('/', start), name.size());
    if (name.substr(start, end - start) == "..") return false;
    start = end + 1;
  }
  return true;
}

/// Replaces control characters: those of a hostile name must not reach the terminal.
std::string printable(std::string_view name) {
  std::string text(name.substr(0, 200));
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return text;
}

}  // namespace

struct Archive::State {
  std::string name;
  Bytes bytes;  // data that `handle` reads, if the archive was opened from memory
  Handle handle;
  uint64_t size_bytes = 0;
  std::vector<Member> members;
  std::vector<uint64_t> index_in_archive;  // parallel to `members`
  std::unordered_map<std::string_view, size_t> by_name;

  Error error(std::string_view member, std::string_view what) const {
    return bad_input("{}: {}: {}", name, printable(member), what);
  }
  Status scan();
  Status check_size(const Member& member, const zip_stat_t& stat) const;
};

Status Archive::State::check_size(const Member& member, const zip_stat_t& stat) const {
  if (stat.encryption_method != ZIP_EM_NONE) return error(member.name, "is encrypted");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
    return error(member.name, fmt::format("uses compression method {}, expected stored or deflated",
                                          stat.comp_method));
  }
  if (member.size_compressed_bytes > size_bytes) {
    return error(member.name, fmt::format("claims {} bytes, the archive has {}",
                                          member.size_compressed_bytes, size_bytes));
  }
  if (!member.is_compressed && member.size_bytes != member.size_compressed_bytes) {
    return error(member.name, fmt::format("is stored with {} bytes but claims {}",
                                          member.size_compressed_bytes, member.size_bytes));
  }
  // The division avoids an overflow of the product with a hostile size.
  if (member.size_bytes > kInflationFreeBytes &&
      member.size_bytes / kInflationMax > member.size_compressed_bytes) {
    return error(member.name,
                 fmt::format("would inflate from {} to {} bytes, more than {} times",
                             member.size_compressed_bytes, member.size_bytes, kInflationMax));
  }
  return ok();
}

Status Archive::State::scan() {
  // libzip accepts an empty file as an archive without members.
  if (size_bytes == 0) return bad_input("{}: the file is empty", name);
  const zip_int64_t count = zip_get_num_entries(handle.get(), 0);
  if (count < 0 || static_cast<uint64_t>(count) > kMembersMax) {
    return bad_input("{}: {} members, at most {} are read", name, count, kMembersMax);
  }
  constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                   ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  members.reserve(static_cast<size_t>(count));
  index_in_archive.reserve(static_cast<size_t>(count));
  uint64_t total_in_file = 0;
  uint64_t total_inflated = 0;
  for (uint64_t i = 0; i < static_cast<uint64_t>(count); ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat_index(handle.get(), i, ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & kNeeded) != kNeeded) {
      return bad_input("{}: the directory entry of member {} is damaged", name, i);
    }
    Member member{stat.name, stat.size, stat.comp_size, stat.comp_method != ZIP_CM_STORE};
    if (!is_safe_name(member.name)) {
      return error(member.name, "member name leaves the archive");
    }
    if (member.name.back() == '/' && member.size_bytes == 0) continue;
    THIMBLE_CHECK(check_size(member, stat));
    // With overlapping members a small file can describe terabytes.
    total_in_file += member.size_compressed_bytes;
    if (member.is_compressed) total_inflated += member.size_bytes;
    if (total_in_file > size_bytes) {
      return error(member.name, fmt::format("members overlap: together they claim more than the "
                                            "{} bytes of the archive",
                                            size_bytes));
    }
    if (total_inflated > kInflatedBytesMax) {
      return error(member.name,
                   fmt::format("members would inflate to more than {} bytes", kInflatedBytesMax));
    }
    members.push_back(std::move(member));
    index_in_archive.push_back(i);
  }
  by_name.reserve(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    if (!by_name.emplace(members[i].name, i).second) {
      return error(members[i].name, "the archive has two members of this name");
    }
  }
  return ok();
}

Archive::Archive(std::unique_ptr<State> state) : state_(std::move(state)) {}
Archive::Archive(Archive&&) noexcept = default;
Archive& Archive::operator=(Archive&&) noexcept = default;
Archive::~Archive() = default;

namespace {

/// libzip also finds an archive after other data; here the file must start with one.
Status check_magic(std::string_view start, const std::string& name) {
  constexpr std::string_view kMember = "PK\3\4", kEmpty = "PK\5\6";
  if (start == kMember || start == kEmpty) return ok();
  return bad_input("{}: not a zip archive: it begins with {:02x}, expected 50 4b 03 04", name,
                   fmt::join(std::vector<unsigned char>(start.begin(), start.end()), " "));
}

/// Takes ownership of `source`. If `source` is null, `error` already describes the error.
Result<Handle> open_source(zip_source_t* source, ZipError& error, const std::string& name) {
  zip_t* archive = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (!archive) {
    if (source) zip_source_free(source);
    return bad_input("{}: not a readable zip archive: {}", name, error.text());
  }
  return Handle(archive);
}

}  // namespace

Result<Archive> Archive::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->name = path.string();
  std::error_code failure;
  if (std::filesystem::is_directory(path, failure)) {
    return bad_input("{}: is a folder, expected a file", state->name);
  }
  state->size_bytes = std::filesystem::file_size(path, failure);
  if (failure) return bad_input("{}: cannot be read: {}", state->name, failure.message());
  char start[4] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(start, sizeof(start));
  THIMBLE_CHECK(check_magic({start, static_cast<size_t>(file.gcount())}, state->name));
  // libzip requires UTF-8 on every system.
  const std::u8string path_utf8 = path.u8string();
  ZipError error;
  zip_source_t* source =
      zip_source_file_create(reinterpret_cast<const char*>(path_utf8.c_str()), 0, 0, &error);
  THIMBLE_TRY(state->handle, open_source(source, error, state->name));
  THIMBLE_CHECK(state->scan());
  return Archive(std::move(state));
}

Result<Archive> Archive::open(Bytes bytes, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->bytes = std::move(bytes);
  state->size_bytes = state->bytes.size();
  const std::string_view text = as_text(state->bytes);
  THIMBLE_CHECK(check_magic(text.substr(0, 4), state->name));
  ZipError error;
  zip_source_t* source =
      zip_source_buffer_create(state->bytes.data(), state->bytes.size(), 0, &error);
  THIMBLE_TRY(state->handle, open_source(source, error, state->name));
  THIMBLE_CHECK(state->scan());
  return Archive(std::move(state));
}

const std::string& Archive::name() const {
  return state_->name;
}
const std::vector<Member>& Archive::members() const {
  return state_->members;
}

const Member* Archive::find(std::string_view member) const {
  const auto found = state_->by_name.find(member);
  return found == state_->by_name.end() ? nullptr : &state_->members[found->second];
}

Result<Bytes> Archive::read(std::string_view name, std::string_view shown_as) const {
  const State& state = *state_;
  if (shown_as.empty()) shown_as = name;
  const auto found = state.by_name.find(name);
  if (found == state.by_name.end()) return state.error(shown_as, "the archive has no such member");
  const Member& member = state.members[found->second];
  const uint64_t index = state.index_in_archive[found->second];
  const OpenMember file(zip_fopen_index(state.handle.get(), index, 0));
  if (!file) return state.error(shown_as, zip_strerror(state.handle.get()));

  // A stored member cannot be longer than the file, so its full size is allocated at once. The
  // buffer of a compressed member grows with its data: the declared size may be a hundred times too
  // large.
  Bytes bytes;
  uint64_t capacity = member.is_compressed
                          ? std::min(member.size_bytes, 4 * member.size_compressed_bytes)
                          : member.size_bytes;
  uint64_t done = 0;
  while (done < member.size_bytes) {
    if (done == capacity) capacity = std::min(member.size_bytes, 2 * capacity);
    capacity = std::max<uint64_t>(capacity, 1);
    bytes.resize(static_cast<size_t>(capacity));
    const zip_int64_t got = zip_fread(file.get(), bytes.data() + done, capacity - done);
    if (got < 0) return state.error(shown_as, zip_file_strerror(file.get()));
    if (got == 0) {
      return state.error(shown_as,
                         fmt::format("ends after {} of {} bytes", done, member.size_bytes));
    }
    done += static_cast<uint64_t>(got);
  }
  // libzip checks the CRC only when it reaches the end of the member.
  char beyond = 0;
  const zip_int64_t more = zip_fread(file.get(), &beyond, 1);
  if (more < 0) return state.error(shown_as, zip_file_strerror(file.get()));
  if (more > 0) {
    return state.error(shown_as, fmt::format("is longer than the {} bytes of its directory entry",
                                             member.size_bytes));
  }
  return bytes;
}

}  // namespace thimble::formats::zip
