// SPDX-License-Identifier: Apache-2.0
#ifndef _WIN32
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_lock.h"

namespace thimble::base {

Result<FileLock> FileLock::acquire(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) return bad_input("{}: {}", path.string(), std::strerror(errno));
  while (flock(file, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    close(file);
    return bad_input("{}: cannot be locked: {}", path.string(), std::strerror(error));
  }
  return FileLock(file);
}

FileLock::~FileLock() {
  if (handle_ != kNone) close(static_cast<int>(handle_));
}

}  // namespace thimble::base
#endif
