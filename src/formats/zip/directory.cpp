// SPDX-License-Identifier: Apache-2.0
#include "formats/zip/directory.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "formats/zip/zip.h"

namespace thimble::formats::zip {
namespace {

constexpr uint32_t kLocalMagic = 0x04034b50, kEntryMagic = 0x02014b50, kEndMagic = 0x06054b50,
                   kEnd64Magic = 0x06064b50, kLocator64Magic = 0x07064b50;
constexpr size_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56,
                 kLocator64Bytes = 20, kCommentBytesMax = 0xFFFF;
constexpr uint16_t kZip64Field = 1;
/// Values of fields whose number is in a ZIP64 record or field.
constexpr uint16_t kIn64Short = 0xFFFF;
constexpr uint32_t kIn64 = 0xFFFFFFFF;

/// The end record (4.3.16), with the values of the ZIP64 end record (4.3.14).
struct End {
  uint64_t offset = 0;  // of the record itself
  uint64_t entries = 0;
  uint64_t directory_bytes = 0;
  uint64_t directory = 0;  // offset
};

/// Finds the last end record whose comment is within the file.
std::optional<End> find_end(Input& input) {
  const uint64_t size = input.size_bytes();
  Bytes tail(static_cast<size_t>(std::min<uint64_t>(size, kEndBytes + kCommentBytesMax)));
  if (tail.size() < kEndBytes || !input.read(size - tail.size(), tail)) return {};
  for (size_t at = tail.size() - kEndBytes + 1; at-- > 0;) {
    if (load_le<uint32_t>(tail, at) != kEndMagic) continue;
    if (at + kEndBytes + load_le<uint16_t>(tail, at + 20) > tail.size()) continue;
    End end;
    end.offset = size - tail.size() + at;
    end.entries = load_le<uint16_t>(tail, at + 10);
    end.directory_bytes = load_le<uint32_t>(tail, at + 12);
    end.directory = load_le<uint32_t>(tail, at + 16);
    return end;
  }
  return {};
}

/// Replaces the values of `end` by those of the ZIP64 end record, if there is one. Returns false if
/// it is damaged.
bool read_end64(Input& input, End* end) {
  const bool in64 =
      end->entries == kIn64Short || end->directory_bytes == kIn64 || end->directory == kIn64;
  Bytes locator(kLocator64Bytes);
  if (!in64 || end->offset < kLocator64Bytes) return true;
  if (!input.read(end->offset - kLocator64Bytes, locator)) return false;
  if (load_le<uint32_t>(locator, 0) != kLocator64Magic) return true;
  const auto offset = load_le<uint64_t>(locator, 8);
  Bytes record(kEnd64Bytes);
  if (!input.read(offset, record) || load_le<uint32_t>(record, 0) != kEnd64Magic) return false;
  end->offset = offset;
  end->entries = load_le<uint64_t>(record, 32);
  end->directory_bytes = load_le<uint64_t>(record, 40);
  end->directory = load_le<uint64_t>(record, 48);
  return true;
}

/// Reads the ZIP64 field (4.5.3): a number for each of `values` that is kIn64, in this order.
/// Returns false if the extra fields are damaged.
bool read_field64(ByteView extra, std::initializer_list<uint64_t*> values) {
  while (extra.size() >= 4) {
    const auto id = load_le<uint16_t>(extra, 0);
    const auto bytes = load_le<uint16_t>(extra, 2);
    extra = extra.subspan(4);
    if (bytes > extra.size()) return false;
    ByteView field = extra.first(bytes);
    extra = extra.subspan(bytes);
    if (id != kZip64Field) continue;
    for (uint64_t* value : values) {
      if (*value != kIn64) continue;
      if (field.size() < 8) return false;
      *value = load_le<uint64_t>(field, 0);
      field = field.subspan(8);
    }
  }
  return true;
}

/// Reads the entry at the start of `from`, and removes it from `from`.
std::optional<Entry> read_entry(ByteView* from) {
  const ByteView bytes = *from;
  if (bytes.size() < kEntryBytes || load_le<uint32_t>(bytes, 0) != kEntryMagic) return {};
  const size_t name_bytes = load_le<uint16_t>(bytes, 28);
  const size_t extra_bytes = load_le<uint16_t>(bytes, 30);
  const size_t all_bytes = kEntryBytes + name_bytes + extra_bytes + load_le<uint16_t>(bytes, 32);
  if (all_bytes > bytes.size()) return {};
  Entry entry;
  entry.name = as_text(bytes.subspan(kEntryBytes, name_bytes));
  entry.flags = load_le<uint16_t>(bytes, 8);
  entry.method = load_le<uint16_t>(bytes, 10);
  entry.crc = load_le<uint32_t>(bytes, 16);
  entry.size_compressed_bytes = load_le<uint32_t>(bytes, 20);
  entry.size_bytes = load_le<uint32_t>(bytes, 24);
  entry.local_header = load_le<uint32_t>(bytes, 42);
  const ByteView extra = bytes.subspan(kEntryBytes + name_bytes, extra_bytes);
  if (!read_field64(extra, {&entry.size_bytes, &entry.size_compressed_bytes, &entry.local_header}))
    return {};
  *from = bytes.subspan(all_bytes);
  return entry;
}

}  // namespace

bool Input::read(uint64_t offset, std::span<std::byte> to) {
  failure_ = {};
  if (offset > size_bytes_ || to.size() > size_bytes_ - offset) return false;
  if (!file_) {
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return true;
  }
  file_->stream.clear();
  file_->stream.seekg(static_cast<std::streamoff>(offset));
  Status status = file_->read(to);
  if (status.ok()) return true;
  failure_ = status.take_failure();
  return false;
}

Result<std::vector<Entry>> read_directory(Input& input, const std::string& name) {
  std::optional<End> end = find_end(input);
  if (!end) return bad_input("{}: not a readable zip archive: its end record is missing", name);
  if (!read_end64(input, &*end) || end->directory > end->offset ||
      end->directory_bytes > end->offset - end->directory) {
    return bad_input("{}: not a readable zip archive: its end record is damaged", name);
  }
  if (end->entries > kMembersMax) {
    return bad_input("{}: {} members, at most {} are read", name, end->entries, kMembersMax);
  }
  Bytes directory(static_cast<size_t>(end->directory_bytes));
  if (!input.read(end->directory, directory)) return bad_input("{}: cannot be read", name);
  std::vector<Entry> entries;
  ByteView rest = directory;
  for (uint64_t i = 0; i < end->entries; ++i) {
    std::optional<Entry> entry = read_entry(&rest);
    if (!entry) return bad_input("{}: the directory entry of member {} is damaged", name, i);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

uint64_t data_offset(Input& input, const Entry& entry) {
  Bytes header(kLocalBytes);
  if (!input.read(entry.local_header, header) || load_le<uint32_t>(header, 0) != kLocalMagic)
    return 0;
  const uint64_t offset = entry.local_header + kLocalBytes + load_le<uint16_t>(header, 26) +
                          load_le<uint16_t>(header, 28);
  const uint64_t size = input.size_bytes();
  return offset <= size && entry.size_compressed_bytes <= size - offset ? offset : 0;
}

}  // namespace thimble::formats::zip
