#pragma once
// Marks that the instruction counter (qemu_plugin/insn_count.c) sees: moves of a register to
// itself, which no compiler emits and which change nothing on a real core. A mark opens a region or
// closes the innermost one; the marks themselves are not counted.

#if defined(__arm__)
// By encoding: in the old syntax that GCC uses for Armv6-M, `mov r1, r1` is another instruction.
#define THIMBLE_MARK(reg) __asm__ volatile(".inst.n 0x4600 + 9 * " #reg ::: "memory")
#else
#define THIMBLE_MARK(reg) static_cast<void>(0)
#endif

namespace thimble::firmware {
inline void mark_load() { THIMBLE_MARK(1); }
inline void mark_set_input() { THIMBLE_MARK(2); }
inline void mark_run() { THIMBLE_MARK(3); }
inline void mark_op() { THIMBLE_MARK(4); }      // counted from 0 within its run
inline void mark_region() { THIMBLE_MARK(5); }  // whatever the application likes
inline void mark_end() { THIMBLE_MARK(6); }
}  // namespace thimble::firmware
