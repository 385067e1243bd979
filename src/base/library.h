#pragma once
// A shared library that the user names, and its functions. With process.h, the only operating
// system calls in src/.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace thimble::base {

/// This machine as folders and files of other people's libraries name it, and what a shared library
/// is called here: "Linux", "amd64", "lib" and ".so".
struct Host {
  std::string_view system, machine, library_prefix, library_suffix;
};
[[nodiscard]] Host host();

/// Stays loaded until the process ends: libraries may leave threads and exit handlers behind.
class Library {
 public:
  /// An error if it is not there or not for this machine, in the system's words.
  [[nodiscard]] static Result<Library> open(const std::filesystem::path& path);
  /// Null if there is none of that name.
  [[nodiscard]] void* symbol(const std::string& name) const;

 private:
  explicit Library(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace thimble::base
