// SPDX-License-Identifier: Apache-2.0
#include "hostrun/board_image.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file_lock.h"
#include "base/folder.h"
#include "base/lines.h"
#include "base/process.h"
#include "base/program_folder.h"
#include "base/read_file.h"

namespace thimble::hostrun {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kBuildTimeLimit{60};

/// Returns the lines of the file; none if it does not exist.
Result<std::vector<std::string>> file_lines(const fs::path& path) {
  THIMBLE_TRY(const Bytes bytes, base::read_if_exists(path));
  const std::vector<std::string_view> lines = base::lines_of(as_text(bytes));
  return std::vector<std::string>(lines.begin(), lines.end());
}

/// The last lines of the output, which name the error.
std::string tail(const std::string& output) {
  constexpr size_t kTailBytes = 2000;
  return output.size() <= kTailBytes ? output : output.substr(output.size() - kTailBytes);
}

/// Returns, for each image that has no file of its own, the name of the image with the same
/// content. Only an installed program has this list. A line of it is "NAME OTHER".
Result<std::map<std::string, std::string>> equal_images() {
  std::map<std::string, std::string> other;
  THIMBLE_TRY(const std::vector<std::string> lines,
              file_lines(firmware_folder() / "equal_images.txt"));
  for (const std::string& line : lines) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) other[line.substr(0, space)] = line.substr(space + 1);
  }
  return other;
}

/// Returns the names of the images that exist or can be built; none for a build without images.
Result<std::vector<std::string>> image_names() {
  const fs::path folder = firmware_folder();
  THIMBLE_TRY(std::vector<std::string> names, file_lines(folder / "image_names.txt"));
  if (!names.empty()) return names;
  THIMBLE_TRY(const bool exists, base::path_exists(folder));
  if (!exists) return names;
  THIMBLE_TRY(const std::vector<fs::path> files, base::list_folder(folder));
  for (const fs::path& file : files) {
    if (file.extension() == ".elf") names.push_back(file.stem().string());
  }
  THIMBLE_TRY(const auto equal, equal_images());
  for (const auto& [name, other] : equal) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

/// A file that a build tree builds when it is first used.
struct BuiltFile {
  std::string file;    // in firmware_folder()
  std::string target;  // of CMake
  std::string what;    // for messages
  std::string missing_tool;
};

Status build(const fs::path& folder, const BuiltFile& built, std::vector<std::string> command) {
  command.push_back(built.target);
  std::fprintf(stderr, "building %s (once)\n", built.what.c_str());
  base::ProcessOptions options;
  options.folder = folder;
  options.time_limit = kBuildTimeLimit;
  THIMBLE_TRY(const base::ProcessResult result, base::run_process(command, options));
  if (result.timed_out) return bad_input("{}: not built after an hour", built.what);
  if (result.exit_code == 0) return ok();
  return bad_input("{}: the build failed with exit code {}:\n{}", built.what, result.exit_code,
                   tail(result.output));
}

/// Returns the path of the file, which exists then.
Result<fs::path> build_if_missing(const BuiltFile& built) {
  const fs::path folder = firmware_folder();
  const fs::path path = folder / built.file;
  THIMBLE_TRY(bool exists, base::path_exists(path));
  if (exists) return path;
  THIMBLE_TRY(const std::vector<std::string> command, file_lines(folder / "build_command.txt"));
  if (command.empty()) {
    return bad_input("{}: not found; install {} and build Thimble", path.string(),
                     built.missing_tool);
  }
  THIMBLE_TRY(const base::FileLock lock, base::FileLock::acquire(folder / "build.lock"));
  THIMBLE_TRY(exists, base::path_exists(path));  // after the build of another process
  if (!exists) THIMBLE_CHECK(build(folder, built, command));
  THIMBLE_TRY(exists, base::path_exists(path));
  if (exists) return path;
  return bad_input("{}: not found after its build", path.string());
}

}  // namespace

fs::path firmware_folder() {
  const fs::path own = base::program_folder();
  const fs::path installed = fs::path("lib") / "thimble" / "firmware";
  std::error_code error;
  for (const fs::path& folder :
       {own / "firmware", own.parent_path() / installed, own / installed}) {
    if (fs::is_directory(folder, error)) return folder;
  }
  return own / "firmware";
}

Result<fs::path> board_image(const std::string& name) {
  THIMBLE_TRY(const std::vector<std::string> known, image_names());
  if (!known.empty() && std::ranges::find(known, name) == known.end()) {
    return bad_input("no emulated board runs {}; the images are {}", name, fmt::join(known, ", "));
  }
  THIMBLE_TRY(const auto equal, equal_images());
  const auto other = equal.find(name);
  if (other != equal.end()) return build_if_missing({other->second + ".elf", "", "", ""});
  return build_if_missing({name + ".elf", "image-" + name,
                           fmt::format("the image {} of the emulated board", name),
                           "arm-none-eabi-g++"});
}

Result<fs::path> counting_plugin() {
  return build_if_missing({"insn_count.so", "insn_count",
                           "the plugin insn_count, which counts instructions under QEMU",
                           "a C compiler"});
}

}  // namespace thimble::hostrun
