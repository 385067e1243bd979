// Entry points of libFuzzer (https://llvm.org/docs/LibFuzzer.html). `--target=NAME` selects what
// reads the inputs; `--list` prints the names.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/targets.h"

namespace {

const thimble::fuzz::Target* target = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kOption = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with(kOption)) target = thimble::fuzz::find_target(word.substr(kOption.size()));
    if (word != "--list") continue;
    for (const auto& each : thimble::fuzz::targets()) std::printf("%s\n", each.name.c_str());
    std::exit(0);
  }
  if (target != nullptr) return 0;
  std::fputs("--target=NAME expected; --list prints the names\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  (void)target->run(thimble::ByteView(bytes, size));
  return 0;
}
