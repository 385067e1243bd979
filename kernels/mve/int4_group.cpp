// conv2d_int4_group and linear_int4_group on Helium. A group of 32 values of x takes 23 vector
// instructions for four channels, 17 with weights of 8 bits, and four multiplications by factors.

#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/define_kernel.h"
#include "kernels/portable/dot_int4.h"
#include "kernels/portable/int4_group.h"

namespace thimble::kernels {
namespace {

struct MveGroups {
  static int32_t copy_and_sum(int8_t* to, const int8_t* from, uint32_t count) {
    uint32_t sum = 0;
    asm volatile(
        "dlstp.8 lr, %[count]\n"
        "1:\n"
        "vldrb.u8 q0, [%[from]], #16\n"
        "vaddva.s8 %[sum], q0\n"
        "vstrb.u8 q0, [%[to]], #16\n"
        "letp lr, 1b\n"
        : [from] "+r"(from), [to] "+r"(to), [sum] "+Te"(sum)
        : [count] "r"(count)
        : "q0", "lr", "memory");
    return static_cast<int32_t>(sum);
  }

  static const uint8_t* sums(const Int4GroupRow& row, const uint8_t* groups, uint32_t (&sums)[4]) {
    const int8_t* x = row.x;
    const int8_t* const end = x + (row.depth & ~(abi::kInt4Group - 1));
    const int32_t* eight_sums = row.eight_sums;
    uint32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
    while (x != end) {
      uint32_t low, high, low1, high1;
      const uint8_t* w = groups + 4;
      // q5 keeps the low halves in the bytes; a pair is 16 * b + a + 8.
      asm volatile(
          "vmov.i8 q5, #15\n"
          "vldrb.u8 q0, [%[w]], #16\n"
          "vldrb.u8 q4, [%[x]], #16\n"
          "vand q1, q0, q5\n"
          "vmladav.s8 %[low], q4, q1\n"
          "vshr.s8 q0, q0, #4\n"
          "vldrb.u8 q2, [%[w], #16]\n"
          "vmladav.s8 %[high], q4, q0\n"
          "vand q3, q2, q5\n"
          "vmladav.s8 %[low1], q4, q3\n"
          "vshr.s8 q2, q2, #4\n"
          "vldrb.u8 q0, [%[w]], #16\n"
          "vmladav.s8 %[high1], q4, q2\n"
          "vldrb.u8 q4, [%[x]], #16\n"
          "vand q1, q0, q5\n"
          "vmladava.s8 %[low], q4, q1\n"
          "vshr.s8 q0, q0, #4\n"
          "vldrb.u8 q2, [%[w], #16]\n"
          "vmladava.s8 %[high], q4, q0\n"
          "vand q3, q2, q5\n"
          "vmladava.s8 %[low1], q4, q3\n"
          "vshr.s8 q2, q2, #4\n"
          "vmladava.s8 %[high1], q4, q2\n"
          : [x] "+r"(x), [w] "+r"(w), [low] "=&Te"(low), [high] "=&Te"(high), [low1] "=&Te"(low1),
            [high1] "=&Te"(high1)
          :
          : "q0", "q1", "q2", "q3", "q4", "q5", "memory");
      const auto offset = static_cast<uint32_t>(*eight_sums++);
      sum0 += w[-36] * (low - offset);
      sum1 += w[-35] * high;
      sum2 += w[-34] * (low1 - offset);
      sum3 += w[-33] * high1;
      groups = w + 32;
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
    return x == row.x + row.depth ? groups : add_last_int4_group(row, groups, sums);
  }
};

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_conv2d_int4_group, check_conv2d_int4_group,
                           run_conv2d_int4_group<MveGroups>);
THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_linear_int4_group, check_linear_int4_group,
                           run_linear_int4_group<MveGroups>);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_MVE
