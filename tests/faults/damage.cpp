#include "tests/faults/damage.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "tests/fuzz/mutate.h"

namespace thimble::faults {
namespace {

constexpr uint64_t kLimits[] = {0,
                                1,
                                2,
                                0x7F,
                                0x80,
                                0xFF,
                                0x7FFF,
                                0x8000,
                                0xFFFF,
                                0x10000,
                                0x7FFFFFFF,
                                0x80000000,
                                0xFFFFFFFF,
                                0x100000000,
                                0x7FFFFFFFFFFFFFFF,
                                0x8000000000000000,
                                0xFFFFFFFFFFFFFFFF};

uint32_t word_at(ByteView bytes, size_t at, size_t size = 4) {
  uint32_t value = 0;
  if (at + size <= bytes.size()) std::memcpy(&value, bytes.data() + at, size);
  return value;
}

void put(Bytes& bytes, size_t at, uint64_t value, size_t size) {
  if (at + size <= bytes.size()) std::memcpy(bytes.data() + at, &value, size);
}

/// Writes a limit of integer types, or a value near the present one.
void change_integer(Bytes& bytes, size_t at, size_t size, Random& random) {
  uint64_t value = kLimits[below(random, std::size(kLimits))];
  if (random() % 2 == 0) {
    value = word_at(bytes, at, std::min<size_t>(size, 4)) + below(random, 17) - 8;
  }
  put(bytes, at, value, size);
}

// --- texts -----------------------------------------------------------------------------------

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-' ||
         c == '+';
}

/// A word of the text: a number, a name or a part of a string. Empty near the end of the text.
std::pair<size_t, size_t> random_word(std::string_view text, Random& random) {
  size_t begin = below(random, text.size());
  while (begin < text.size() && !is_word(text[begin])) ++begin;
  size_t end = begin;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end};
}

bool is_number(std::string_view word) {
  return !word.empty() && (std::isdigit(static_cast<unsigned char>(word[0])) != 0 ||
                           (word[0] == '-' && word.size() > 1));
}

std::string random_number(std::string_view old, Random& random) {
  static constexpr const char* kTexts[] = {"0",
                                           "-1",
                                           "1",
                                           "2",
                                           "7",
                                           "127",
                                           "128",
                                           "255",
                                           "65536",
                                           "2147483647",
                                           "-2147483648",
                                           "4294967296",
                                           "1e30",
                                           "-0.0",
                                           "1e-45",
                                           "0.5",
                                           "1000000",
                                           "9223372036854775807",
                                           "-9223372036854775808",
                                           "18446744073709551616"};
  if (random() % 2 == 0) return kTexts[below(random, std::size(kTexts))];
  std::string changed(old);
  char& digit = changed[below(random, changed.size())];
  if (std::isdigit(static_cast<unsigned char>(digit)) != 0) {
    digit = static_cast<char>('0' + below(random, 10));
  }
  return changed;
}

void change_word(std::string& text, std::string_view other, Random& random) {
  auto [begin, end] = random_word(text, random);
  // Another number is more often valid than another name.
  for (int tries = 0; tries < 3 && !is_number(text.substr(begin, end - begin)); ++tries) {
    std::tie(begin, end) = random_word(text, random);
  }
  if (begin == end) return;
  const std::string old = text.substr(begin, end - begin);
  if (is_number(old)) {
    text.replace(begin, end - begin, random_number(old, random));
    return;
  }
  if (old == "true" || old == "false" || old == "null") {
    text.replace(begin, end - begin, random() % 2 == 0 ? "false" : "true");
    return;
  }
  // A name becomes another name, of this text or of the other one.
  const std::string_view from = random() % 4 == 0 ? other : std::string_view(text);
  const auto [first, last] = random_word(from, random);
  const std::string word(from.substr(first, last - first));
  if (!word.empty() && !is_number(word)) text.replace(begin, end - begin, word);
}

