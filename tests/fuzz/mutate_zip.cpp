// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate_zip.h"

#include <algorithm>

#include "formats/zip/zip.h"
#include "tests/fuzz/mutate_json.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::fuzz {
namespace {

using formats::testing::ZipMember;

constexpr size_t kNpyHeaderAt = 10;  // after magic, version and the length of version 1

std::vector<ZipMember> members_of(Bytes bytes) {
  std::vector<ZipMember> members;
  auto archive = formats::zip::Archive::open(std::move(bytes), "x");
  if (!archive) return members;
  for (const formats::zip::Member& member : archive->members()) {
    auto content = archive->read(member.name);
    if (!content) return {};
    members.push_back({member.name, std::move(*content), 0, 0, {}, {}, {}});
  }
  return members;
}

Bytes mutate_member(const ZipMember& member, const Bytes& other, Random& random) {
  if (member.name.ends_with(".json")) return mutate_json_text(member.bytes, other, random);
  if (member.name.ends_with(".npy")) return mutate_npy(member.bytes, other, random);
  return mutate(member.bytes, other, random);
}

/// Returns the index of a member; JSON in three of four cases, if there is any.
size_t pick_member(const std::vector<ZipMember>& members, Random& random) {
  std::vector<size_t> texts;
  for (size_t i = 0; i < members.size(); ++i) {
    if (members[i].name.ends_with(".json")) texts.push_back(i);
  }
  if (texts.empty() || random() % 4 == 0) return below(random, members.size());
  return texts[below(random, texts.size())];
}

/// A wrong sum, size, method or flag, which the reader must find.
void change_header(ZipMember& member, Random& random) {
  const uint32_t value = mutate_word(static_cast<uint32_t>(member.bytes.size()), 32, random);
  switch (random() % 5) {
    case 0:
      member.crc = value;
      return;
    case 1:
      member.size = value;
      return;
    case 2:
      member.size_compressed = value;
      return;
    case 3:
      member.method = static_cast<uint16_t>(value);
      return;
    default:
      member.flags = static_cast<uint16_t>(1U << below(random, 16));
  }
}

void change_archive(std::vector<ZipMember>& members, const std::vector<ZipMember>& others,
                    Random& random) {
  const size_t at = pick_member(members, random);
  const auto iterator = members.begin() + static_cast<std::ptrdiff_t>(at);
  ZipMember& member = members[at];
  switch (random() % 16) {
    case 0:
      if (members.size() > 1) members.erase(iterator);
      return;
    case 1:
      mutate_string(member.name, random);
      return;
    case 2:
      if (!others.empty()) members.push_back(others[below(random, others.size())]);
      return;
    case 3:
      member = formats::testing::deflated(member.name, member.bytes);
      return;
    case 4:
      std::swap(member.bytes, members[below(random, members.size())].bytes);
      return;
    case 5:
      change_header(member, random);
      return;
    default: {
      if (member.method != 0) return;
      const Bytes* other = &member.bytes;
      if (!others.empty()) other = &others[below(random, others.size())].bytes;
      member.bytes = mutate_member(member, *other, random);
    }
  }
}

}  // namespace

Bytes mutate_npy(Bytes bytes, const Bytes& other, Random& random) {
  if (bytes.size() < kNpyHeaderAt || random() % 4 == 0) {
    return mutate(std::move(bytes), other, random);
  }
  const size_t length =
      std::min<size_t>(load_le<uint16_t>(bytes, kNpyHeaderAt - 2), bytes.size() - kNpyHeaderAt);
  std::string header(as_text(ByteView(bytes).subspan(kNpyHeaderAt, length)));
  if (random() % 4 == 0) {
    mutate_string(header, random);
  } else {
    // Digits and quotes are where types and shapes are.
    const size_t at = header.find_first_of("0123456789'(,<", below(random, header.size() + 1));
    constexpr std::string_view kCharacters = "0123456789<>|=fiubc'(),: -TF";
    if (at != std::string::npos) header[at] = kCharacters[below(random, kCharacters.size())];
  }
  header.resize(std::min<size_t>(header.size(), 0xFFFF));
  Bytes changed(bytes.begin(), bytes.begin() + kNpyHeaderAt - 2);
  append_le(changed, static_cast<uint16_t>(header.size()));
  append(changed, as_byte_view(header));
  append(changed, ByteView(bytes).subspan(kNpyHeaderAt + length));
  return changed;
}

Bytes mutate_zip(Bytes bytes, const Bytes& other, Random& random) {
  std::vector<ZipMember> members = members_of(bytes);
  if (members.empty()) return mutate(std::move(bytes), other, random);
  const std::vector<ZipMember> others = members_of(other);
  for (size_t left = 1 + below(random, 2); left > 0; --left) {
    change_archive(members, others, random);
  }
  return formats::testing::make_zip(members);
}

bool is_zip(ByteView bytes) {
  return !members_of(copy_of(bytes)).empty();
}

}  // namespace thimble::fuzz
