// SPDX-License-Identifier: Apache-2.0
#ifndef _WIN32
#include <dlfcn.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#include <system_error>

#include "base/library.h"
#include "base/program_folder.h"

namespace thimble::base {

Host host() {
#ifdef __aarch64__
  constexpr std::string_view kMachine = "arm64";
#else
  constexpr std::string_view kMachine = "amd64";
#endif
#ifdef __APPLE__
  return {"Darwin", kMachine, "lib", ".dylib"};
#else
  return {"Linux", kMachine, "lib", ".so"};
#endif
}

Result<Library> Library::open(const std::filesystem::path& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return Library(handle);
  const char* const reason = dlerror();
  return bad_input("{}: cannot be loaded: {}", path.string(),
                   reason != nullptr ? reason : "no reason given");
}

void* Library::symbol(const std::string& name) const {
  return dlsym(handle_, name.c_str());
}

namespace {

/// Returns true if the address belongs to the program and not to a shared library. On Linux the
/// name of the program is then argv[0], which need not be its path.
bool is_named_by_caller([[maybe_unused]] const Dl_info& info) {
#ifdef __linux__
  Dl_info program = {};
  return dladdr(reinterpret_cast<const void*>(getauxval(AT_PHDR)), &program) != 0 &&
         program.dli_fbase == info.dli_fbase;
#else
  return false;
#endif
}

}  // namespace

std::filesystem::path program_folder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&program_folder), &info) != 0 &&
      !is_named_by_caller(info)) {
    return std::filesystem::path(info.dli_fname).parent_path();
  }
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

}  // namespace thimble::base
#endif
