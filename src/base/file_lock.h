// SPDX-License-Identifier: Apache-2.0
#pragma once
// A lock between processes, held on a file for the lifetime of the object.

#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/result.h"

namespace thimble::base {

class FileLock {
 public:
  /// Waits until no other process holds the lock. Creates the file if it is missing; an error if it
  /// cannot be created.
  [[nodiscard]] static Result<FileLock> acquire(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept : handle_(std::exchange(other.handle_, kNone)) {}
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  static constexpr intptr_t kNone = -1;
  explicit FileLock(intptr_t handle) : handle_(handle) {}
  intptr_t handle_;  // file descriptor, or HANDLE on Windows
};

}  // namespace thimble::base
