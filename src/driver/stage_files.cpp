// SPDX-License-Identifier: Apache-2.0
#include "driver/stage_files.h"

#include "base/folder.h"
#include "base/replace_file.h"
#include "ir/print.h"

namespace thimble::driver {

Status StageFiles::save(std::string_view name, const ir::Graph& graph) {
  if (!wanted()) return ok();
  return save(name, as_byte_view(ir::print(graph)));
}

Status StageFiles::save(std::string_view name, ByteView bytes) {
  if (!wanted()) return ok();
  base::NewFolders folders;
  THIMBLE_CHECK(folders.make(folder_));
  const std::filesystem::path path = folder_ / fmt::format("{:02}-{}", ++count_, name);
  THIMBLE_CHECK(base::replace_file(path, bytes));
  folders.keep();
  return ok();
}

}  // namespace thimble::driver
