// cortex_m::softmax, over any dimension that is innermost in memory; formula: numerics/softmax.h.
//
// Operands: x, dim, x_zero_point (cancels), y_zero_point (-128), mult, shift, diff_min, y. In
// place: y may be x.

#include "numerics/softmax.h"
#include "abi/ops/stock.h"

#include "kernels/args/rows.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// Returns the dimension; a negative one counts from the end. An invalid one stays out of range.
uint32_t dimension(const Call& call) {
  const int32_t dim = integer(call, 1);
  return static_cast<uint32_t>(dim < 0 ? dim + tensor(call, 0).rank : dim);
}

Status check(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::cortex_m_softmax;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_rows(tensor(call, 0), tensor(call, 7), dimension(call)));
  const int32_t shift = integer(call, 5);
  const bool fine = is_code(integer(call, 2)) && integer(call, 3) == -128 &&
                    integer(call, 4) >= 0 && shift >= 0 && shift <= 31 && integer(call, 6) <= 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const numerics::Softmax softmax = {integer(call, 4), integer(call, 5), integer(call, 6)};
  const int32_t length = x.sizes[dimension(call)];
  const int32_t count = elements(x);
  for (int32_t i = 0; i < count; i += length) {
    softmax.row(codes(x) + i, length, mutable_codes(tensor(call, 7)) + i);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_softmax, check, run);

}  // namespace thimble::kernels
