// thimble::add.table with the DSP extension: 13 instructions per result. The loop computes four
// results at a time. Each is the sum of two table entries, which is then multiplied, shifted and
// saturated; the bounds are applied to four results at once. The portable code handles the
// remaining elements of a row, and rows whose operands are not contiguous.

#include "abi/ops/arithmetic.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/args/add_table.h"
#include "kernels/args/flat.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct RoundingProduct {
  static int32_t high(int32_t a, int32_t b) {
    int32_t product;
    asm("smmulr %0, %1, %2" : "=r"(product) : "r"(a), "r"(b));
    return product;
  }
};

struct Fours {
  uint32_t min, max;  // each repeated in four bytes
  int32_t mult, nudge;
  uint32_t shift;
};

#define THIMBLE_ADD_ONE               \
  "ldrb %[s], [%[a]], #1\n"           \
  "ldrb %[t], [%[b]], #1\n"           \
  "ldr %[s], [%[ta], %[s], lsl #2]\n" \
  "ldr %[t], [%[tb], %[t], lsl #2]\n" \
  "add %[s], %[s], %[t]\n"            \
  "smmulr %[s], %[s], %[mult]\n"      \
  "add %[s], %[s], %[s], asr #31\n"   \
  "add %[s], %[s], %[nudge]\n"        \
  "asr %[s], %[s], %[shift]\n"

/// Computes `count` results; `count` is a positive multiple of 4, and y is 4-byte aligned.
void add_fours(const abi::AddTable& p, const Fours& f, const uint8_t* a, const uint8_t* b,
               uint8_t* y, uint32_t count) {
  uint32_t s, t, word;
  uint8_t* const end = y + count;
  asm volatile(
      "1:\n"                                      //
      THIMBLE_ADD_ONE "ssat %[word], #8, %[s]\n"  //
      THIMBLE_ADD_ONE
      "ssat %[s], #8, %[s]\n"
      "bfi %[word], %[s], #8, #8\n"  //
      THIMBLE_ADD_ONE
      "ssat %[s], #8, %[s]\n"
      "bfi %[word], %[s], #16, #8\n"  //
      THIMBLE_ADD_ONE
      "ssat %[s], #8, %[s]\n"
      "bfi %[word], %[s], #24, #8\n"
      "ldr %[s], %[min]\n"
      "ssub8 %[t], %[word], %[s]\n"
      "sel %[word], %[word], %[s]\n"
      "ldr %[s], %[max]\n"
      "ssub8 %[t], %[word], %[s]\n"
      "sel %[word], %[s], %[word]\n"
      "str %[word], [%[y]], #4\n"
      "cmp %[y], %[end]\n"
      "bne 1b\n"
      : [a] "+r"(a), [b] "+r"(b), [y] "+r"(y), [s] "=&r"(s), [t] "=&r"(t), [word] "=&r"(word)
      : [ta] "r"(p.a), [tb] "r"(p.b), [mult] "r"(f.mult), [nudge] "r"(f.nudge),
        [shift] "r"(f.shift), [end] "r"(end), [min] "m"(f.min), [max] "m"(f.max)
      : "cc", "memory");
}

#undef THIMBLE_ADD_ONE

uint32_t four_times(int32_t code) {
  return static_cast<uint32_t>(code & 255) * 0x01010101U;
}

void run(void* const* operands) {
  const abi::AddTable& p = packed<abi::op_info::thimble_add_table>(operands[2]);
  const AddResult result(p.add);
  const Fours fours = {four_times(p.add.min), four_times(p.add.max), p.add.y_mult, result.nudge,
                       result.shift};
  auto* y = static_cast<int8_t*>(operands[3]);
  const AddRow row(p);
  const bool runs = row.a_step == 1 && row.b_step == 1;
  for_each_row(p.nest, [&](uint32_t a_offset, uint32_t b_offset) {
    const auto* a = static_cast<const uint8_t*>(operands[0]) + a_offset;
    const auto* b = static_cast<const uint8_t*>(operands[1]) + b_offset;
    uint32_t fast = 0;
    if (runs && is_word_aligned(y, 0)) fast = row.count & ~uint32_t{3};
    if (fast != 0) add_fours(p, fours, a, b, reinterpret_cast<uint8_t*>(y), fast);
    row.add<RoundingProduct>(result, a + fast, b + fast, y + fast, row.count - fast);
    y += row.count;
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_add_table, check_add_table, run);

}  // namespace thimble::kernels

#endif
