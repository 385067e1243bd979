// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace thimble::base {
namespace {

namespace fs = std::filesystem;

#ifdef _WIN32
int process_id() {
  return _getpid();
}
#else
int process_id() {
  return static_cast<int>(getpid());
}
#endif

/// Removes the temporary name, also after std::bad_alloc.
class Remover {
 public:
  explicit Remover(const fs::path& path) : path_(path) {}
  Remover(const Remover&) = delete;
  Remover& operator=(const Remover&) = delete;
  ~Remover() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  const fs::path& path_;
};

}  // namespace

fs::path temporary_path(const fs::path& path) {
  fs::path temporary = path;
  temporary += fmt::format(".{}.tmp", process_id());
  return temporary;
}

Status write_temporary(const fs::path& path, const fs::path& temporary, ByteView bytes) {
  errno = 0;
  std::ofstream stream(temporary, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (stream) return ok();
  const std::string reason = errno != 0 ? ": " + std::generic_category().message(errno) : "";
  return bad_input("{}: cannot be written{}", path.string(), reason);
}

Status replace_file(const fs::path& path, ByteView bytes) {
  const fs::path temporary = temporary_path(path);
  const Remover remover(temporary);
  THIMBLE_CHECK(write_temporary(path, temporary, bytes));
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) return bad_input("{}: {}", path.string(), error.message());
  return ok();
}

}  // namespace thimble::base