/// Begin and end of a line, with its end.
std::pair<size_t, size_t> random_line(std::string_view text, Random& random) {
  const size_t at = below(random, text.size());
  const size_t before = text.rfind('\n', at == 0 ? 0 : at - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = text.find('\n', at);
  return {std::min(begin, text.size()), end == std::string_view::npos ? text.size() : end + 1};
}

void change_line(std::string& text, std::string_view other, Random& random) {
  const auto [begin, end] = random_line(text, random);
  if (begin >= end) return;
  switch (random() % 3) {
    case 0:
      text.erase(begin, end - begin);
      return;
    case 1:
      text.insert(begin, text.substr(begin, end - begin));
      return;
    default: {
      const auto [first, last] = random_line(other, random);
      if (first < last) text.insert(begin, other.substr(first, last - first));
    }
  }
}

std::string change_text(std::string text, std::string_view other, bool has_lines, Random& random) {
  for (size_t left = 1 + below(random, 3); left > 0 && !text.empty(); --left) {
    if (has_lines && random() % 5 == 0) {
      change_line(text, other, random);
    } else if (random() % 24 == 0) {
      text[below(random, text.size())] = static_cast<char>(random());
    } else {
      change_word(text, other, random);
    }
  }
  return text;
}

Bytes bytes_of(std::string_view text) {
  return formats::testing::to_bytes(text);
}

// --- arrays and archives ---------------------------------------------------------------------

/// The text of the header of a .npy after the magic, version and length.
constexpr size_t kNpyText = 10;

Bytes change_npy(const Bytes& bytes, const Bytes& other, Random& random) {
  const size_t length = word_at(bytes, 8, 2);
  if (kNpyText + length > bytes.size() || random() % 8 == 0) {
    return fuzz::mutate(bytes, other, random);
  }
  const std::string_view file = as_text(bytes);
  std::string header = change_text(std::string(file.substr(kNpyText, length)),
                                   file.substr(kNpyText, length), false, random);
  if (random() % 16 != 0) header.resize(length, ' ');  // as the length says
  Bytes changed = bytes_of(std::string(file.substr(0, kNpyText)) + header +
                           std::string(file.substr(kNpyText + length)));
  if (random() % 4 == 0) changed.resize(changed.size() - below(random, changed.size() / 4));
  return changed;
}

bool ends_with(const std::string& name, std::string_view end) {
  return name.ends_with(end);
}

void change_member(formats::testing::ZipMember& member, const formats::testing::ZipMember& other,
                   Random& random) {
  if (ends_with(member.name, ".npy")) {
    member.bytes = change_npy(member.bytes, other.bytes, random);
  } else if (ends_with(member.name, ".json")) {
    member.bytes = bytes_of(
        change_text(std::string(as_text(member.bytes)), as_text(member.bytes), false, random));
  } else {
    member.bytes = fuzz::mutate(std::move(member.bytes), other.bytes, random);
  }
}

/// The archive around the members: a wrong sum, size or method, or an additional member.
void change_archive(std::vector<formats::testing::ZipMember>& members,
                    const std::vector<formats::testing::ZipMember>& others, Random& random) {
  if (members.empty()) return;
  formats::testing::ZipMember& member = members[below(random, members.size())];
  const auto word = [&] { return static_cast<uint32_t>(kLimits[below(random, 13)]); };
  switch (random() % 7) {
    case 0:
      member.crc = static_cast<uint32_t>(random());
      return;
    case 1:
      member.size = word();
      return;
    case 2:
      member.size_compressed = word();
      return;
    case 3:
      member.method = static_cast<uint16_t>(word());
      return;
    case 4:
      member.flags = static_cast<uint16_t>(1U << below(random, 16));
      return;
    case 5:
      if (!others.empty()) members.push_back(others[below(random, others.size())]);
      return;
    default:
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(below(random, members.size())));
  }
}

// --- FlatBuffers -----------------------------------------------------------------------------

constexpr size_t kFrameBytes = 8;  // root and identifier

/// Offsets, from the start of the table, of the fields of a table; vtable as FlatBuffers defines
/// it.
struct Table {
  size_t at = 0, vtable = 0, entries = 0;
};

Table table_at(ByteView bytes, size_t at) {
  const size_t vtable = at - static_cast<size_t>(static_cast<int32_t>(word_at(bytes, at)));
  return {at, vtable, word_at(bytes, vtable, 2) / 2};
}

