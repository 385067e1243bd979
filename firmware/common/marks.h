#pragma once
// Marks that the instruction counter (qemu_plugin/insn_count.c) sees: moves of a register to itself,
// which no compiler emits and which change nothing on a real core. A mark opens a region or closes
// the innermost one; the marks themselves are not counted.

#if defined(__arm__)
#define THIMBLE_MARK(reg) __asm__ volatile("mov " #reg ", " #reg ::: "memory")
#else
#define THIMBLE_MARK(reg) static_cast<void>(0)
#endif

namespace thimble::firmware {
inline void mark_load() { THIMBLE_MARK(r1); }
inline void mark_set_input() { THIMBLE_MARK(r2); }
inline void mark_run() { THIMBLE_MARK(r3); }
inline void mark_op() { THIMBLE_MARK(r4); }      // counted from 0 within its run
inline void mark_region() { THIMBLE_MARK(r5); }  // whatever the application likes
inline void mark_end() { THIMBLE_MARK(r6); }
}  // namespace thimble::firmware
