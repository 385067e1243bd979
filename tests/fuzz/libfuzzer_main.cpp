// SPDX-License-Identifier: Apache-2.0
// Entry points of libFuzzer (https://llvm.org/docs/LibFuzzer.html). `--target=NAME` selects what
// reads the inputs; `--list` prints the names. Half of the mutations are libFuzzer's own; the
// others keep the form of the input (Target::mutate).

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "tests/fuzz/targets.h"

namespace {

const thimble::fuzz::Target* target = nullptr;

/// An input of an earlier mutation: libFuzzer passes only one input.
thimble::Bytes previous;

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  thimble::fuzz::Random random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const auto* first = reinterpret_cast<const std::byte*>(data);
  const thimble::Bytes bytes(first, first + size);
  thimble::Bytes changed = target->mutate(bytes, previous, random);
  if (random() % 8 == 0) previous = bytes;
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::copy_n(reinterpret_cast<const uint8_t*>(changed.data()), changed.size(), data);
  return changed.size();
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kOption = "--target=";
  for (int i = 1; i < *argc; ++i) {
    const std::string_view word = (*argv)[i];
    if (word.starts_with(kOption)) target = thimble::fuzz::find_target(word.substr(kOption.size()));
    if (word != "--list") continue;
    for (const auto& each : thimble::fuzz::targets()) std::printf("%s\n", each.name.c_str());
    std::exit(0);
  }
  thimble::fuzz::serial_patience = std::chrono::milliseconds(20);
  if (target != nullptr) return 0;
  std::fputs("--target=NAME expected; --list prints the names\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  (void)target->run(thimble::ByteView(bytes, size));
  return 0;
}
