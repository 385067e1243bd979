// SPDX-License-Identifier: Apache-2.0
#include "tools/output.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <system_error>

#include "base/control_characters.h"
#include "base/replace_file.h"
#include "driver/stage_files.h"

namespace thimble::tools {

namespace fs = std::filesystem;

std::string printable(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    const bool escaped = base::is_control_character(letter) && letter != '\n';
    result += escaped ? fmt::format("\\x{:02x}", letter) : std::string(1, letter);
  }
  return result;
}

int fail(const Error& error, bool json) {
  const int code = error.kind == ErrorKind::kUnsupported ? 1 : 2;
  std::fprintf(stderr, "%s\n", printable(error.message).c_str());
  if (json) print_json({{"error", error.message}, {"exit_code", code}});
  return code;
}

void print_json(const Json& object) {
  // Names come from files: invalid UTF-8 must not prevent the output.
  const std::string text = object.dump(2, ' ', false, Json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

namespace {

std::mutex all_mutex;
OutputFiles* all = nullptr;  // the first of the list

}  // namespace

OutputFiles::OutputFiles() {
  const std::lock_guard lock(all_mutex);
  next_ = all;
  if (next_ != nullptr) next_->previous_ = this;
  all = this;
}

OutputFiles::~OutputFiles() {
  {
    const std::lock_guard lock(all_mutex);
    if (next_ != nullptr) next_->previous_ = previous_;
    (previous_ != nullptr ? previous_->next_ : all) = next_;
  }
  remove_temporary();
}

void OutputFiles::remove_temporary() noexcept {
  std::error_code ignored;
  for (const File& file : files_) {
    fs::remove(file.temporary, ignored);
    if (!file.old.empty()) fs::remove(file.old, ignored);
  }
  folders_.remove_empty();
}

void OutputFiles::remove_temporary_of_all() noexcept {
  // Without the lock, the thread that holds it may be the one that ends the program.
  const std::unique_lock lock(all_mutex, std::try_to_lock);
  for (OutputFiles* each = all; each != nullptr; each = each->next_) each->remove_temporary();
}

Status OutputFiles::check(const fs::path& path, const std::string& shown) const {
  std::error_code error;
  if (fs::is_directory(path, error)) return bad_input("{}: is a folder", shown);
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
    return bad_input("{}: is a device or a pipe, expected a file", shown);
  }
  for (const fs::path& input : inputs_) {
    if (fs::equivalent(path, input, error)) {
      return bad_input("{}: is an input and would be overwritten", shown);
    }
  }
  if (!stages_.empty() && driver::StageFiles::is_stage_name(path.filename().string()) &&
      fs::equivalent(path.parent_path(), stages_, error)) {
    return bad_input("{}: is given for two outputs: --save-stages has such names in its folder",
                     shown);
  }
  for (const File& file : files_) {
    if (file.path == path) return bad_input("{}: is given for two outputs", shown);
  }
  return ok();
}

Status OutputFiles::add(const fs::path& given, ByteView bytes) {
  std::error_code unresolved;
  const fs::path resolved = fs::weakly_canonical(given, unresolved);
  const fs::path& path = unresolved ? given : resolved;
  THIMBLE_CHECK(check(path, given.string()));
  const fs::path temporary = base::temporary_path(path);
  files_.push_back({temporary, path});
  added_.push_back({given, static_cast<int64_t>(bytes.size())});
  return base::write_temporary(path, temporary, bytes);
}

std::vector<std::string> OutputFiles::names_in(const fs::path& folder) const {
  std::error_code error;
  std::vector<std::string> names;
  for (const File& file : files_) {
    if (fs::equivalent(file.path.parent_path(), folder, error)) {
      names.push_back(file.path.filename().string());
    }
  }
  return names;
}

Status OutputFiles::add(const fs::path& path, std::string_view text) {
  return add(path, as_byte_view(text));
}

Status OutputFiles::commit() {
  std::error_code error;
  // A second name keeps the old content until all files have their new one. Without it (a file
  // system without hard links) a file that was renamed before a failure keeps its new content.
  for (File& file : files_) {
    file.existed = fs::exists(file.path, error);
    if (!file.existed || files_.size() == 1) continue;
    file.old = file.temporary;
    file.old += ".old";
    fs::create_hard_link(file.path, file.old, error);
    if (error) file.old.clear();
  }
  Status status = ok();
  size_t renamed = 0;
  while (renamed < files_.size() && status.ok()) {
    const File& file = files_[renamed];
    fs::rename(file.temporary, file.path, error);
    if (error) {
      status = bad_input("{}: cannot be written: {}", file.path.string(), error.message());
    } else {
      ++renamed;
    }
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    File& file = files_[i];
    const bool undo = !status.ok() && i < renamed;
    error.clear();
    if (undo && !file.existed) fs::remove(file.path, error);
    if (undo && !file.old.empty()) fs::rename(file.old, file.path, error);
    if (undo && (error || (file.existed && file.old.empty()))) {
      // The second name of the old content, if there is one, is now its only one: it stays.
      status =
          bad_input("{}; {} is already the new file{}", status.error().message, file.path.string(),
                    file.old.empty() ? "" : ", the old one is " + file.old.string());
      file.old.clear();
    }
    if (!file.old.empty()) fs::remove(file.old, error);
  }
  if (status.ok()) {
    files_.clear();
    folders_.keep();
  }
  return status;
}

std::string extension(const fs::path& path) {
  std::string text = path.extension().string();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

}  // namespace thimble::tools
