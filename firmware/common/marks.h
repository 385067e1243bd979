// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marks for the instruction counter (qemu_plugin/insn_count.c): moves of a register to itself,
// which compilers do not emit and which have no effect on a real core. A mark opens a scope or
// closes the innermost one. The marks themselves are not counted.

#if defined(__arm__)
// Written as an encoding, because in the old syntax of GCC for Armv6-M `mov r1, r1` differs.
#define THIMBLE_MARK(reg) __asm__ volatile(".inst.n 0x4600 + 9 * " #reg ::: "memory")
#else
#define THIMBLE_MARK(reg) static_cast<void>(0)
#endif

namespace thimble::firmware {
inline void mark_load() {
  THIMBLE_MARK(1);
}
inline void mark_set_input() {
  THIMBLE_MARK(2);
}
inline void mark_run() {
  THIMBLE_MARK(3);
}
inline void mark_op() {
  THIMBLE_MARK(4);
}  // operators are numbered from 0 within their run
inline void mark_scope() {
  THIMBLE_MARK(5);
}  // free for the application
inline void mark_end() {
  THIMBLE_MARK(6);
}
}  // namespace thimble::firmware
