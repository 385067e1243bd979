// SPDX-License-Identifier: Apache-2.0
#ifdef _WIN32
#include <windows.h>

#include "base/file_lock.h"

namespace thimble::base {

Result<FileLock> FileLock::acquire(const std::filesystem::path& path) {
  const HANDLE file =
      CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                  nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return bad_input("{}: cannot be opened", path.string());
  OVERLAPPED range = {};
  if (!LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &range)) {
    CloseHandle(file);
    return bad_input("{}: cannot be locked", path.string());
  }
  return FileLock(reinterpret_cast<intptr_t>(file));
}

FileLock::~FileLock() {
  if (handle_ != kNone) CloseHandle(reinterpret_cast<HANDLE>(handle_));
}

}  // namespace thimble::base
#endif
