#ifndef _WIN32
#include <dlfcn.h>

#include "base/library.h"

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

}  // namespace thimble::base
#endif
