// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_batch_matmul:
//   y[n, i, j] = clamp(requantize(sum over k of (a[n, i, k] + a_offset) * (b[n, j, k] + b_offset),
//                                 mult, shift) + y_zp, -128, 127)
// The sum is that of (a + a_offset) * b, which the loops of linear layers compute, plus b_offset
// times the sum of a + a_offset. Operands: kernels/args/batch_matmul.h.

#include "abi/ops/stock.h"
#include "kernels/args/batch_matmul.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

template <int kColumns>
void columns(const BatchMatmul& m, const int8_t* a, const int8_t* b, uint32_t start, int8_t* y) {
  const abi::MatmulParams p = m.params;
  uint32_t acc[kColumns];
  for (uint32_t& sum : acc) sum = start;
  accumulate(a, b, m.depth, m.depth, -p.a_zp, acc);
  for (int k = 0; k < kColumns; ++k) {
    const int32_t scaled = numerics::requantize(static_cast<int32_t>(acc[k]), p.mult, p.shift);
    y[k] = static_cast<int8_t>(numerics::clamp(numerics::wrap_add(scaled, p.y_zp), p.min, p.max));
  }
}

void row(const BatchMatmul& m, const int8_t* a, const int8_t* b, int8_t* y) {
  int32_t sum = -m.depth * m.params.a_zp;
  for (int32_t k = 0; k < m.depth; ++k) sum += a[k];
  const auto start = static_cast<uint32_t>(-m.params.b_zp * sum);
  int32_t j = 0;
  for (; j + 4 <= m.columns; j += 4) columns<4>(m, a, b + j * m.depth, start, y + j);
  for (; j < m.columns; ++j) columns<1>(m, a, b + j * m.depth, start, y + j);
}

template <uint32_t kOut>
void run(const Call& call) {
  const BatchMatmul m = bind_batch_matmul(call, kOut);
  const int8_t* a = m.a;
  int8_t* y = m.y;
  for (int32_t n = 0; n < m.batches; ++n) {
    const int8_t* const b = m.b + n * m.columns * m.depth;
    for (int32_t i = 0; i < m.rows; ++i) {
      row(m, a, b, y);
      a += m.depth;
      y += m.columns;
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_batch_matmul, check_batch_matmul<8>, run<8>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_batch_matmul_8, check_batch_matmul<7>, run<7>);

}  // namespace thimble::kernels
