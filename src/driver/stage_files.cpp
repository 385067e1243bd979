// SPDX-License-Identifier: Apache-2.0
#include "driver/stage_files.h"

#include <system_error>

#include "base/folder.h"
#include "base/replace_file.h"
#include "ir/print.h"

namespace thimble::driver {

bool StageFiles::is_stage_name(std::string_view name) {
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits >= 2 && name.substr(digits).starts_with('-');
}

Status StageFiles::save(std::string_view name, const ir::Graph& graph) {
  if (!wanted()) return ok();
  return save(name, as_byte_view(ir::print(graph)));
}

Status StageFiles::save(std::string_view name, ByteView bytes) {
  if (!wanted()) return ok();
  base::NewFolders folders;
  THIMBLE_CHECK(folders.make(folder_));
  const std::filesystem::path path = folder_ / fmt::format("{:02}-{}", ++count_, name);
  for (const std::filesystem::path& input : inputs_) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, input, ignored)) {
      return bad_input("{}: is an input and would be overwritten", path.string());
    }
  }
  THIMBLE_CHECK(base::replace_file(path, bytes));
  folders.keep();
  return ok();
}

}  // namespace thimble::driver
