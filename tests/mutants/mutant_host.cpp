// SPDX-License-Identifier: Apache-2.0
// Reads the active mutant (THIMBLE_MUTANT) and the file of reached mutants
// (THIMBLE_MUTANTS_REACHED) from the environment before any other static object is initialized. A
// shared library, so that a process has one copy. The file is mapped, so that the marks of a
// process that is killed are kept.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/mutants/mutant.h"

extern "C" {
int32_t thimble_active_mutant = 0;
uint8_t* thimble_reached_mutants = nullptr;
}

namespace {

[[gnu::constructor]] void read_environment() {
  using thimble::mutants::kMutantsMax;
  if (const char* const path = std::getenv("THIMBLE_MUTANTS_REACHED")) {
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) std::abort();
    void* const bytes = ::mmap(nullptr, kMutantsMax, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) std::abort();
    ::close(file);
    thimble_reached_mutants = static_cast<uint8_t*>(bytes);
    thimble_active_mutant = thimble::mutants::kRecordMutants;
  } else if (const char* const mutant = std::getenv("THIMBLE_MUTANT")) {
    thimble_active_mutant = std::atoi(mutant);
  }
}

}  // namespace
