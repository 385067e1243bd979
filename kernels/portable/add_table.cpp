// SPDX-License-Identifier: Apache-2.0
// thimble::add.table: sum or difference of int8 tensors, where each operand is scaled by a
// table; formula: docs/numerics.md, "Addition"; constant: abi/packed_ops.h.
//
// Operands: a, b, AddTable constant, y. In place: y may be a or b, if that operand has the same
// number of elements as y.

#include "kernels/args/add_table.h"
#include "abi/ops/arithmetic.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// floor((a * b + 2^31) / 2^32). If a is twice a number, this is the product of docs/numerics.md.
struct LongProduct {
  static int32_t high(int32_t a, int32_t b) {
    const int64_t product = int64_t{a} * b;
    return static_cast<int32_t>(static_cast<uint32_t>(product >> 32) +
                                (static_cast<uint32_t>(product) >> 31));
  }
};

void run(void* const* operands) {
  const abi::AddTable& p = packed<abi::op_info::thimble_add_table>(operands[2]);
  const AddResult result(p.add);
  const AddRow row(p);
  auto* y = static_cast<int8_t*>(operands[3]);
  for_each_row(p.nest, [&](uint32_t a_offset, uint32_t b_offset) {
    row.add<LongProduct>(result, static_cast<const uint8_t*>(operands[0]) + a_offset,
                         static_cast<const uint8_t*>(operands[1]) + b_offset, y, row.count);
    y += row.count;
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_add_table, check_add_table, run);

}  // namespace thimble::kernels
