// SPDX-License-Identifier: Apache-2.0
// add_flat, eight elements at a time. (a - a_zp) * 2^19 and (b - b_zp) * 2^20 are computed in two
// steps. One instruction multiplies 16-bit lanes by 2^5 or 2^6 and subtracts the zero point. Then
// multiplication by 2^14 widens to 32 bits, even and odd lanes separately; narrowing interleaves
// them again. Halves round away from zero: vqdmlah with 1 subtracts 1 from a negative number first.

#include "abi/ops/arithmetic.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include <cstddef>

#include "kernels/args/add_flat.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/elementwise.h"

namespace thimble::kernels {
namespace {

/// The assembly depends on the order of the members.
struct AddRun {
  const int8_t* a;
  const int8_t* b;
  int8_t* y;
  int32_t a_start, b_start;  // -+zero point * 2^5 and * 2^6
  int32_t b_mult, b_shift;
  int32_t b_odd;  // 1: halves of b round away from zero; 0 if b_shift is 0
  int32_t y_mult, y_shift, one, y_zero_point;
  uint32_t count;
  int32_t a_factor, b_factor;  // +-2^5 and +-2^6
  int32_t min, max;
};
static_assert(offsetof(AddRun, y_mult) == 32 && offsetof(AddRun, count) == 48);
static_assert(offsetof(AddRun, a_factor) == 52 && offsetof(AddRun, min) == 60);

// Widens a to q1 (even lanes) and q0 (odd lanes), b to q3 and q2.
#define THIMBLE_ADD_WIDEN          \
  "vmlas.s16 q0, q6, r3        \n" \
  "vmlas.s16 q2, q7, r4        \n" \
  "vmullb.s16 q1, q0, q5       \n" \
  "vmullt.s16 q0, q0, q5       \n" \
  "vmullb.s16 q3, q2, q5       \n" \
  "vmullt.s16 q2, q2, q5       \n"

#define THIMBLE_ADD_SHIFTED        \
  "vqrdmulh.s32 q3, q3, r5     \n" \
  "vqrdmulh.s32 q2, q2, r5     \n" \
  "vqdmlah.s32 q3, q3, r7      \n" \
  "vqdmlah.s32 q2, q2, r7      \n" \
  "vrshl.s32 q3, r6            \n" \
  "vrshl.s32 q2, r6            \n" \
  "vadd.i32 q1, q1, q3         \n" \
  "vadd.i32 q0, q0, q2         \n"

#define THIMBLE_ADD_NARROW         \
  "vqrdmulh.s32 q1, q1, r8     \n" \
  "vqrdmulh.s32 q0, q0, r8     \n" \
  "vqdmlah.s32 q1, q1, r10     \n" \
  "vqdmlah.s32 q0, q0, r10     \n" \
  "vrshl.s32 q1, r9            \n" \
  "vrshl.s32 q0, r9            \n" \
  "vqmovnb.s32 q4, q1          \n" \
  "vqmovnt.s32 q4, q0          \n" \
  "vqadd.s16 q4, q4, r11       \n"

#define THIMBLE_ADD_CLAMP          \
  "vldrw.u32 q1, [sp]          \n" \
  "vldrw.u32 q2, [sp, #16]     \n" \
  "vmax.s16 q4, q4, q1         \n" \
  "vmin.s16 q4, q4, q2         \n"

#define THIMBLE_ADD_ENTER          \
  "push {r3-r11, lr}           \n" \
  "vpush {d8-d15}              \n" \
  "sub sp, #32                 \n" \
  "ldrd r1, r2, [r0, #52]      \n" \
  "vdup.16 q6, r1              \n" \
  "vdup.16 q7, r2              \n" \
  "ldrd r1, r2, [r0, #60]      \n" \
  "vdup.16 q0, r1              \n" \
  "vdup.16 q1, r2              \n" \
  "vstrw.32 q0, [sp]           \n" \
  "vstrw.32 q1, [sp, #16]      \n" \
  "mov r1, #16384              \n" \
  "vdup.16 q5, r1              \n" \
  "ldr r12, [r0, #48]          \n" \
  "ldm r0, {r0-r11}            \n"

#define THIMBLE_ADD_LEAVE          \
  "add sp, #32                 \n" \
  "vpop {d8-d15}               \n" \
  "pop {r3-r11, pc}            \n"

// A full vector, in the order in which the model of src/cycles needs the fewest cycles: 36 without
// a shift and bounds, 42 with both; 42 and 55 in the order of the arithmetic.
// clang-format off
#define THIMBLE_ADD_PLAIN_VECTOR \
  "vldrb.s16 q0, [r0], #8\n" \
  "vmlas.s16 q0, q6, r3\n" \
  "vmullb.s16 q1, q0, q5\n" \
  "vldrb.s16 q2, [r1], #8\n" \
  "vmlas.s16 q2, q7, r4\n" \
  "vmullb.s16 q3, q2, q5\n" \
  "vqrdmlah.s32 q1, q3, r5\n" \
  "vmullt.s16 q4, q0, q5\n" \
  "vmullt.s16 q3, q2, q5\n" \
  "vqrdmulh.s32 q0, q1, r8\n" \
  "vqdmlah.s32 q0, q0, r10\n" \
  "vqrdmlah.s32 q4, q3, r5\n" \
  "vrshl.s32 q0, r9\n" \
  "vqrdmulh.s32 q2, q4, r8\n" \
  "vqmovnb.s32 q1, q0\n" \
  "vqdmlah.s32 q2, q2, r10\n" \
  "vrshl.s32 q2, r9\n" \
  "vqmovnt.s32 q1, q2\n" \
  "vqadd.s16 q3, q1, r11\n" \
  "vqmovnb.s16 q3, q3\n" \
  "vstrb.16 q3, [r2], #8\n"

#define THIMBLE_ADD_ANY_VECTOR \
  "vldrb.s16 q0, [r1], #8\n" \
  "vmlas.s16 q0, q7, r4\n" \
  "vldrw.u32 q1, [sp]\n" \
  "vmullt.s16 q2, q0, q5\n" \
  "vldrb.s16 q3, [r0], #8\n" \
  "vmlas.s16 q3, q6, r3\n" \
  "vmullb.s16 q4, q0, q5\n" \
  "vqrdmulh.s32 q0, q2, r5\n" \
  "vqrdmulh.s32 q2, q4, r5\n" \
  "vqdmlah.s32 q2, q2, r7\n" \
  "vqdmlah.s32 q0, q0, r7\n" \
  "vrshl.s32 q2, r6\n" \
  "vmullb.s16 q4, q3, q5\n" \
  "vrshl.s32 q0, r6\n" \
  "vmullt.s16 q3, q3, q5\n" \
  "vadd.i32 q2, q4, q2\n" \
  "vqrdmulh.s32 q4, q2, r8\n" \
  "vqdmlah.s32 q4, q4, r10\n" \
  "vadd.i32 q2, q3, q0\n" \
  "vqrdmulh.s32 q0, q2, r8\n" \
  "vrshl.s32 q4, r9\n" \
  "vqdmlah.s32 q0, q0, r10\n" \
  "vqmovnb.s32 q3, q4\n" \
  "vrshl.s32 q0, r9\n" \
  "vqmovnt.s32 q3, q0\n" \
  "vqadd.s16 q2, q3, r11\n" \
  "vldrw.u32 q4, [sp, #16]\n" \
  "vmax.s16 q0, q2, q1\n" \
  "vmin.s16 q3, q0, q4\n" \
  "vstrb.16 q3, [r2], #8\n"
// clang-format on

/// Full vectors of eight, without a shift of b and without bounds tighter than int8.
__attribute__((naked)) void add_plain(const AddRun*) {
  __asm__ volatile(THIMBLE_ADD_ENTER
                   "lsr r12, #3                 \n"
                   "wls lr, r12, 2f             \n"
                   "1:                          \n" THIMBLE_ADD_PLAIN_VECTOR
                   "le lr, 1b                   \n"
                   "2:                          \n" THIMBLE_ADD_LEAVE);
}

/// Any number of elements.
__attribute__((naked)) void add_any(const AddRun*) {
  __asm__ volatile(THIMBLE_ADD_ENTER
                   "lsr lr, r12, #3             \n"
                   "wls lr, lr, 2f              \n"
                   "1:                          \n" THIMBLE_ADD_ANY_VECTOR
                   "le lr, 1b                   \n"
                   "2:                          \n"
                   "ands r12, #7                \n"
                   "beq 3f                      \n"
                   "vctp.16 r12                 \n"
                   "vpstt                       \n"
                   "vldrbt.s16 q0, [r0]         \n"
                   "vldrbt.s16 q2, [r1]         \n" THIMBLE_ADD_WIDEN THIMBLE_ADD_SHIFTED
                       THIMBLE_ADD_NARROW THIMBLE_ADD_CLAMP
                   "vpst                        \n"
                   "vstrbt.16 q4, [r2]          \n"
                   "3:                          \n" THIMBLE_ADD_LEAVE);
}

void run(void* const* operands) {
  mve::add(add_flat(operands[2]), static_cast<const int8_t*>(operands[0]),
           static_cast<const int8_t*>(operands[1]), static_cast<int8_t*>(operands[3]));
}

}  // namespace

void mve::add(const abi::AddFlat& p, const int8_t* a, const int8_t* b, int8_t* y) {
  AddRun run = {};
  run.a = a;
  run.b = b;
  run.y = y;
  run.a_factor = p.a_negate != 0 ? -32 : 32;
  run.b_factor = p.b_negate != 0 ? -64 : 64;
  run.a_start = -p.a_zero_point * run.a_factor;
  run.b_start = -p.b_zero_point * run.b_factor;
  run.b_mult = p.b_mult;
  run.b_shift = p.b_shift;
  run.b_odd = p.b_shift != 0 ? 1 : 0;
  run.y_mult = p.y_mult;
  run.y_shift = p.y_shift;
  run.one = 1;
  run.y_zero_point = p.y_zero_point;
  run.min = p.min;
  run.max = p.max;
  run.count = p.count;
  if (p.b_shift == 0 && p.min == -128 && p.max == 127) {
    const uint32_t whole = p.count & ~7U;
    add_plain(&run);
    run.a += whole;
    run.b += whole;
    run.y += whole;
    run.count -= whole;
    if (run.count == 0) return;
  }
  add_any(&run);
}

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_add_flat, check_add_flat, run);

}  // namespace thimble::kernels

#endif