bool is_table(ByteView bytes, size_t at) {
  const int64_t vtable = static_cast<int64_t>(at) - static_cast<int32_t>(word_at(bytes, at));
  if (vtable < 0 || vtable % 2 != 0 || vtable + 4 > static_cast<int64_t>(bytes.size()))
    return false;
  const auto start = static_cast<size_t>(vtable);
  const size_t vtable_bytes = word_at(bytes, start, 2), table_bytes = word_at(bytes, start + 2, 2);
  if (start == at || vtable_bytes < 4 || vtable_bytes > 256 || vtable_bytes % 2 != 0) return false;
  if (table_bytes < 4 || table_bytes > 512 || at + table_bytes > bytes.size()) return false;
  if (start + vtable_bytes > bytes.size()) return false;
  for (size_t i = 4; i < vtable_bytes; i += 2) {
    const size_t field = word_at(bytes, start + i, 2);
    if (field != 0 && (field < 4 || field >= table_bytes)) return false;
  }
  return true;
}

void change_table(Bytes& bytes, const Input& input, Random& random) {
  const Table table = table_at(bytes, input.tables[below(random, input.tables.size())]);
  if (table.entries <= 2) return;
  const size_t entry = table.vtable + 2 * (2 + below(random, table.entries - 2));
  const size_t field = word_at(bytes, entry, 2);
  const size_t place = table.at + field;
  switch (field == 0 ? 2 + random() % 2 : random() % 8) {
    case 0:
    case 1: {  // another table, or any word after this one, becomes the target
      size_t to = input.tables[below(random, input.tables.size())];
      if (random() % 2 == 0) to = place + 4 * below(random, (bytes.size() - place) / 4 + 1);
      put(bytes, place, to - place, 4);
      return;
    }
    case 2:
      change_integer(bytes, entry, 2, random);
      return;
    case 3:  // a field takes the place of another one, or is absent
      put(bytes, entry,
          random() % 2 == 0
              ? 0
              : word_at(bytes, table.vtable + 4 + 2 * below(random, table.entries - 2), 2),
          2);
      return;
    case 4:  // the length of a vector, or what is there
      change_integer(bytes, place + word_at(bytes, place), 4, random);
      return;
    case 5: {  // an element of a vector
      const size_t vector = place + word_at(bytes, place);
      const size_t count = word_at(bytes, vector);
      change_integer(bytes, vector + 4 + 4 * below(random, std::min<size_t>(count, 4096)), 4,
                     random);
      return;
    }
    default:
      change_integer(bytes, place, size_t{1} << below(random, 4), random);
  }
}

void change_structure(Bytes& bytes, const Input& input, Random& random) {
  constexpr size_t kStructureBytes = 768;  // of the structure at a mark
  const size_t from = input.marks[below(random, input.marks.size())];
  const size_t bytes_there = std::min(bytes.size() - from, kStructureBytes);
  const size_t size = size_t{1} << (1 + below(random, 2));
  change_integer(bytes, from + size * below(random, bytes_there / size), size, random);
}

}  // namespace

void prepare_zip(Input& input) {
  const auto archive = formats::zip::Archive::open(input.bytes, input.name);
  if (!archive) throw std::runtime_error(archive.error().message);
  for (const formats::zip::Member& member : archive->members()) {
    auto bytes = archive->read(member.name);
    if (!bytes) throw std::runtime_error(bytes.error().message);
    input.members.push_back({member.name, std::move(*bytes), 0, 0, {}, {}, {}});
  }
}

void prepare_flatbuffer(Input& input) {
  for (uint32_t at = kFrameBytes; at + 4 <= input.bytes.size(); at += 4) {
    if (is_table(input.bytes, at)) input.tables.push_back(at);
  }
  if (input.tables.empty()) throw std::runtime_error(input.name + ": no tables");
  // Records of a native .pte, and payloads of delegates.
  for (const std::string_view mark : {"THMB", "TAXN", "vela_bin_stream", "COP1", "COP2", "eh00"}) {
    size_t at = as_text(input.bytes).find(mark);
    for (; at != std::string_view::npos; at = as_text(input.bytes).find(mark, at + 1)) {
      input.marks.push_back(static_cast<uint32_t>(at & ~size_t{3}));
    }
  }
}

