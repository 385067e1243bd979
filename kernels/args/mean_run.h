// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of mean_run: x, MeanRun constant (abi/packed_ops.h), y.

#include "abi/ops/reduction.h"
#include "kernels/args/column_sums.h"
#include "kernels/args/loop_nest.h"

namespace thimble::kernels {

Status check_mean_run(const Call& call);

/// Returns the sum of contiguous values, computed in four lanes; `add` as in mean_runs().
template <class Add>
int32_t run_sum(const int8_t* x, uint32_t count, Add add) {
  const uint32_t before = static_cast<uint32_t>(-reinterpret_cast<intptr_t>(x)) & 3;
  int32_t sum = column_sum(x, before, 1);
  x += before;
  count -= before;
  int32_t sums[4] = {};
  add(x, count / 4, 4, sums);
  sum += sums[0] + sums[1] + sums[2] + sums[3];
  return sum + column_sum(x + (count & ~uint32_t{3}), count & 3, 1);
}

/// The loops that all variants share. add(x, count, step, sums) adds `count` aligned words of four
/// values, `step` bytes apart, to the sums of their lanes. code(sum) returns the result.
template <class Add, class Code>
void mean_runs(void* const* operands, Add add, Code code) {
  const abi::MeanRun& p = packed<abi::op_info::thimble_mean_run>(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[2]);
  const uint32_t count = p.count;
  const uint32_t inner = p.inner;
  const bool words = is_word_aligned(x, inner);
  const bool runs = inner == 1 && count >= 32;
  for (uint32_t left = p.outer; left != 0; --left, x += count * inner) {
    if (words) {
      for (uint32_t i = 0; i < inner; i += 4) {
        int32_t sums[4] = {};
        add(x + i, count, inner, sums);
#pragma GCC unroll 1
        for (uint32_t k = 0; k < 4; ++k) *y++ = code(sums[k]);
      }
    } else {
      for (uint32_t i = 0; i < inner; ++i) {
        *y++ = code(runs ? run_sum(x, count, add) : column_sum(x + i, count, inner));
      }
    }
  }
}

}  // namespace thimble::kernels
