#include "hostrun/board_image.h"

#include <cstdio>
#include <fstream>
#include <vector>

#include "base/file_lock.h"
#include "base/process.h"
#include "base/program_folder.h"

namespace thimble::hostrun {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kBuildTimeLimit{60};

/// The lines of the file; empty if it does not exist.
std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The last lines of the output, which name the error.
std::string tail(const std::string& output) {
  constexpr size_t kTailBytes = 2000;
  return output.size() <= kTailBytes ? output : output.substr(output.size() - kTailBytes);
}

Status build(const fs::path& folder, const std::string& name, std::vector<std::string> command) {
  command.back() += name;
  std::fprintf(stderr, "building the image %s of the emulated board (once)\n", name.c_str());
  base::ProcessOptions options;
  options.folder = folder;
  options.time_limit = kBuildTimeLimit;
  THIMBLE_TRY(const base::ProcessResult result, base::run_process(command, options));
  if (result.timed_out) return bad_input("image {}: not built after an hour", name);
  if (result.exit_code == 0) return ok();
  return bad_input("image {}: the build failed with exit code {}:\n{}", name, result.exit_code,
                   tail(result.output));
}

}  // namespace

fs::path firmware_folder() {
  return base::program_folder() / "firmware";
}

Result<fs::path> board_image(const std::string& name) {
  const fs::path folder = firmware_folder();
  const fs::path image = folder / (name + ".elf");
  if (fs::exists(image)) return image;
  const std::vector<std::string> command = lines_of(folder / "build_command.txt");
  if (command.empty()) {
    return bad_input("{}: not found; install arm-none-eabi-g++ and build Thimble", image.string());
  }
  THIMBLE_TRY(const base::FileLock lock, base::FileLock::acquire(folder / "build.lock"));
  if (!fs::exists(image)) THIMBLE_CHECK(build(folder, name, command));
  if (fs::exists(image)) return image;
  return bad_input("{}: not found after its build", image.string());
}

}  // namespace thimble::hostrun
