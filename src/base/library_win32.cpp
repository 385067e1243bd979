// SPDX-License-Identifier: Apache-2.0
#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include "base/library.h"
#include "base/program_folder.h"

namespace thimble::base {

Host host() {
#ifdef _M_ARM64
  return {"Windows", "arm64", "", ".dll"};
#else
  return {"Windows", "amd64", "", ".dll"};
#endif
}

Result<Library> Library::open(const std::filesystem::path& path) {
  const HMODULE module = LoadLibraryW(path.c_str());
  if (module != nullptr) return Library(module);
  return bad_input("{}: cannot be loaded: error {}", path.string(),
                   static_cast<unsigned long>(GetLastError()));
}

void* Library::symbol(const std::string& name) const {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name.c_str()));
}

std::filesystem::path program_folder() {
  HMODULE module = nullptr;
  GetModuleHandleExW(
      GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
      reinterpret_cast<LPCWSTR>(&program_folder), &module);
  wchar_t name[MAX_PATH] = {};
  GetModuleFileNameW(module, name, MAX_PATH);
  return std::filesystem::path(name).parent_path();
}

}  // namespace thimble::base
#endif
