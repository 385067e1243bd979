// SPDX-License-Identifier: Apache-2.0
#include "driver/stage_files.h"

#include <system_error>

#include "base/replace_file.h"
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
  if (error) return bad_input("{}: {}", folder_.string(), error.message());
  const std::filesystem::path path = folder_ / fmt::format("{:02}-{}", ++count_, name);
  return base::replace_file(path, bytes);
}

}  // namespace thimble::driver
