// cortex_m::quantized_add and cortex_m::quantized_mul with the loops of add_flat and mul_nest.
//
// ExecuTorch gives the operand with the larger scale the multiplier 1/2, which is the form of
// add_flat; the two operands change places if it is the second one. A negative multiplier is a
// negated operand, because the product is rounded only afterwards. The portable body runs additions
// with other multipliers, with shifts to the left, and with operands that are not contiguous.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/elementwise.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/elementwise.h"
#include "kernels/portable/elementwise_rows.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kHalf = 1 << 30;

struct Operand {
  int32_t offset, mult, shift;

  bool is_half() const { return (mult == kHalf || mult == -kHalf) && shift == 0; }
};

/// Returns false if add_flat cannot express the addition.
bool set_flat(const Operand& a, const Operand& b, const abi::AddParams& p, abi::AddFlat* flat) {
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

/// Returns false if the loops of add_flat do not support the call.
bool add_contiguous(Binary& binary, const abi::AddParams& p) {
  StrideIterator& iterator = binary.iterator;
  const StrideIterator::Axis& row = iterator.row();
  if (row.step[1] != 1 || row.step[2] != 1) return false;
  const Operand a = {p.a_offset, p.a_mult, p.a_shift};
  const Operand b = {p.b_offset, p.b_mult, p.b_shift};
  abi::AddFlat flat = {};
  flat.count = static_cast<uint32_t>(row.extent);
  const bool swapped = !a.is_half();
  if (!(swapped ? set_flat(b, a, p, &flat) : set_flat(a, b, p, &flat))) return false;
  do {
    const int8_t* x[2] = {binary.a + iterator.offset[1], binary.b + iterator.offset[2]};
    mve::add(flat, x[swapped ? 1 : 0], x[swapped ? 0 : 1], binary.y + iterator.offset[0]);
  } while (iterator.next());
  return true;
}

void run_add(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 4), tensor(call, 13));
  const abi::AddParams params = stock_add_params(call, true);
  if (!add_contiguous(binary, params)) add_rows(binary, params);
}

void run_mul(const Call& call) {
  Binary binary = bind_binary(tensor(call, 0), tensor(call, 2), tensor(call, 7));
  const abi::MulParams params = stock_mul_params(call);
  StrideIterator& iterator = binary.iterator;
  const StrideIterator::Axis& row = iterator.row();
  do {
    mve::mul_row(params, {binary.a + iterator.offset[1], binary.b + iterator.offset[2],
                          binary.y + iterator.offset[0], static_cast<uint32_t>(row.extent),
                          static_cast<uint32_t>(row.step[1]), static_cast<uint32_t>(row.step[2])});
  } while (iterator.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_add, check_stock_add<true>, run_add);
THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_mul, check_stock_mul, run_mul);

}  // namespace thimble::kernels
#endif
