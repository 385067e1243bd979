// SPDX-License-Identifier: Apache-2.0
#include "base/read_file.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace thimble::base {

namespace fs = std::filesystem;

Error read_error(const fs::path& path, int error) {
  const std::string reason = error != 0 ? ": " + std::generic_category().message(error) : "";
  return bad_input("{}: cannot be read{}", path.string(), reason);
}

Result<bool> path_exists(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::none) return read_error(path, error.value());
  return type != fs::file_type::not_found;
}

Result<InputFile> open_file(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::not_found) return bad_input("{}: no such file", path.string());
  if (type == fs::file_type::none) return read_error(path, error.value());
  if (type == fs::file_type::directory) {
    return bad_input("{}: is a folder, expected a file", path.string());
  }
  if (type != fs::file_type::regular) {
    return bad_input("{}: is a device or a pipe, expected a file", path.string());
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return read_error(path, errno);
  const uintmax_t bytes = fs::file_size(path, error);
  if (error) return read_error(path, error.value());
  return InputFile{path, std::move(stream), bytes};
}

Status InputFile::read(std::span<std::byte> to) {
  errno = 0;
  stream.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size()));
  if (!stream) return read_error(path, errno);
  return ok();
}

Result<Bytes> read_file(const fs::path& path) {
  THIMBLE_TRY(InputFile file, open_file(path));
  Bytes bytes(static_cast<size_t>(file.size_bytes));
  THIMBLE_CHECK(file.read(bytes));
  return bytes;
}

Result<Bytes> read_if_exists(const fs::path& path) {
  THIMBLE_TRY(const bool exists, path_exists(path));
  if (!exists) return Bytes();
  return read_file(path);
}

}  // namespace thimble::base
