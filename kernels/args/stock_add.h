// SPDX-License-Identifier: Apache-2.0
#pragma once
// A stock addition as AddFlat, which the faster loops compute. ExecuTorch gives the operand with
// the larger scale the multiplier 1/2, which is the form of AddFlat; the two operands change places
// if it is the second one. A negative multiplier is a negated operand, because the product is
// rounded only afterwards.

#include "abi/packed_ops.h"
#include "kernels/args/elementwise.h"

namespace thimble::kernels {

/// Sets the constant for one row of the traversal, and *swapped if a and b change places. Returns
/// false for additions with other multipliers, with shifts to the left, and with operands that are
/// not contiguous.
bool set_flat(const Binary& binary, const abi::AddParams& params, abi::AddFlat* flat,
              bool* swapped);

/// Computes rows with set_flat() on cores without Helium. Product::high(a, b) is
/// floor((a * b + 2^31) / 2^32). Returns false if set_flat() does.
template <class Product>
bool add_flat_rows(Binary& binary, const abi::AddParams& params) {
  abi::AddFlat p;
  bool swapped;
  if (!set_flat(binary, params, &p, &swapped)) return false;
  StrideIterator& iterator = binary.iterator;
  const int32_t a_factor = p.a_negate != 0 ? -(1 << 20) : 1 << 20;
  const int32_t b_factor = p.b_negate != 0 ? -(1 << 21) : 1 << 21;
  const int32_t start = -p.a_zero_point * a_factor;
  const int32_t b_start = -p.b_zero_point * b_factor;
  // Twice the scaled operand b is the rounded quotient by 2^b_right, shifted to the left by one.
  const int32_t b_right = -p.b_shift;
  const auto b_half = static_cast<int32_t>(uint32_t{1} << b_right >> 1);
  const int32_t b_away = b_right == 0 ? 0 : -1;
  const int32_t right = -p.y_shift;
  const auto half = static_cast<int32_t>(uint32_t{1} << right >> 1);
  const int32_t b_mult = p.b_mult;
  const int32_t y_mult = p.y_mult;
  const int32_t zero_point = p.y_zero_point;
  const int32_t min = p.min;
  const int32_t max = p.max;
  do {
    const int8_t* a = binary.a + iterator.offset[1];
    const int8_t* b = binary.b + iterator.offset[2];
    if (swapped) {
      const int8_t* const other = a;
      a = b;
      b = other;
    }
    int8_t* y = binary.y + iterator.offset[0];
    for (uint32_t left = p.count; left != 0; --left) {
      const int32_t product = Product::high(*b++ * b_factor + b_start, b_mult);
      const int32_t scaled = (product + (product >> 31 & b_away) + b_half) >> b_right;
      const int32_t sum = *a++ * a_factor + start + 2 * scaled;
      const int32_t high = Product::high(sum, y_mult);
      const int32_t code = ((high + (high >> 31) + half) >> right) + zero_point;
      *y++ = static_cast<int8_t>(numerics::clamp(code, min, max));
    }
  } while (iterator.next());
  return true;
}

}  // namespace thimble::kernels