Bytes damage_zip(const Input& input, const Input& other, Random& random) {
  if (random() % 16 == 0) return fuzz::mutate(input.bytes, other.bytes, random);
  auto members = input.members;
  for (size_t left = 1 + below(random, 3); left > 0 && !members.empty(); --left) {
    if (random() % 8 == 0) {
      change_archive(members, other.members, random);
      continue;
    }
    // Half of the changes are in texts, which have the structure of a model.
    size_t which = below(random, members.size());
    for (size_t tries = 0; random() % 2 == 0 && tries < 8; ++tries) {
      if (ends_with(members[which].name, ".json")) break;
      which = below(random, members.size());
    }
    if (other.members.empty()) break;
    change_member(members[which], other.members[below(random, other.members.size())], random);
  }
  return formats::testing::make_zip(members);
}

Bytes damage_npy(const Input& input, const Input& other, Random& random) {
  return change_npy(input.bytes, other.bytes, random);
}

Bytes damage_flatbuffer(const Input& input, const Input& other, Random& random) {
  if (random() % 16 == 0) return fuzz::mutate(input.bytes, other.bytes, random);
  Bytes bytes = input.bytes;
  for (size_t left = 1 + below(random, 3); left > 0; --left) {
    const uint64_t choice = random() % 8;
    if (choice == 0) {
      bytes[below(random, bytes.size())] ^= std::byte{1} << below(random, 8);
    } else if (choice <= 3 && !input.marks.empty()) {
      change_structure(bytes, input, random);
    } else {
      change_table(bytes, input, random);
    }
  }
  std::copy_n(input.bytes.begin(), kFrameBytes, bytes.begin());
  return bytes;
}

Bytes damage_text(const Input& input, const Input& other, Random& random) {
  return bytes_of(
      change_text(std::string(as_text(input.bytes)), as_text(other.bytes), true, random));
}

Bytes damage_words(ByteView bytes, ByteView other, size_t kept, Random& random) {
  Bytes changed(bytes.begin(), bytes.end());
  kept = std::min(kept, changed.size());
  for (size_t left = 1 + below(random, 3); left > 0 && changed.size() > kept; --left) {
    const size_t size = size_t{1} << below(random, 3);
    const size_t at = kept + size * below(random, (changed.size() - kept) / size + 1);
    if (random() % 6 == 0 && at < other.size()) {
      const size_t count = std::min({changed.size() - std::min(at, changed.size()),
                                     other.size() - at, 1 + below(random, 64)});
      std::copy_n(other.begin() + static_cast<std::ptrdiff_t>(at), count,
                  changed.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      change_integer(changed, at, size, random);
    }
  }
  if (random() % 24 == 0) changed.resize(below(random, changed.size()));
  if (random() % 24 == 0 && kept != 0) change_integer(changed, below(random, kept), 4, random);
  return changed;
}

Bytes damage_stream(const Input& input, const Input& other, Random& random) {
  constexpr uint32_t kHasValue = 0x4000;  // the next word is the command's value
  Bytes bytes = input.bytes;
  for (size_t left = 1 + below(random, 3); left > 0; --left) {
    std::vector<size_t> commands;
    for (size_t at = 0; at + 4 <= bytes.size();) {
      commands.push_back(at);
      at += (word_at(bytes, at) & kHasValue) != 0 ? 8 : 4;
    }
    if (commands.empty()) return bytes;
    const size_t at = commands[below(random, commands.size())];
    const size_t size = (word_at(bytes, at) & kHasValue) != 0 ? 8 : 4;
    const auto iterator = [&](size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
    switch (random() % 10) {
      case 0:
        bytes.erase(iterator(at), iterator(std::min(at + size, bytes.size())));
        break;
      case 1: {  // a command of this or another stream is inserted
        const size_t from = 4 * below(random, other.bytes.size() / 4);
        const size_t count = (word_at(other.bytes, from) & kHasValue) != 0 ? 8 : 4;
        if (from + count > other.bytes.size()) break;
        bytes.insert(iterator(at), other.bytes.begin() + static_cast<std::ptrdiff_t>(from),
                     other.bytes.begin() + static_cast<std::ptrdiff_t>(from + count));
        break;
      }
      case 2:
        bytes[below(random, bytes.size())] ^= std::byte{1} << below(random, 8);
        break;
      case 3:
        if (random() % 4 == 0) bytes.resize(4 * below(random, bytes.size() / 4));
        break;
      default:
        if (size == 8 && random() % 2 == 0) {
          change_integer(bytes, at + 4, 4, random);
        } else {
          change_integer(bytes, at + 2, 2, random);
        }
    }
  }
  return bytes;
}

}  // namespace thimble::faults
