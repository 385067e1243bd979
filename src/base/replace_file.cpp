// SPDX-License-Identifier: Apache-2.0
#include "base/replace_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <random>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace thimble::base {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWriteBytesMax = size_t{1} << 30;  // of one call of write

// Creates a file with the permissions of the process's umask. An existing file or link is an error.
#ifdef _WIN32
int create(const fs::path& path) {
  return _wopen(path.c_str(), _O_CREAT | _O_EXCL | _O_WRONLY | _O_BINARY, _S_IREAD | _S_IWRITE);
}
int64_t write_some(int file, ByteView bytes) {
  return _write(file, bytes.data(), static_cast<unsigned>(std::min(bytes.size(), kWriteBytesMax)));
}
int close_file(int file) {
  return _close(file);
}
#else
int create(const fs::path& path) {
  return open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
}
int64_t write_some(int file, ByteView bytes) {
  return write(file, bytes.data(), std::min(bytes.size(), kWriteBytesMax));
}
int close_file(int file) {
  return close(file);
}
#endif

/// Returns an errno; 0: all is written.
int write_all(int file, ByteView bytes) {
  while (!bytes.empty()) {
    const int64_t written = write_some(file, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

/// The new file has the permissions of the old one, if there is one and the system allows it.
void copy_permissions(const fs::path& old, const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(old, ignored);
  if (fs::is_regular_file(status)) fs::permissions(file, status.permissions(), ignored);
}

/// Removes the temporary file at the end of the scope, also if an allocation fails.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& path) : path_(path) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  const fs::path& path_;
};

}  // namespace

fs::path temporary_path(const fs::path& path) {
  fs::path temporary = path;
  temporary += fmt::format(".{:08x}.tmp", std::random_device()());
  return temporary;
}

Status write_temporary(const fs::path& path, const fs::path& temporary, ByteView bytes) {
  const int file = create(temporary);
  int error = file < 0 ? errno : write_all(file, bytes);
  if (file >= 0 && close_file(file) != 0 && error == 0) error = errno;
  if (error == 0) {
    copy_permissions(path, temporary);
    return ok();
  }
  return bad_input("{}: cannot be written: {}", path.string(),
                   std::generic_category().message(error));
}

Status replace_file(const fs::path& path, ByteView bytes) {
  const fs::path temporary = temporary_path(path);
  const TemporaryFile file(temporary);
  THIMBLE_CHECK(write_temporary(path, temporary, bytes));
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) return bad_input("{}: cannot be written: {}", path.string(), error.message());
  return ok();
}

}  // namespace thimble::base
