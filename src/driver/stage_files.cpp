#include "driver/stage_files.h"

#include <fstream>
#include <system_error>

namespace thimble::driver {

Status StageFiles::save(std::string_view name, const std::string& text) {
  if (folder_.empty()) return ok();
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const std::filesystem::path path = folder_ / fmt::format("{:02}-{}", ++count_, name);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return bad_input("{}: cannot be written", path.string());
  return ok();
}

}  // namespace thimble::driver
