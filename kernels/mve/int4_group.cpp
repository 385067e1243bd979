// SPDX-License-Identifier: Apache-2.0
// conv2d_int4_group and linear_int4_group on Helium. Three rows of x share the extraction of
// weights and their products with factors, which are weights of 8 bits: a step of 16 values for two
// channels has 15 instructions, 12 with weights of 8 bits. The last rows are computed one by one.
//
// Rows are copied to scratch in the order in which a step reads them: 16 values of each row, zeros
// after the last value. Products of these zeros with any weights are 0.

#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/define_kernel.h"
#include "kernels/portable/int4_group.h"

// clang-format off
#define THIMBLE_CONSTANTS \
  "vmov.i8 q3, #15\n" \
  "vmov.i8 q4, #8\n"
// Weights times factors of two channels: q2 and q0.
#define THIMBLE_WEIGHTS \
  "vldrb.u8 q0, [%[w]], #16\n" \
  "vldrb.u8 q1, [%[x]], #16\n" \
  "vand q2, q0, q3\n" \
  "vshr.s8 q0, q0, #4\n" \
  "vsub.i8 q2, q2, q4\n" \
  "vmul.i8 q0, q0, %[high]\n" \
  "vmul.i8 q2, q2, %[low]\n"
#define THIMBLE_NEXT \
  "subs %[steps], %[steps], #1\n" \
  "bne 1b\n"
// clang-format on

namespace thimble::kernels {
namespace {

/// One pair of channels of one group.
struct Pair {
  const uint8_t* w;
  uint32_t low, high;  // factors
  uint32_t steps;
};

/// Goes through the groups of a quad; `pair` is 0 or 1.
class PairGroups {
 public:
  PairGroups(const uint8_t* groups, uint32_t depth, uint32_t pair)
      : at_(groups), left_(depth), pair_(pair) {}
  bool has_next() const { return left_ != 0; }
  Pair next() {
    const uint32_t count = left_ < abi::kInt4Group ? left_ : abi::kInt4Group;
    const Pair pair = {at_ + 4 + pair_ * count, at_[2 * pair_], at_[2 * pair_ + 1],
                       (count + 15) / 16};
    at_ += 4 + 2 * count;
    left_ -= count;
    return pair;
  }

