// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of float32 products on Helium, for convolutions, linear layers and products of matrices.
// The four lanes of a vector are four results; each is summed in the order of the portable kernel,
// with a product and a sum that round separately, so that the bits are the same. Only numbers below
// 2^-126 differ: Helium replaces them by zero.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include <cstddef>
#include <cstdint>

namespace thimble::kernels::mve {

/// The lanes of a vector are elements that are next to each other.
struct NextLoad {
  static constexpr bool kIsGather = false;
  uint32x4_t places() const { return vdupq_n_u32(0); }
};
/// The lanes of a vector are elements with equal distances.
struct StrideLoad {
  static constexpr bool kIsGather = true;
  uint32x4_t steps;
  explicit StrideLoad(int32_t step)
      : steps(vmulq_n_u32(vidupq_n_u32(0, 1), static_cast<uint32_t>(step))) {}
  uint32x4_t places() const { return steps; }
  float32x4_t masked(const float* x, mve_pred16_t lanes) const {
    return vldrwq_gather_shifted_offset_z_f32(x, steps, lanes);
  }
  void store(float* y, float32x4_t value, mve_pred16_t lanes) const {
    vstrwq_scatter_shifted_offset_p_f32(y, steps, value, lanes);
  }
};

/// The terms of a sum, in three nested loops: channels, lines and taps. The factors of w are one
/// after the other; those of x have a step for each loop. The second vector of a tile is
/// `next_vector` after the first one in x, its rows are `next_row` apart in w.
struct Terms {
  const float *x, *w;
  int32_t next_vector, next_row;
  int32_t taps, lines, channels;
  int32_t tap_step, line_step, channel_step;
  int32_t w_channel_step;
};

/// Lanes whose place is at least 0 and below `end` have a term. A place grows by `step` with each
/// tap.
struct Inside {
  uint32x4_t place;
  int32_t step, end;
};

/// Numbers that the assembly reads between its loops: iterations, and bytes from the end of a
/// loop to the next iteration of the outer one. `channels` counts down.
struct Loops {
  int32_t taps, lines, next_line, channels, next_channel, next_w, place_back;

  explicit Loops(const Terms& t, int32_t place_step = 0)
      : taps(t.taps),
        lines(t.lines),
        next_line(4 * (t.line_step - t.taps * t.tap_step)),
        channels(t.channels),
        next_channel(4 * (t.channel_step - t.lines * t.line_step)),
        next_w(4 * (t.w_channel_step - t.lines * t.taps)),
        place_back(-t.taps * place_step) {}
  bool empty() const { return taps <= 0 || lines <= 0 || channels <= 0; }
};
static_assert(offsetof(Loops, lines) == 4 && offsetof(Loops, next_line) == 8 &&
              offsetof(Loops, channels) == 12 && offsetof(Loops, next_channel) == 16 &&
              offsetof(Loops, next_w) == 20 && offsetof(Loops, place_back) == 24);

// The loops are assembly: a weight goes from memory to a general register, which a vector is
// multiplied by. GCC 12 loads it to a register of the FPU first, and keeps sums in memory. A gather
// differs only in its address.
#define THIMBLE_NEXT(x) "[%[" #x "]]"
#define THIMBLE_GATHER(x) "[%[" #x "], %q[places], uxtw #2]"

/// One vector in x with four rows of w: 16 products and sums with 15 instructions.
struct FourRows {
  static constexpr int32_t kVectors = 1, kRows = 4;
  float32x4_t s0 = vdupq_n_f32(0), s1 = s0, s2 = s0, s3 = s0;

