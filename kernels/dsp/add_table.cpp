// SPDX-License-Identifier: Apache-2.0
// thimble::add.table with the DSP extension: 13 instructions per result (add_fours.h). The portable
// code handles the remaining elements of a row, and rows whose operands are not contiguous.

#include "abi/ops/arithmetic.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/args/add_table.h"
#include "kernels/args/flat.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/add_fours.h"

namespace thimble::kernels {
namespace {

struct RoundingProduct {
  static int32_t high(int32_t a, int32_t b) {
    int32_t product;
    asm("smmulr %0, %1, %2" : "=r"(product) : "r"(a), "r"(b));
    return product;
  }
};

uint32_t four_times(int32_t code) {
  return static_cast<uint32_t>(code & 255) * 0x01010101U;
}

void run(void* const* operands) {
  const abi::AddTable& p = packed<abi::op_info::thimble_add_table>(operands[2]);
  const AddResult result(p.add);
  const dsp::AddFours fours = {
      p.a,          p.b,          four_times(p.add.min), four_times(p.add.max),
      p.add.y_mult, result.nudge, result.shift};
  auto* y = static_cast<int8_t*>(operands[3]);
  const AddRow row(p);
  const bool runs = row.a_step == 1 && row.b_step == 1;
  for_each_row(p.nest, [&](uint32_t a_offset, uint32_t b_offset) {
    const auto* a = static_cast<const uint8_t*>(operands[0]) + a_offset;
    const auto* b = static_cast<const uint8_t*>(operands[1]) + b_offset;
    uint32_t fast = 0;
    if (runs && is_word_aligned(y, 0)) fast = row.count & ~uint32_t{3};
    if (fast != 0) dsp::add_fours(fours, a, b, reinterpret_cast<uint8_t*>(y), fast);
    row.add<RoundingProduct>(result, a + fast, b + fast, y + fast, row.count - fast);
    y += row.count;
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_add_table, check_add_table, run);

}  // namespace thimble::kernels

#endif
