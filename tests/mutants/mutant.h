// SPDX-License-Identifier: Apache-2.0
#pragma once
// The run-time switch of mutation testing. `mutants.py` rewrites an expression `a < b` of a copy of
// the tree to `(thimble_mutant(17) ? (a <= b) : (a < b))`, and includes this header first.
//
// On the host, mutant_host.cpp reads the active mutant from the environment. An image for a board
// has it as a constant, which run.py changes in the ELF file. In both, kRecordMutants records which
// mutants a test reaches.

#include <stdint.h>

namespace thimble::mutants {
constexpr int32_t kRecordMutants = -1;
constexpr int32_t kMutantsMax = 512;
}  // namespace thimble::mutants

#ifdef __arm__

extern "C" {
inline const volatile int32_t thimble_active_mutant = 0;
inline uint8_t thimble_reached_mutants[thimble::mutants::kMutantsMax / 8] = {};  // bits
}

namespace thimble::mutants {

inline int32_t semihosting_call(int32_t operation, const void* block) {
  register int32_t r0 asm("r0") = operation;
  register const void* r1 asm("r1") = block;
  asm volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

/// Marks the mutant in the file, once.
[[gnu::noinline]] inline void record_reached(int32_t mutant) {
  const auto bit = static_cast<uint8_t>(1U << (mutant % 8));
  uint8_t& bits = thimble_reached_mutants[mutant / 8];
  if ((bits & bit) != 0) return;
  bits = static_cast<uint8_t>(bits | bit);
  static constexpr char kFile[] = "@REACHED_FILE@";
  static constexpr uint8_t kReached = 1;
  constexpr int32_t kOpen = 1, kClose = 2, kWrite = 5, kSeek = 10, kReadAndWriteBinary = 3;
  const int32_t open[3] = {static_cast<int32_t>(reinterpret_cast<uintptr_t>(kFile)),
                           kReadAndWriteBinary, static_cast<int32_t>(sizeof kFile - 1)};
  const int32_t handle = semihosting_call(kOpen, open);
  const int32_t seek[2] = {handle, mutant};
  semihosting_call(kSeek, seek);
  const int32_t write[3] = {handle, static_cast<int32_t>(reinterpret_cast<uintptr_t>(&kReached)),
                            1};
  semihosting_call(kWrite, write);
  semihosting_call(kClose, &handle);
}

}  // namespace thimble::mutants

#else

extern "C" {
extern int32_t thimble_active_mutant;
extern uint8_t* thimble_reached_mutants;
}

namespace thimble::mutants {
inline void record_reached(int32_t mutant) {
  thimble_reached_mutants[mutant] = 1;
}
}  // namespace thimble::mutants

#endif

/// Returns true if the mutant is active. The compiler evaluates constants with the original
/// operator.
constexpr bool thimble_mutant(int32_t mutant) {
  if (__builtin_is_constant_evaluated()) return false;
  const int32_t active = thimble_active_mutant;
  if (active == thimble::mutants::kRecordMutants) thimble::mutants::record_reached(mutant);
  return active == mutant;
}