 private:
  const uint8_t* at_;
  uint32_t left_;
  const uint32_t pair_;
};

/// Sums of one row for the four channels of a quad.
struct Sums {
  uint32_t of[4];
};

void multiply_three(const int8_t* x, PairGroups groups, uint32_t* row0, uint32_t* row1,
                    uint32_t* row2) {
  uint32_t a0 = 0, b0 = 0, a1 = 0, b1 = 0, a2 = 0, b2 = 0;
  while (groups.has_next()) {
    Pair pair = groups.next();
    // clang-format off
    asm volatile(
        THIMBLE_CONSTANTS
        "1:\n"
        THIMBLE_WEIGHTS
        "vmladava.s8 %[b0], q1, q0\n"
        "vmladava.s8 %[a0], q1, q2\n"
        "vldrb.u8 q1, [%[x]], #16\n"
        "vmladava.s8 %[b1], q1, q0\n"
        "vmladava.s8 %[a1], q1, q2\n"
        "vldrb.u8 q1, [%[x]], #16\n"
        "vmladava.s8 %[b2], q1, q0\n"
        "vmladava.s8 %[a2], q1, q2\n"
        THIMBLE_NEXT
        : [x] "+r"(x), [w] "+r"(pair.w), [steps] "+r"(pair.steps), [a0] "+Te"(a0), [b0] "+Te"(b0),
          [a1] "+Te"(a1), [b1] "+Te"(b1), [a2] "+Te"(a2), [b2] "+Te"(b2)
        : [low] "r"(pair.low), [high] "r"(pair.high)
        : "q0", "q1", "q2", "q3", "q4", "cc", "memory");
    // clang-format on
  }
  row0[0] = a0;
  row0[1] = b0;
  row1[0] = a1;
  row1[1] = b1;
  row2[0] = a2;
  row2[1] = b2;
}

void multiply_one(const int8_t* x, PairGroups groups, uint32_t* row) {
  uint32_t a = 0, b = 0;
  while (groups.has_next()) {
    Pair pair = groups.next();
    // clang-format off
    asm volatile(
        THIMBLE_CONSTANTS
        "1:\n"
        THIMBLE_WEIGHTS
        "vmladava.s8 %[b], q1, q0\n"
        "vmladava.s8 %[a], q1, q2\n"
        THIMBLE_NEXT
        : [x] "+r"(x), [w] "+r"(pair.w), [steps] "+r"(pair.steps), [a] "+Te"(a), [b] "+Te"(b)
        : [low] "r"(pair.low), [high] "r"(pair.high)
        : "q0", "q1", "q2", "q3", "q4", "cc", "memory");
    // clang-format on
  }
  row[0] = a;
  row[1] = b;
}

/// Copies a row of x, 16 values at a time, `stride` bytes apart; zeros follow the last value.
void copy_row(const int8_t* x, int8_t* to, uint32_t depth, uint32_t stride) {
  for (auto left = static_cast<int32_t>(depth); left > 0; left -= 16, x += 16, to += stride) {
    asm volatile(
        "vctp.8 %[left]\n"
        "vpst\n"
        "vldrbt.u8 q0, [%[x]]\n"
        "vstrb.8 q0, [%[to]]\n"
        :
        : [left] "r"(left), [x] "r"(x), [to] "r"(to)
        : "q0", "memory");
  }
}

/// Requantizes the sums of a row and writes `count` results.
void finish(const Int4GroupLayer& layer, const abi::Int4Quad& quad, const Sums& sums, int8_t* y,
            uint32_t count) {
  asm volatile(
      "vldrw.u32 q0, [%[sums]]\n"
      "vldrw.u32 q1, [%[quad]]\n"
      "vadd.i32 q0, q0, q1\n"
      "vldrw.u32 q1, [%[quad], #16]\n"
      "vqrdmulh.s32 q0, q0, q1\n"
      "vshr.s32 q1, q0, #31\n"
      "vadd.i32 q0, q0, q1\n"
      "vldrb.s32 q1, [%[quad], #32]\n"
      "vrshl.s32 q0, q0, q1\n"
      "vadd.i32 q0, q0, %[zero]\n"
      "vdup.32 q1, %[min]\n"
      "vmax.s32 q0, q0, q1\n"
      "vdup.32 q1, %[max]\n"
      "vmin.s32 q0, q0, q1\n"
      "vctp.32 %[count]\n"
      "vpst\n"
      "vstrbt.32 q0, [%[y]]\n"
      :
      : [sums] "r"(&sums), [quad] "l"(&quad), [zero] "r"(layer.y_zero_point), [min] "r"(layer.min),
        [max] "r"(layer.max), [count] "r"(count), [y] "l"(y)
      : "q0", "q1", "memory");
}

void run_rows(const Int4GroupLayer& layer, const int8_t* x, int8_t* y, void* scratch) {
  auto* const columns = static_cast<int8_t*>(scratch);
  for (uint32_t left = layer.rows; left != 0;) {
    const uint32_t rows = left >= 3 ? 3 : 1;
    for (uint32_t r = 0; r < rows; ++r, x += layer.depth) {
      copy_row(x, columns + 16 * r, layer.depth, 16 * rows);
    }
    const auto* packed = static_cast<const uint8_t*>(layer.packed);
    const uint32_t group_bytes =
        4 * static_cast<uint32_t>(abi::int4_groups(layer.depth)) + 2 * layer.depth;
    for (uint32_t channel = 0; channel < layer.channels; channel += 4) {
      const auto& quad = *reinterpret_cast<const abi::Int4Quad*>(packed);
      packed += sizeof quad;
      Sums sums[3];
      for (uint32_t pair = 0; pair < 2; ++pair) {
        const PairGroups groups(packed, layer.depth, pair);
        if (rows == 3) {
          multiply_three(columns, groups, sums[0].of + 2 * pair, sums[1].of + 2 * pair,
                         sums[2].of + 2 * pair);
        } else {
          multiply_one(columns, groups, sums[0].of + 2 * pair);
        }
      }
      packed += group_bytes;
      const uint32_t count = layer.channels - channel < 4 ? layer.channels - channel : 4;
      for (uint32_t r = 0; r < rows; ++r) {
        finish(layer, quad, sums[r], y + r * layer.channels + channel, count);
      }
    }
    y += rows * layer.channels;
    left -= rows;
  }
}

void run_conv2d(void* const* operands) {
  run_rows(conv2d_int4_group_layer(operands), static_cast<const int8_t*>(operands[0]),
           static_cast<int8_t*>(operands[4]), operands[3]);
}
void run_linear(void* const* operands) {
  run_rows(linear_int4_group_layer(operands), static_cast<const int8_t*>(operands[0]),
           static_cast<int8_t*>(operands[4]), operands[3]);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_conv2d_int4_group, check_conv2d_int4_group, run_conv2d);
THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_linear_int4_group, check_linear_int4_group, run_linear);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_MVE
