#include "driver/stage_files.h"

#include <fstream>
#include <system_error>

#include "ir/print.h"

namespace thimble::driver {

Status StageFiles::save(std::string_view name, const ir::Graph& graph) {
  if (!wanted()) return ok();
  return save(name, as_byte_view(ir::print(graph)));
}

Status StageFiles::save(std::string_view name, ByteView bytes) {
  if (!wanted()) return ok();
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const std::filesystem::path path = folder_ / fmt::format("{:02}-{}", ++count_, name);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return bad_input("{}: cannot be written", path.string());
  return ok();
}

}  // namespace thimble::driver