  template <class Visit>
  void for_each(Visit visit) const {
    visit(0, 0, s0);
    visit(0, 1, s1);
    visit(0, 2, s2);
    visit(0, 3, s3);
  }

#define THIMBLE_FOUR_ROWS(ADDRESS) \
  __asm__ volatile(                                                                               \
      "1:\n"                                                                                      \
      "ldr %[lines], [%[loops], #4]\n"                                                            \
      "2:\n"                                                                                      \
      "ldr lr, [%[loops]]\n"                                                                      \
      "dls lr, lr\n"                                                                              \
      "3:\n"                                                                                      \
      "vldrw.u32 %q[v], " ADDRESS(x) "\n"                                                         \
      "ldr %[a], [%[w], %[row]]\n"                                                                \
      "ldr %[b], [%[w], %[row], lsl #1]\n"                                                        \
      "vmul.f32 %q[t], %q[v], %[a]\n"                                                             \
      "vmul.f32 %q[u], %q[v], %[b]\n"                                                             \
      "ldr %[a], [%[w]], #4\n"                                                                    \
      "ldr %[b], [%[w3]], #4\n"                                                                   \
      "vadd.f32 %q[s1], %q[s1], %q[t]\n"                                                          \
      "vadd.f32 %q[s2], %q[s2], %q[u]\n"                                                          \
      "vmul.f32 %q[t], %q[v], %[a]\n"                                                             \
      "vmul.f32 %q[u], %q[v], %[b]\n"                                                             \
      "add %[x], %[xs]\n"                                                                         \
      "vadd.f32 %q[s0], %q[s0], %q[t]\n"                                                          \
      "vadd.f32 %q[s3], %q[s3], %q[u]\n"                                                          \
      "le lr, 3b\n"                                                                               \
      "ldr %[a], [%[loops], #8]\n"                                                                \
      "add %[x], %[a]\n"                                                                          \
      "subs %[lines], #1\n"                                                                       \
      "bne 2b\n"                                                                                  \
      "ldr %[a], [%[loops], #16]\n"                                                               \
      "ldr %[lines], [%[loops], #20]\n"                                                           \
      "add %[x], %[a]\n"                                                                          \
      "add %[w], %[lines]\n"                                                                      \
      "add %[w3], %[lines]\n"                                                                     \
      "ldr %[a], [%[loops], #12]\n"                                                               \
      "subs %[a], #1\n"                                                                           \
      "str %[a], [%[loops], #12]\n"                                                               \
      "bne 1b\n"                                                                                  \
      : [s0] "+w"(s0), [s1] "+w"(s1), [s2] "+w"(s2), [s3] "+w"(s3),                               \
        [x] "+r"(x), [w] "+r"(w), [w3] "+r"(w3), [v] "=&w"(v), [t] "=&w"(product),                \
        [u] "=&w"(other), [a] "=&r"(a), [b] "=&r"(b), [lines] "=&r"(lines)                        \
      : [row] "r"(4 * t.next_row), [xs] "r"(4 * t.tap_step),                                      \
        [places] "w"(places), [loops] "r"(&loops)                                                 \
      : "lr", "cc", "memory")

  template <class Load>
  void add(const Load& load, const Terms& t) {
    Loops loops(t);
    if (loops.empty()) return;
    const float *x = t.x, *w = t.w, *w3 = w + 3 * t.next_row;
    const uint32x4_t places = load.places();
    int32_t a, b, lines;
    float32x4_t v, product, other;
    if constexpr (Load::kIsGather) {
      THIMBLE_FOUR_ROWS(THIMBLE_GATHER);
    } else {
      THIMBLE_FOUR_ROWS(THIMBLE_NEXT);
    }
  }

#define THIMBLE_FOUR_ROWS_INSIDE(ADDRESS) \
  __asm__ volatile(                                                                               \
      "1:\n"                                                                                      \
      "ldr %[lines], [%[loops], #4]\n"                                                            \
      "2:\n"                                                                                      \
      "ldr lr, [%[loops]]\n"                                                                      \
      "dls lr, lr\n"                                                                              \
      "3:\n"                                                                                      \
      "vcmp.u32 cs, %q[place], %[end]\n"                                                          \
      "vpnot\n"                                                                                   \
      "vpst\n"                                                                                    \
      "vldrwt.u32 %q[v], " ADDRESS(x) "\n"                                                        \
      "ldr %[a], [%[w], %[row]]\n"                                                                \
      "vmul.f32 %q[t], %q[v], %[a]\n"                                                             \
      "vpst\n"                                                                                    \
      "vaddt.f32 %q[s1], %q[s1], %q[t]\n"                                                         \
      "ldr %[a], [%[w], %[row], lsl #1]\n"                                                        \
      "vmul.f32 %q[t], %q[v], %[a]\n"                                                             \
      "vpst\n"                                                                                    \
      "vaddt.f32 %q[s2], %q[s2], %q[t]\n"                                                         \
      "ldr %[a], [%[w]], #4\n"                                                                    \
      "vmul.f32 %q[t], %q[v], %[a]\n"                                                             \
      "vpst\n"                                                                                    \
      "vaddt.f32 %q[s0], %q[s0], %q[t]\n"                                                         \
      "ldr %[a], [%[w3]], #4\n"                                                                   \
      "vmul.f32 %q[t], %q[v], %[a]\n"                                                             \
      "vpst\n"                                                                                    \
      "vaddt.f32 %q[s3], %q[s3], %q[t]\n"                                                         \
      "vadd.i32 %q[place], %q[place], %[ps]\n"                                                    \
      "add %[x], %[xs]\n"                                                                         \
      "le lr, 3b\n"                                                                               \
      "ldr %[a], [%[loops], #8]\n"                                                                \
      "ldr lr, [%[loops], #24]\n"                                                                 \
      "vadd.i32 %q[place], %q[place], lr\n"                                                       \
      "add %[x], %[a]\n"                                                                          \
      "subs %[lines], #1\n"                                                                       \
      "bne 2b\n"                                                                                  \
      "ldr %[a], [%[loops], #16]\n"                                                               \
      "ldr %[lines], [%[loops], #20]\n"                                                           \
      "add %[x], %[a]\n"                                                                          \
      "add %[w], %[lines]\n"                                                                      \
      "add %[w3], %[lines]\n"                                                                     \
      "ldr %[a], [%[loops], #12]\n"                                                               \
      "subs %[a], #1\n"                                                                           \
      "str %[a], [%[loops], #12]\n"                                                               \
      "bne 1b\n"                                                                                  \
      : [s0] "+w"(s0), [s1] "+w"(s1), [s2] "+w"(s2), [s3] "+w"(s3),                               \
        [x] "+r"(x), [w] "+r"(w), [w3] "+r"(w3), [v] "=&w"(v), [t] "=&w"(product),                \
        [place] "+w"(place), [a] "=&r"(a), [lines] "=&r"(lines)                                   \
      : [row] "r"(4 * t.next_row), [xs] "r"(4 * t.tap_step),                                      \
        [places] "w"(places), [loops] "r"(&loops),                                                \
        [ps] "r"(inside.step), [end] "r"(inside.end)                                              \
      : "lr", "cc", "memory")

