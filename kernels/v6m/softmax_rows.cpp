// thimble::softmax_rows where a product has 32 bits, and a long one is made of four.
//
// What leaves a row is a byte, so that 16 bits of the reciprocal and of an exponential are nearly
// always enough: where the least and the largest result that they allow are the same, it is that
// one. The long products are left to the few others, and to results of int16.

#include "kernels/isa.h"

#if THIMBLE_HAS_V6M

#include "kernels/args/softmax_rows.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

struct ShortProducts {
  static int32_t high(int32_t a, int32_t b) {
    const uint32_t a_low = static_cast<uint32_t>(a) & 0xFFFF;
    const uint32_t b_low = static_cast<uint32_t>(b) & 0xFFFF;
    const int32_t a_high = a >> 16;
    const int32_t b_high = b >> 16;
    const uint32_t low = a_low * b_low;
    // Neither sum leaves 32 bits.
    const int32_t middle = a_high * static_cast<int32_t>(b_low) + static_cast<int32_t>(low >> 16);
    const int32_t rest = static_cast<int32_t>(a_low) * b_high + (middle & 0xFFFF);
    const int32_t top = a_high * b_high + (middle >> 16) + (rest >> 16);
    // Bits 30 and 31 of the product, rounded into bit 31.
    const uint32_t two = static_cast<uint32_t>(rest) >> 14 & 3;
    return static_cast<int32_t>(static_cast<uint32_t>(top) * 2 + ((two + 1) >> 1));
  }

  static uint32_t divided(int32_t a, uint32_t b, uint32_t right) {
    const auto product = static_cast<uint32_t>(high(a, static_cast<int32_t>(b)));
    return (product + (uint32_t{1} << (right - 1))) >> right;
  }
};

/// 2^47 / normal for normal from 2^31 on, at most kNear off, from 48/17 - 32/17 d by two Newton
/// steps.
constexpr uint32_t kNear = 4;
uint32_t near_reciprocal(uint32_t normal) {
  const uint32_t d = normal >> 16;
  uint32_t r = 92521 - (61681 * d >> 16);
  for (int step = 0; step < 2; ++step) {
    const auto error = static_cast<int32_t>((1U << 31) - r * d);
    r += static_cast<uint32_t>(static_cast<int32_t>(r) * (error >> 15) >> 16);
  }
  return r;
}

/// What is the same for all results of a row.
struct Row {
  const uint32_t* exp;
  int32_t maximum;
  uint32_t near, half, right;
};

uint8_t byte_of(uint32_t code) {
  return static_cast<uint8_t>(code > 255 ? 127 : static_cast<int32_t>(code) - 128);
}

[[gnu::noinline]] uint8_t exact(const Row& row, uint32_t normal, uint8_t x) {
  const uint32_t exp = row.exp[(static_cast<uint32_t>(row.maximum) - x) & 255];
  const int32_t scale = reciprocal<ShortProducts>(normal ^ (1U << 31));
  return byte_of(ShortProducts::divided(scale, exp, row.right));
}

