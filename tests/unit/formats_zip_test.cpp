// SPDX-License-Identifier: Apache-2.0
// The zip reader: for any bytes, an error names the member, and nothing large is allocated.

#include "formats/zip/zip.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/unit/folder.h"
#include "tests/unit/formats_test_support.h"

namespace thimble::formats::zip {
namespace {

using testing::deflated;
using testing::make_zip;
using testing::to_bytes;
using testing::ZipMember;

ZipMember stored(std::string name, std::string_view text) {
  return {std::move(name), to_bytes(text), 0, 0, {}, {}, {}};
}

/// Returns the error message of opening the archive, or of reading `member`.
std::string failure(const std::vector<ZipMember>& members, std::string_view member = {}) {
  auto archive = Archive::open(make_zip(members), "a.zip");
  if (!archive) return archive.error().message;
  const auto bytes = archive->read(member);
  return bytes ? "no error" : bytes.error().message;
}

TEST(Zip, ListsAndReadsStoredMembers) {
  auto archive =
      Archive::open(make_zip({stored("top/a", "one"), stored("top/", ""), stored("b", "")}), "a");
  ASSERT_TRUE(archive) << archive.error().message;
  ASSERT_EQ(archive->members().size(), 2U);
  EXPECT_EQ(archive->members()[0].name, "top/a");
  EXPECT_EQ(archive->members()[0].size_bytes, 3U);
  EXPECT_EQ(archive->find("top/b"), nullptr);
  EXPECT_EQ(as_text(*archive->read("top/a")), "one");
  EXPECT_TRUE(archive->read("b")->empty());
  EXPECT_EQ(as_text(*archive->read("top/a")), "one") << "a member can be read again";
}

TEST(Zip, ReadsDeflatedMembers) {
  const std::string text(200'000, 'x');
  auto archive = Archive::open(make_zip({deflated("x", as_byte_view(text))}), "a.zip");
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_TRUE(archive->members()[0].is_compressed);
  EXPECT_EQ(as_text(*archive->read("x")), text);
}

TEST(Zip, ReadsFromAFile) {
  const test::Folder folder;
  const auto path = folder.path() / "archive.zip";
  const Bytes bytes = make_zip({stored("a", "one")});
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  auto archive = Archive::open(path);
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(as_text(*archive->read("a")), "one");
  EXPECT_EQ(archive->name(), path.string());
}

/// Appends integers of the given sizes in bytes, the lowest byte first.
void put(Bytes& to, std::initializer_list<std::pair<int, uint64_t>> fields) {
  for (const auto& [size, value] : fields) {
    for (int i = 0; i < size; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

TEST(Zip, ReadsAnArchiveWithoutMembers) {
  Bytes end;
  put(end, {{4, 0x06054b50}, {2, 0}, {2, 0}, {2, 0}, {2, 0}, {4, 0}, {4, 0}, {2, 0}});
  auto archive = Archive::open(end, "a.zip");
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_TRUE(archive->members().empty());
}

TEST(Zip, ReadsZip64) {
  constexpr uint64_t kNone = 0xffffffff;  // the size is in the extra field
  constexpr uint64_t kCrc = 0x7a6c86f1;   // of "one"
  Bytes zip;
  put(zip, {{4, 0x04034b50}, {2, 45}, {2, 0}, {2, 0}, {4, 0}, {4, kCrc}, {4, kNone}, {4, kNone}});
  put(zip, {{2, 1}, {2, 20}, {1, 'a'}, {2, 1}, {2, 16}, {8, 3}, {8, 3}});
  put(zip, {{1, 'o'}, {1, 'n'}, {1, 'e'}});
  const uint64_t directory = zip.size();
  put(zip, {{4, 0x02014b50}, {2, 45}, {2, 45}, {2, 0}, {2, 0}, {4, 0}, {4, kCrc}, {4, kNone}});
  put(zip, {{4, kNone}, {2, 1}, {2, 28}, {2, 0}, {2, 0}, {2, 0}, {4, 0}, {4, kNone}, {1, 'a'}});
  put(zip, {{2, 1}, {2, 24}, {8, 3}, {8, 3}, {8, 0}});
  const uint64_t end = zip.size();
  put(zip, {{4, 0x06064b50}, {8, 44}, {2, 45}, {2, 45}, {4, 0}, {4, 0}, {8, 1}, {8, 1}});
  put(zip, {{8, end - directory}, {8, directory}});
  put(zip, {{4, 0x07064b50}, {4, 0}, {8, end}, {4, 1}});
  put(zip, {{4, 0x06054b50}, {2, 0}, {2, 0}, {2, 0xffff}, {2, 0xffff}, {4, kNone}, {4, kNone}});
  put(zip, {{2, 0}});
  auto archive = Archive::open(zip, "a.zip");
  ASSERT_TRUE(archive) << archive.error().message;
  ASSERT_EQ(archive->members().size(), 1U);
  EXPECT_EQ(archive->members()[0].size_bytes, 3U);
  const auto bytes = archive->read("a");
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(as_text(*bytes), "one");
}

TEST(Zip, MovedArchiveObjectIsReadable) {
  auto archive = Archive::open(make_zip({stored("a", "one")}), "a.zip");
  Archive moved = std::move(*archive);
  EXPECT_EQ(as_text(*moved.read("a")), "one");
}

TEST(Zip, SaysWhyAFileCannotBeOpened) {
  EXPECT_NE(Archive::open(std::filesystem::path("/nowhere/x.zip"))
                .error()
                .message.find("/nowhere/x.zip: no such file"),
            std::string::npos);
  EXPECT_NE(
      Archive::open(std::filesystem::temp_directory_path()).error().message.find("is a folder"),
      std::string::npos);
  EXPECT_NE(Archive::open(to_bytes("no zip at all"), "x")
                .error()
                .message.find("x: not a zip archive: it begins with 6e 6f 20 7a, expected 50 4b"),
            std::string::npos);
  EXPECT_NE(Archive::open(to_bytes("PK\003\004 and no directory"), "x")
                .error()
                .message.find("x: not a readable zip archive"),
            std::string::npos);
  EXPECT_FALSE(Archive::open(Bytes{}, "empty"));
}

TEST(Zip, EveryTruncationIsAnError) {
  const Bytes bytes = make_zip({stored("a", "one"), stored("b", "two")});
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto archive =
        Archive::open(Bytes(bytes.begin(), bytes.begin() + static_cast<long>(size)), "t");
    EXPECT_FALSE(archive) << size;
  }
}

TEST(Zip, RefusesPathsOutsideArchive) {
  for (const std::string name :
       {"../a", "a/../../b", "/etc/passwd", "a/..", "C:/x", "a\\b", ".."}) {
    EXPECT_EQ(failure({stored(name, "x")}),
              "a.zip: " + name + ": has an unsafe name, expected a relative path without '..'");
  }
  EXPECT_EQ(failure({stored("a..b/.data/c", "x")}, "a..b/.data/c"), "no error");
}

TEST(Zip, ControlCharactersInNamesAreEscaped) {
  EXPECT_EQ(failure({stored("\x1b[2Jx", "x")}),
            "a.zip: ?[2Jx: has an unsafe name, expected a relative path without '..'");
}

TEST(Zip, RefusesDuplicates) {
  EXPECT_EQ(failure({stored("a", "1"), stored("a", "2")}),
            "a.zip: a: the archive has two members of this name");
}

TEST(Zip, RefusesEncryptedMembers) {
  ZipMember member = stored("a", "xxxxxxxxxxxxxxxx");
  member.flags = 1;
  EXPECT_EQ(failure({member}), "a.zip: a: is encrypted");
}

TEST(Zip, RefusesOtherCompression) {
  ZipMember member = stored("a", "x");
  member.method = 12;
  EXPECT_EQ(failure({member}), "a.zip: a: uses compression method 12, expected stored or deflated");
}

TEST(Zip, LocatesADamagedMember) {
  ZipMember member = stored("a", "one");
  member.crc = 1;
  EXPECT_EQ(failure({stored("b", "fine"), member}, "a"), "a.zip: a: CRC error");
  EXPECT_EQ(failure({stored("b", "fine"), member}, "b"), "no error");
  EXPECT_EQ(failure({member}, "c"), "a.zip: c: the archive has no such member");
}

TEST(Zip, RefusesBombs) {
  ZipMember bomb = deflated("zeros", as_byte_view(std::string(1000, '\0')));
  bomb.size = 4'000'000'000U;
  EXPECT_EQ(failure({bomb}),
            "a.zip: zeros: would inflate from 1005 to 4000000000 bytes, more than 100 times");

  ZipMember liar = stored("a", "one");
  liar.size = 300;
  EXPECT_EQ(failure({liar}), "a.zip: a: is stored with 3 bytes but claims 300");

  ZipMember beyond = stored("a", "one");
  beyond.size = beyond.size_compressed = 1'000'000;
  EXPECT_NE(failure({beyond}, "a"), "no error");
}

TEST(Zip, RefusesMembersThatOverlap) {
  // Each of the two members claims nearly the whole file.
  ZipMember first = stored("a", std::string(1000, 'x'));
  first.size = first.size_compressed = 1100;
  ZipMember second = first;
  second.name = "b";
  second.bytes = to_bytes("x");
  EXPECT_NE(failure({first, second}).find("members overlap"), std::string::npos);
}

TEST(Zip, DetectsWrongSizesWithinLimits) {
  const std::string text(1000, 'x');
  ZipMember longer = deflated("a", as_byte_view(text));
  longer.size = 900;
  EXPECT_NE(failure({longer}, "a"), "no error");
  ZipMember shorter = deflated("a", as_byte_view(text));
  shorter.size = 50'000;
  EXPECT_NE(failure({shorter}, "a"), "no error");
}

}  // namespace
}  // namespace thimble::formats::zip
