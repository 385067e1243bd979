// SPDX-License-Identifier: Apache-2.0
// thimble::mul.nest: products of int8 tensors; formula: docs/numerics.md, "Addition,
// subtraction, multiplication"; constant: abi/packed_ops.h.
//
// Operands: a, b, MulNest constant, y. In place: y may be a or b, if that operand has the same
// number of elements as y.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/binary_nest.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// Requantization of docs/numerics.md for products that are below 2^30 after the left shift. The
/// zero point and the rounding half are added in one sum.
struct Result {
  uint32_t left, right;
  int32_t mult, nudge, sign_mask, min, max;

  explicit Result(const abi::MulParams& p)
      : left(p.shift > 0 ? static_cast<uint32_t>(p.shift) : 0),
        right(p.shift > 0 ? 0 : static_cast<uint32_t>(-p.shift)),
        mult(p.mult),
        nudge(static_cast<int32_t>((uint32_t{1} << right >> 1) +
                                   (static_cast<uint32_t>(p.y_offset) << right))),
        sign_mask(right == 0 ? 0 : -1),
        min(p.min),
        max(p.max) {}

  int8_t code(int32_t product) const {
    const auto twice = static_cast<int32_t>(static_cast<uint32_t>(product) << left << 1);
    const int64_t scaled = int64_t{twice} * mult;
    const int32_t high = static_cast<int32_t>(static_cast<uint32_t>(scaled >> 32) +
                                              (static_cast<uint32_t>(scaled) >> 31));
    const int32_t away = numerics::wrap_add(high, high >> 31 & sign_mask);
    return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(away, nudge) >> right, min, max));
  }
};

void run(void* const* operands) {
  const abi::MulNest& p = packed<abi::op_info::thimble_mul_nest>(operands[2]);
  const Result result(p.mul);
  const int32_t a_offset = p.mul.a_offset;
  const int32_t b_offset = p.mul.b_offset;
  auto* y = static_cast<int8_t*>(operands[3]);
  const uint32_t a_step = p.nest.step[0][abi::LoopNest::kAxes - 1];
  const uint32_t b_step = p.nest.step[1][abi::LoopNest::kAxes - 1];
  for_each_row(p.nest, [&](uint32_t a_at, uint32_t b_at) {
    const auto* a = static_cast<const int8_t*>(operands[0]) + a_at;
    const auto* b = static_cast<const int8_t*>(operands[1]) + b_at;
    for (uint32_t left = p.nest.extent[abi::LoopNest::kAxes - 1]; left != 0; --left) {
      *y++ = result.code((*a + a_offset) * (*b + b_offset));
      a += a_step;
      b += b_step;
    }
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_mul_nest, check_mul_nest, run);

}  // namespace thimble::kernels
