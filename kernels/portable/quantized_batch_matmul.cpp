// cortex_m::quantized_batch_matmul:
//   y[n, i, j] = clamp(requantize(sum over k of (a[n, i, k] + a_offset) * (b[n, j, k] + b_offset),
//                                 mult, shift) + y_zp, -128, 127)
// The right operand is stored transposed.
//
// Operands: a [N, M, K], a_offset (-zero point), b [N, J, K], b_offset, y_zp, mult, shift, [scratch
// (unused here, but writable),] y [N, M, J]; contiguous.

#include "abi/ops/stock.h"
#include "kernels/args/operands.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// Products are at most 255 * 255, because both factors are activations.
constexpr int32_t kMaxInner = INT32_MAX / (255 * 255);

constexpr Letters kLetters = letters(abi::op_info::cortex_m_quantized_batch_matmul);
constexpr Letters kLetters8 = letters(abi::op_info::cortex_m_quantized_batch_matmul_8);

template <uint32_t kOut>
Status check(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& b = tensor(call, 2);
  const Tensor& y = tensor(call, kOut);
  if (!integers_fit(call, kOut == 8 ? kLetters : kLetters8)) return Status::kBadParameter;
  if (kOut == 8 && tensor(call, 7).is_constant) return Status::kBadParameter;
  const Tensor* const all[] = {&a, &b, &y};
  for (const Tensor* t : all) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
    if (t->rank != 3) return Status::kBadShape;
    if (!is_contiguous(*t)) return Status::kBadDimOrder;
  }
  const bool agree = a.sizes[0] == b.sizes[0] && a.sizes[0] == y.sizes[0] &&
                     a.sizes[1] == y.sizes[1] && b.sizes[1] == y.sizes[2] &&
                     a.sizes[2] == b.sizes[2] && a.sizes[2] <= kMaxInner;
  if (!agree) return Status::kBadShape;
  const bool fine = is_offset(integer(call, 1)) && is_offset(integer(call, 3)) &&
                    is_code(integer(call, 4)) && is_scale(integer(call, 5), integer(call, 6));
  return fine ? Status::kOk : Status::kBadParameter;
}

template <uint32_t kOut>
void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, kOut);
  const int32_t rows = x.sizes[1], columns = y.sizes[2], inner = x.sizes[2];
  const int32_t a_offset = integer(call, 1), b_offset = integer(call, 3);
  const int8_t* a = codes(x);
  int8_t* out = mutable_codes(y);
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    for (int32_t i = 0; i < rows; ++i, a += inner) {
      const int8_t* b = codes(tensor(call, 2)) + n * columns * inner;
      for (int32_t j = 0; j < columns; ++j, b += inner) {
        int32_t sum = 0;
        for (int32_t k = 0; k < inner; ++k) sum += (a[k] + a_offset) * (b[k] + b_offset);
        const int32_t scaled = numerics::requantize(sum, integer(call, 5), integer(call, 6));
        *out++ = static_cast<int8_t>(
            numerics::clamp(numerics::wrap_add(scaled, integer(call, 4)), -128, 127));
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_batch_matmul, check<8>, run<8>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_batch_matmul_8, check<7>, run<7>);

}  // namespace thimble::kernels
