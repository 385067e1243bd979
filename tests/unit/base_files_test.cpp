// SPDX-License-Identifier: Apache-2.0
// Files and folders that are written and read: base/replace_file.h, base/read_file.h,
// base/folder.h, base/lines.h.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/folder.h"
#include "base/lines.h"
#include "base/read_file.h"
#include "base/replace_file.h"
#include "base/work_folder.h"

namespace thimble::base {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  [[nodiscard]] fs::path path(std::string_view name) const { return folder_->file(name); }
  void write(std::string_view name, std::string_view text) {
    EXPECT_TRUE(replace_file(path(name), as_byte_view(text)).ok());
  }
  [[nodiscard]] std::string read(std::string_view name) const {
    const Result<Bytes> bytes = read_file(path(name));
    return bytes.ok() ? std::string(as_text(*bytes)) : bytes.error().message;
  }

  Result<WorkFolder> folder_ = WorkFolder::create("test");
};

TEST_F(Files, AnExistingTemporaryNameIsAnError) {
  write("victim", "content");
  fs::create_symlink(path("victim"), path("link"));
  for (const char* const temporary : {"victim", "link"}) {
    const Status status = write_temporary("out", path(temporary), as_byte_view("new"));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "out: cannot be written: File exists");
  }
  EXPECT_EQ(read("victim"), "content");
}

TEST_F(Files, AFileIsReplacedWithoutARest) {
  write("file", "first");
  write("file", "second");
  EXPECT_EQ(read("file"), "second");
  EXPECT_EQ(list_folder(folder_->path())->size(), 1U);
}

TEST_F(Files, OnlyFilesAreRead) {
  EXPECT_EQ(read("absent"), path("absent").string() + ": no such file");
  fs::create_directory(path("folder"));
  EXPECT_EQ(read("folder"), path("folder").string() + ": is a folder, expected a file");
}

TEST_F(Files, OnlyAMissingFileIsReadAsEmpty) {
  write("file", "content");
  EXPECT_EQ(as_text(*read_if_exists(path("file"))), "content");
  EXPECT_TRUE(read_if_exists(path("absent"))->empty());
  fs::create_symlink("loop", path("loop"));
  const Result<Bytes> loop = read_if_exists(path("loop"));
  ASSERT_FALSE(loop.ok());
  EXPECT_EQ(loop.error().message,
            path("loop").string() + ": cannot be read: Too many levels of symbolic links");
}

TEST_F(Files, AFolderIsListedInOrder) {
  for (const char* const name : {"b", "a", "c"}) write(name, "x");
  const auto paths = list_folder(folder_->path());
  ASSERT_TRUE(paths.ok());
  EXPECT_EQ(*paths, (std::vector<fs::path>{path("a"), path("b"), path("c")}));
  const auto missing = list_folder(path("absent"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message,
            path("absent").string() + ": cannot be read: No such file or directory");
}

TEST(Lines, TextIsSplitIntoLinesAndWords) {
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(lines_of(""), Views());
  EXPECT_EQ(lines_of("\n"), Views{""});
  EXPECT_EQ(lines_of("a\n\nb"), (Views{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\r\nb\r"), (Views{"a", "b\r"}));
  EXPECT_EQ(words_of(" \t\r\n"), Views());
  EXPECT_EQ(words_of("a"), Views{"a"});
  EXPECT_EQ(words_of(" a\tbc\n d "), (Views{"a", "bc", "d"}));
}

TEST_F(Files, TheEmptyPathIsTheCurrentFolder) {
  const fs::path before = fs::current_path();
  write("file", "x");
  fs::current_path(folder_->path());
  const auto paths = list_folder("");
  fs::current_path(before);
  ASSERT_TRUE(paths.ok());
  ASSERT_EQ(paths->size(), 1U);
  EXPECT_EQ((*paths)[0].filename(), "file");
}

TEST_F(Files, NewFoldersRemainOnlyWithAFile) {
  fs::create_directory(path("old"));
  {
    NewFolders folders;
    ASSERT_TRUE(folders.make(path("old/a/b")).ok());
    ASSERT_TRUE(folders.make(path("old/a/c")).ok());
    ASSERT_TRUE(folders.make(path("new")).ok());
    write("new/file", "x");
  }
  EXPECT_TRUE(fs::exists(path("old")));
  EXPECT_FALSE(fs::exists(path("old/a")));
  EXPECT_EQ(read("new/file"), "x");
  {
    NewFolders folders;
    ASSERT_TRUE(folders.make(path("kept/a")).ok());
    folders.keep();
  }
  EXPECT_TRUE(fs::exists(path("kept/a")));
}

TEST_F(Files, ALinkToNothingStays) {
  fs::create_symlink(path("absent"), path("link"));
  {
    NewFolders folders;
    EXPECT_FALSE(folders.make(path("link")).ok());
    EXPECT_FALSE(folders.make(path("link/folder")).ok());
  }
  EXPECT_TRUE(fs::is_symlink(path("link")));
}

TEST_F(Files, AFolderInsideOfAFileIsAnError) {
  write("file", "x");
  NewFolders folders;
  const Status status = folders.make(path("file/folder"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            path("file/folder").string() + ": cannot be made: Not a directory");
}

}  // namespace
}  // namespace thimble::base
