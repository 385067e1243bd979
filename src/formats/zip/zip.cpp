// SPDX-License-Identifier: Apache-2.0
#include "formats/zip/zip.h"

#include <algorithm>
#include <fstream>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#include <zlib.h>

#include "base/control_characters.h"
#include "base/read_file.h"
#include "formats/zip/directory.h"

namespace thimble::formats::zip {

namespace {

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
  return base::without_control_characters(name.substr(0, 200), '?');
}

}  // namespace

struct Archive::State {
  std::string name;
  Input input;
  std::vector<Member> members;
  std::vector<Entry> entries;  // parallel to `members`
  std::unordered_map<std::string_view, size_t> by_name;

  Error error(std::string_view member, std::string_view what) const {
    if (input.failure()) return *input.failure();
    return bad_input("{}: {}: {}", name, printable(member), what);
  }
  Status start();
  Status scan(std::vector<Entry> directory);
  Status check_size(const Member& member, const Entry& entry) const;
};

Status Archive::State::check_size(const Member& member, const Entry& entry) const {
  if ((entry.flags & kFlagEncrypted) != 0) return error(member.name, "is encrypted");
  if (entry.method != kStored && entry.method != kDeflated) {
    return error(member.name, fmt::format("uses compression method {}, expected stored or deflated",
                                          entry.method));
  }
  const uint64_t size_bytes = input.size_bytes();
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

Status Archive::State::scan(std::vector<Entry> directory) {
  members.reserve(directory.size());
  entries.reserve(directory.size());
  uint64_t total_in_file = 0;
  uint64_t total_inflated = 0;
  for (Entry& entry : directory) {
    Member member{entry.name, entry.size_bytes, entry.size_compressed_bytes,
                  entry.method != kStored};
    if (!is_safe_name(member.name)) {
      return error(member.name, "has an unsafe name, expected a relative path without '..'");
    }
    if (member.name.back() == '/' && member.size_bytes == 0) continue;
    THIMBLE_CHECK(check_size(member, entry));
    // With overlapping members a small file can describe terabytes.
    total_in_file += member.size_compressed_bytes;
    if (member.is_compressed) total_inflated += member.size_bytes;
    if (total_in_file > input.size_bytes()) {
      return error(member.name, fmt::format("members overlap: together they claim more than the "
                                            "{} bytes of the archive",
                                            input.size_bytes()));
    }
    if (total_inflated > kInflatedBytesMax) {
      return error(member.name,
                   fmt::format("members would inflate to more than {} bytes", kInflatedBytesMax));
    }
    members.push_back(std::move(member));
    entries.push_back(std::move(entry));
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

Status Archive::State::start() {
  constexpr std::string_view kMember = "PK\3\4", kEmpty = "PK\5\6";
  Bytes magic(static_cast<size_t>(std::min<uint64_t>(kMember.size(), input.size_bytes())));
  if (magic.empty()) return bad_input("{}: the file is empty", name);
  if (!input.read(0, magic)) return *input.failure();
  if (as_text(magic) != kMember && as_text(magic) != kEmpty) {
    return bad_input(
        "{}: not a zip archive: it begins with {:02x}, expected 50 4b 03 04", name,
        fmt::join(reinterpret_cast<const unsigned char*>(magic.data()),
                  reinterpret_cast<const unsigned char*>(magic.data()) + magic.size(), " "));
  }
  Result<std::vector<Entry>> directory = read_directory(input, name);
  if (directory.ok()) return scan(std::move(*directory));
  if (input.failure()) return *input.failure();
  return directory.take_failure();
}

Result<Archive> Archive::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->name = path.string();
  THIMBLE_TRY(base::InputFile file, base::open_file(path));
  state->input = Input(std::move(file));
  THIMBLE_CHECK(state->start());
  return Archive(std::move(state));
}

Result<Archive> Archive::open(Bytes bytes, std::string name) {
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->input = Input(std::move(bytes));
  THIMBLE_CHECK(state->start());
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

namespace {

/// Owns a stream of zlib.
class Inflater {
 public:
  Inflater() : code_(inflateInit2(&stream_, -MAX_WBITS)) {}
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream* operator->() { return &stream_; }
  int run() { return code_ == Z_OK ? inflate(&stream_, Z_NO_FLUSH) : code_; }

 private:
  z_stream stream_ = {};
  int code_;
};

constexpr uint64_t kInputBytes = 64 * 1024;         // read at once
constexpr uint64_t kStepBytes = uint64_t{1} << 30;  // zlib counts in unsigned int

/// Inflates the data at `offset`. Returns the reason if it is not `member.size_bytes` bytes.
Result<Bytes> inflated(Input& input, uint64_t offset, const Member& member) {
  Inflater inflater;
  Bytes from(static_cast<size_t>(std::min(kInputBytes, member.size_compressed_bytes)));
  uint64_t left = member.size_compressed_bytes;
  // The buffer grows with the data: the declared size may be a hundred times too large. It has one
  // byte more than declared, which only a longer member fills.
  const uint64_t limit = member.size_bytes + 1;
  // Reserved memory is not used before it is filled, and growing then copies nothing.
  constexpr uint64_t kReservedMax = uint64_t{256} << 20;
  Bytes bytes;
  bytes.reserve(static_cast<size_t>(std::min(limit, kReservedMax)));
  bytes.resize(static_cast<size_t>(std::min(limit, 4 * member.size_compressed_bytes + 1)));
  uint64_t done = 0;
  for (;;) {
    if (inflater->avail_in == 0 && left > 0) {
      const uint64_t count = std::min<uint64_t>(left, from.size());
      if (!input.read(offset, std::span(from).first(static_cast<size_t>(count)))) {
        return bad_input("cannot be read");
      }
      offset += count;
      left -= count;
      inflater->next_in = reinterpret_cast<Bytef*>(from.data());
      inflater->avail_in = static_cast<uInt>(count);
    }
    if (done == bytes.size()) bytes.resize(static_cast<size_t>(std::min(limit, 2 * done)));
    const auto room = static_cast<uInt>(std::min<uint64_t>(bytes.size() - done, kStepBytes));
    inflater->next_out = reinterpret_cast<Bytef*>(bytes.data() + done);
    inflater->avail_out = room;
    const int code = inflater.run();
    done += room - inflater->avail_out;
    if (done > member.size_bytes) {
      return bad_input("is longer than the {} bytes of its directory entry", member.size_bytes);
    }
    if (code == Z_STREAM_END) break;
    if (code == Z_MEM_ERROR) return bad_input("out of memory");
    if (code != Z_OK && code != Z_BUF_ERROR) return bad_input("its compressed data is damaged");
    if (inflater->avail_in == 0 && left == 0) break;
  }
  if (done < member.size_bytes) {
    return bad_input("ends after {} of {} bytes", done, member.size_bytes);
  }
  bytes.resize(static_cast<size_t>(done));
  return bytes;
}

uint32_t crc_of(ByteView bytes) {
  uLong crc = 0;
  while (!bytes.empty()) {
    const ByteView step = bytes.first(std::min<size_t>(bytes.size(), kStepBytes));
    crc = crc32(crc, reinterpret_cast<const Bytef*>(step.data()), static_cast<uInt>(step.size()));
    bytes = bytes.subspan(step.size());
  }
  return static_cast<uint32_t>(crc);
}

}  // namespace

Result<Bytes> Archive::read(std::string_view name, std::string_view shown_as) const {
  State& state = *state_;
  if (shown_as.empty()) shown_as = name;
  const auto found = state.by_name.find(name);
  if (found == state.by_name.end()) {
    return bad_input("{}: {}: the archive has no such member", state.name, printable(shown_as));
  }
  const Member& member = state.members[found->second];
  const Entry& entry = state.entries[found->second];
  const uint64_t offset = data_offset(state.input, entry);
  if (offset == 0) return state.error(shown_as, "its header is damaged");
  Bytes bytes;
  if (member.is_compressed) {
    Result<Bytes> result = inflated(state.input, offset, member);
    if (!result.ok()) return state.error(shown_as, result.error().message);
    bytes = std::move(*result);
  } else {
    bytes.resize(static_cast<size_t>(member.size_bytes));
    if (!state.input.read(offset, bytes)) return state.error(shown_as, "cannot be read");
  }
  if (crc_of(bytes) != entry.crc) return state.error(shown_as, "CRC error");
  return bytes;
}

}  // namespace thimble::formats::zip
