#ifndef _WIN32
#include <dlfcn.h>

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

std::filesystem::path program_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  Dl_info info = {};
  const bool found = dladdr(reinterpret_cast<const void*>(&program_folder), &info) != 0;
  // For the program itself, the name is argv[0], which need not be a path.
  if (!found || info.dli_fname == nullptr) return program.parent_path();
  const fs::path file(info.dli_fname);
  const bool library = file.is_absolute() && !fs::equivalent(file, program, error);
  return (library ? file : program).parent_path();
}

}  // namespace thimble::base
#endif
