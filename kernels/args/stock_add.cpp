// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/stock_add.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kHalf = 1 << 30;

struct Operand {
  int32_t offset, mult, shift;

  bool is_half() const { return (mult == kHalf || mult == -kHalf) && shift == 0; }
};

/// Returns false if AddFlat cannot express the addition.
bool set_constants(const Operand& a, const Operand& b, const abi::AddParams& p,
                   abi::AddFlat* flat) {
  const bool fits = a.is_half() && b.shift <= 0 && p.y_shift < 0;
  if (!fits) return false;
  flat->a_negate = static_cast<uint8_t>(a.mult < 0);
  flat->b_negate = static_cast<uint8_t>(b.mult < 0);
  flat->b_mult = b.mult < 0 ? -b.mult : b.mult;
  flat->b_shift = static_cast<int8_t>(b.shift);
  flat->y_mult = p.y_mult;
  flat->y_shift = static_cast<int8_t>(p.y_shift);
  flat->a_zero_point = static_cast<int16_t>(-a.offset);
  flat->b_zero_point = static_cast<int16_t>(-b.offset);
  flat->y_zero_point = static_cast<int16_t>(p.y_offset);
  flat->min = static_cast<int16_t>(p.min);
  flat->max = static_cast<int16_t>(p.max);
  return true;
}

}  // namespace

bool set_flat(const Binary& binary, const abi::AddParams& params, abi::AddFlat* flat,
              bool* swapped) {
  const StrideIterator::Axis& row = binary.iterator.row();
  if (row.step[1] != 1 || row.step[2] != 1) return false;
  const Operand a = {params.a_offset, params.a_mult, params.a_shift};
  const Operand b = {params.b_offset, params.b_mult, params.b_shift};
  flat->count = static_cast<uint32_t>(row.extent);
  *swapped = !a.is_half();
  return *swapped ? set_constants(b, a, params, flat) : set_constants(a, b, params, flat);
}

}  // namespace thimble::kernels