  template <class Load>
  void add_inside(const Load& load, const Terms& t, const Inside& inside) {
    Loops loops(t, inside.step);
    if (loops.empty()) return;
    const float *x = t.x, *w = t.w, *w3 = w + 3 * t.next_row;
    const uint32x4_t places = load.places();
    uint32x4_t place = inside.place;
    int32_t a, lines;
    float32x4_t v, product;
    if constexpr (Load::kIsGather) {
      THIMBLE_FOUR_ROWS_INSIDE(THIMBLE_GATHER);
    } else {
      THIMBLE_FOUR_ROWS_INSIDE(THIMBLE_NEXT);
    }
  }
};

/// Two vectors in x with one row of w: 8 products and sums with 10 instructions.
struct TwoVectors {
  static constexpr int32_t kVectors = 2, kRows = 1;
  float32x4_t s0 = vdupq_n_f32(0), s1 = s0;

  template <class Visit>
  void for_each(Visit visit) const {
    visit(0, 0, s0);
    visit(1, 0, s1);
  }

#define THIMBLE_TWO_VECTORS(ADDRESS) \
  __asm__ volatile(                                                                               \
      "1:\n"                                                                                      \
      "ldr %[lines], [%[loops], #4]\n"                                                            \
      "2:\n"                                                                                      \
      "ldr lr, [%[loops]]\n"                                                                      \
      "dls lr, lr\n"                                                                              \
      "3:\n"                                                                                      \
      "ldr %[a], [%[w]], #4\n"                                                                    \
      "vldrw.u32 %q[v], " ADDRESS(x) "\n"                                                         \
      "vldrw.u32 %q[u], " ADDRESS(x2) "\n"                                                        \
      "vmul.f32 %q[v], %q[v], %[a]\n"                                                             \
      "vmul.f32 %q[u], %q[u], %[a]\n"                                                             \
      "add %[x], %[xs]\n"                                                                         \
      "vadd.f32 %q[s0], %q[s0], %q[v]\n"                                                          \
      "add %[x2], %[xs]\n"                                                                        \
      "vadd.f32 %q[s1], %q[s1], %q[u]\n"                                                          \
      "le lr, 3b\n"                                                                               \
      "ldr %[a], [%[loops], #8]\n"                                                                \
      "add %[x2], %[a]\n"                                                                         \
      "add %[x], %[a]\n"                                                                          \
      "subs %[lines], #1\n"                                                                       \
      "bne 2b\n"                                                                                  \
      "ldr %[a], [%[loops], #16]\n"                                                               \
      "ldr %[lines], [%[loops], #20]\n"                                                           \
      "add %[x], %[a]\n"                                                                          \
      "add %[x2], %[a]\n"                                                                         \
      "add %[w], %[lines]\n"                                                                      \
      "ldr %[a], [%[loops], #12]\n"                                                               \
      "subs %[a], #1\n"                                                                           \
      "str %[a], [%[loops], #12]\n"                                                               \
      "bne 1b\n"                                                                                  \
      : [s0] "+w"(s0), [s1] "+w"(s1), [x] "+r"(x), [x2] "+r"(x2), [w] "+r"(w),                    \
        [v] "=&w"(v), [u] "=&w"(u), [a] "=&r"(a), [lines] "=&r"(lines)                            \
      : [xs] "r"(4 * t.tap_step),                                                                 \
        [places] "w"(places), [loops] "r"(&loops)                                                 \
      : "lr", "cc", "memory")

