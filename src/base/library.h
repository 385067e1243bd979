// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loads a shared library given by the user and finds its functions. This header and process.h wrap
// all operating system calls of src/.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace thimble::base {

/// Host system and machine names as used by third-party library folders, and the prefix and suffix
/// of shared libraries. Example: "Linux", "amd64", "lib", ".so".
struct Host {
  std::string_view system, machine, library_prefix, library_suffix;
};
[[nodiscard]] Host host();

/// A shared library. It stays loaded until the process ends, because a library may have started
/// threads or registered exit handlers.
class Library {
 public:
  /// Returns an error with the system's message if the file is missing or is not for this machine.
  [[nodiscard]] static Result<Library> open(const std::filesystem::path& path);
  /// Returns the address of the symbol, or null if the library has no symbol of that name.
  [[nodiscard]] void* symbol(const std::string& name) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace thimble::base
