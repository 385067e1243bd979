// SPDX-License-Identifier: Apache-2.0
// thimble::add.table on cores without a long multiplication: the product is computed from its
// 16-bit halves in the loop, without a call.

#include "abi/ops/arithmetic.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_V6M

#include "kernels/args/add_table.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct HalvesProduct {
  static int32_t high(int32_t a, int32_t b) {
    const auto a_low = static_cast<int32_t>(static_cast<uint32_t>(a) & 0xffff);
    const auto b_low = static_cast<int32_t>(static_cast<uint32_t>(b) & 0xffff);
    const int32_t a_high = a >> 16;
    const int32_t b_high = b >> 16;
    const uint32_t low = static_cast<uint32_t>(a_low) * static_cast<uint32_t>(b_low);
    const int32_t middle = a_high * b_low + static_cast<int32_t>(low >> 16);
    const int32_t rest = a_low * b_high + (middle & 0xffff);
    // `rest` plus 2^15 may not fit: its bit 15 rounds.
    return a_high * b_high + (middle >> 16) + (rest >> 16) + (rest >> 15 & 1);
  }
};

void run(void* const* operands) {
  const abi::AddTable& p = packed<abi::op_info::thimble_add_table>(operands[2]);
  const AddResult result(p.add);
  const AddRow row(p);
  auto* y = static_cast<int8_t*>(operands[3]);
  for_each_row(p.nest, [&](uint32_t a_offset, uint32_t b_offset) {
    row.add<HalvesProduct>(result, static_cast<const uint8_t*>(operands[0]) + a_offset,
                           static_cast<const uint8_t*>(operands[1]) + b_offset, y, row.count);
    y += row.count;
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_add_table, check_add_table, run);

}  // namespace thimble::kernels

#endif