  template <class Load>
  void add(const Load& load, const Terms& t) {
    Loops loops(t);
    if (loops.empty()) return;
    const float *x = t.x, *x2 = t.x + t.next_vector, *w = t.w;
    const uint32x4_t places = load.places();
    int32_t a, lines;
    float32x4_t v, u;
    if constexpr (Load::kIsGather) {
      THIMBLE_TWO_VECTORS(THIMBLE_GATHER);
    } else {
      THIMBLE_TWO_VECTORS(THIMBLE_NEXT);
    }
  }
};

/// One vector in x with one row of w.
struct OneRow {
  static constexpr int32_t kVectors = 1, kRows = 1;
  float32x4_t s0 = vdupq_n_f32(0);

  template <class Visit>
  void for_each(Visit visit) const {
    visit(0, 0, s0);
  }

  template <class Load>
  void add(const Load& load, const Terms& t) {
    add_inside(load, t, {vdupq_n_u32(0), 0, 1});
  }

#define THIMBLE_ONE_ROW_INSIDE(ADDRESS) \
  __asm__ volatile(                                                                               \
      "1:\n"                                                                                      \
      "ldr %[lines], [%[loops], #4]\n"                                                            \
      "2:\n"                                                                                      \
      "ldr lr, [%[loops]]\n"                                                                      \
      "dls lr, lr\n"                                                                              \
      "3:\n"                                                                                      \
      "ldr %[a], [%[w]], #4\n"                                                                    \
      "vcmp.u32 cs, %q[place], %[end]\n"                                                          \
      "vpnot\n"                                                                                   \
      "vpst\n"                                                                                    \
      "vldrwt.u32 %q[v], " ADDRESS(x) "\n"                                                        \
      "vmul.f32 %q[v], %q[v], %[a]\n"                                                             \
      "add %[x], %[xs]\n"                                                                         \
      "vpst\n"                                                                                    \
      "vaddt.f32 %q[s0], %q[s0], %q[v]\n"                                                         \
      "vadd.i32 %q[place], %q[place], %[ps]\n"                                                    \
      "le lr, 3b\n"                                                                               \
      "ldr %[a], [%[loops], #8]\n"                                                                \
      "ldr lr, [%[loops], #24]\n"                                                                 \
      "vadd.i32 %q[place], %q[place], lr\n"                                                       \
      "add %[x], %[a]\n"                                                                          \
      "subs %[lines], #1\n"                                                                       \
      "bne 2b\n"                                                                                  \
      "ldr %[a], [%[loops], #16]\n"                                                               \
      "ldr %[lines], [%[loops], #20]\n"                                                           \
      "add %[x], %[a]\n"                                                                          \
      "add %[w], %[lines]\n"                                                                      \
      "ldr %[a], [%[loops], #12]\n"                                                               \
      "subs %[a], #1\n"                                                                           \
      "str %[a], [%[loops], #12]\n"                                                               \
      "bne 1b\n"                                                                                  \
      : [s0] "+w"(s0), [x] "+r"(x), [w] "+r"(w), [v] "=&w"(v), [place] "+w"(place),               \
        [a] "=&r"(a), [lines] "=&r"(lines)                                                        \
      : [xs] "r"(4 * t.tap_step),                                                                 \
        [places] "w"(places), [loops] "r"(&loops),                                                \
        [ps] "r"(inside.step), [end] "r"(inside.end)                                              \
      : "lr", "cc", "memory")

  template <class Load>
  void add_inside(const Load& load, const Terms& t, const Inside& inside) {
    Loops loops(t, inside.step);
    if (loops.empty()) return;
    const float *x = t.x, *w = t.w;
    const uint32x4_t places = load.places();
    uint32x4_t place = inside.place;
    int32_t a, lines;
    float32x4_t v;
    if constexpr (Load::kIsGather) {
      THIMBLE_ONE_ROW_INSIDE(THIMBLE_GATHER);
    } else {
      THIMBLE_ONE_ROW_INSIDE(THIMBLE_NEXT);
    }
  }
};

#undef THIMBLE_NEXT
#undef THIMBLE_GATHER
#undef THIMBLE_FOUR_ROWS
#undef THIMBLE_FOUR_ROWS_INSIDE
#undef THIMBLE_TWO_VECTORS
#undef THIMBLE_ONE_ROW_INSIDE

/// A place that is not inside any image, for lanes without a result.
inline constexpr uint32_t kOutside = 1U << 31;

/// Returns first + i * step for the first `count` lanes, kOutside for the others.
inline uint32x4_t places_from(int32_t first, int32_t step, mve_pred16_t lanes) {
  const uint32x4_t places = vmlaq_n_u32(vdupq_n_u32(static_cast<uint32_t>(first)),
                                        vidupq_n_u32(0, 1), static_cast<uint32_t>(step));
  return vpselq_u32(places, vdupq_n_u32(kOutside), lanes);
}

}  // namespace thimble::kernels::mve

#endif