/// Results until one is not certain, or all: how many. exp / 2^15 is less than 1 off, which is
/// near / 2 of the product, and near itself kNear * exp / 2^16.
uint32_t certain(const Row& row, const uint8_t* x, uint8_t* y, uint32_t count) {
  const uint8_t* const first = y;
  uint8_t* const end = y + count;
  uint32_t t, u, v;
  asm volatile(
      ".syntax unified\n"
      "1: ldrb %[t], [%[x]]\n"
      "mov %[u], %[maximum]\n"
      "subs %[u], %[u], %[t]\n"
      "uxtb %[u], %[u]\n"
      "lsls %[u], %[u], #2\n"
      "ldr %[t], [%[exp], %[u]]\n"
      "lsrs %[u], %[t], #15\n"
      "mov %[v], %[near]\n"
      "muls %[u], %[v], %[u]\n"
      "lsrs %[u], %[u], #1\n"
      "add %[u], %[half]\n"
      "lsrs %[t], %[t], #16\n"
      "lsls %[t], %[t], #2\n"
      "subs %[v], %[u], %[t]\n"
      "adds %[u], %[u], %[t]\n"
      "add %[u], %[more]\n"
      "mov %[t], %[right]\n"
      "lsrs %[v], %[v], %[t]\n"
      "lsrs %[u], %[u], %[t]\n"
      "cmp %[u], %[v]\n"
      "bne 3f\n"
      "cmp %[v], #255\n"
      "bls 2f\n"
      "movs %[v], #255\n"
      "2: subs %[v], %[v], #128\n"
      "strb %[v], [%[y]]\n"
      "adds %[x], %[x], #1\n"
      "adds %[y], %[y], #1\n"
      "ldr %[t], %[end]\n"
      "cmp %[y], %[t]\n"
      "bne 1b\n"
      "3:\n"
      ".syntax divided\n"
      : [x] "+l"(x), [y] "+l"(y), [t] "=&l"(t), [u] "=&l"(u), [v] "=&l"(v)
      : [exp] "l"(row.exp), [maximum] "h"(row.maximum), [near] "h"(row.near), [half] "h"(row.half),
        [more] "h"(0x8004), [right] "h"(row.right), [end] "m"(end)
      : "cc", "memory");
  static_assert(kNear == 4);
  return static_cast<uint32_t>(y - first);
}

/// softmax_sum(), its two loops with fewer instructions.
SoftmaxSum sum_of(const abi::SoftmaxRows& p, const uint8_t* x) {
  int32_t maximum = -128;
#pragma GCC unroll 4
  for (uint32_t i = 0; i < p.length; ++i) {
    const auto code = static_cast<int8_t>(x[i]);
    maximum = code > maximum ? code : maximum;
  }
  uint32_t sum = 0;
  for (const uint8_t* const end = x + p.length; x != end; ++x) {
    uint32_t exp = p.exp[static_cast<uint8_t>(static_cast<uint32_t>(maximum) - *x)];
    // Bit 11 rounds.
    asm(".syntax unified\n"
        "lsrs %[exp], %[exp], #12\n"
        "adcs %[sum], %[sum], %[exp]\n"
        ".syntax divided\n"
        : [sum] "+l"(sum), [exp] "+l"(exp)
        :
        : "cc");
  }
  if (sum < 1U << 16) sum = 1U << 16;
  const int32_t headroom = numerics::count_leading_zeros(sum);
  return {maximum, headroom, sum << headroom};
}

void softmax_bytes(const abi::SoftmaxRows& p, const uint8_t* x, uint8_t* y) {
  const SoftmaxSum sum = sum_of(p, x);
  const auto right = static_cast<uint32_t>(35 - sum.headroom);
  if (right > 31) {  // even the maximum is below 1/512
    for (uint32_t i = 0; i < p.length; ++i) y[i] = 0x80;
    return;
  }
  const Row row = {p.exp, sum.maximum, near_reciprocal(sum.normal), uint32_t{1} << (right - 1),
                   right};
  for (uint32_t done = 0; done < p.length; ++done) {
    done += certain(row, x + done, y + done, p.length - done);
    if (done < p.length) y[done] = exact(row, sum.normal, x[done]);
  }
}

void run(void* const* operands) {
  const abi::SoftmaxRows& p = packed<abi::SoftmaxRows>(operands[1]);
  // Of so many no sum leaves 32 bits.
  constexpr uint32_t kLongest = 4095;
  if (p.wide != 0 || p.length == 2 || p.length > kLongest) {
    softmax_rows<ShortProducts>(operands);
    return;
  }
  const auto* x = static_cast<const uint8_t*>(operands[0]);
  auto* y = static_cast<uint8_t*>(operands[2]);
  for (uint32_t row = 0; row < p.rows; ++row) {
    softmax_bytes(p, x, y);
    x += p.length;
    y += p.length;
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_softmax_rows, check_softmax_rows, run);

}  // namespace thimble::kernels

#endif
