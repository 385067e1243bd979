// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of add_table that all cores share. A variant supplies the multiplication:
// Product::high(a, b) is floor((a * b + 2^31) / 2^32).

#include <cstdint>

#include "abi/params/arithmetic.h"
#include "kernels/args/loop_nest.h"

namespace thimble::kernels {

Status check_add_table(const Call& call);

/// The steps after the multiplication: division by 2^shift to nearest with halves away from zero,
/// addition of the zero point, clamping.
struct AddResult {
  uint32_t shift;
  int32_t nudge, min, max;

  explicit AddResult(const abi::AddParams& p)
      : shift(static_cast<uint32_t>(-p.y_shift) & 31),
        nudge(static_cast<int32_t>((uint32_t{1} << shift >> 1) +
                                   (static_cast<uint32_t>(p.y_offset) << shift))),
        min(p.min),
        max(p.max) {}

  int8_t code(int32_t product) const {
    const int32_t away = numerics::wrap_add(product, product >> 31);
    const int32_t code = numerics::wrap_add(away, nudge) >> shift;
    return static_cast<int8_t>(numerics::clamp(code, min, max));
  }
};

/// Computes a row of the innermost axis.
struct AddRow {
  const abi::AddTable& p;
  uint32_t count, a_step, b_step;

  explicit AddRow(const abi::AddTable& table)
      : p(table),
        count(table.nest.extent[abi::LoopNest::kAxes - 1]),
        a_step(table.nest.step[0][abi::LoopNest::kAxes - 1]),
        b_step(table.nest.step[1][abi::LoopNest::kAxes - 1]) {}

  template <class Product>
  void add(const AddResult& result, const uint8_t* a, const uint8_t* b, int8_t* y,
           uint32_t left) const {
    const int32_t mult = p.add.y_mult;
    for (; left != 0; --left) {
      const int32_t sum = numerics::wrap_add(p.a[*a], p.b[*b]);
      a += a_step;
      b += b_step;
      *y++ = result.code(Product::high(sum, mult));
    }
  }
};

}  // namespace thimble::kernels
