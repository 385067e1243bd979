#ifndef _WIN32
#include <dlfcn.h>

#include "base/library.h"

namespace thimble::base {

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
