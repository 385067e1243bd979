// SPDX-License-Identifier: Apache-2.0
// matmul: batches that broadcast, both orders of b, remainders of depth and columns.

#include "kernels/isa.h"

#include <cstring>

#include "abi/params/matmul.h"
#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

using kernels::DType;

}  // namespace

void make_matmul(uint32_t index, Case& c) {
  const auto batches = static_cast<uint32_t>(c.uniform(0, 2));
  const uint32_t rank = batches + 2;
  const int32_t rows = c.uniform(1, 6);
  const int32_t depth = c.uniform(0, 2) == 0 ? 16 * c.uniform(1, 4) : c.uniform(1, 70);
  const int32_t columns =
      c.uniform(0, 2) == 0 ? 4 * c.uniform(1, 6) : c.uniform(1, index % 8 == 0 ? 140 : 21);
  const bool transposed = index % 2 == 0;
  int32_t a[4] = {}, b[4] = {}, y[4] = {};
  int32_t a_count = 1, b_count = 1, y_count = 1;
  for (uint32_t d = 0; d < batches; ++d) {
    y[d] = c.uniform(1, 3);
    const int32_t one = c.uniform(0, 3);  // the operand that is broadcast: 0 a, 1 b, else none
    a[d] = one == 0 ? 1 : y[d];
    b[d] = one == 1 ? 1 : y[d];
    a_count *= a[d], b_count *= b[d], y_count *= y[d];
  }
  a[rank - 2] = y[rank - 2] = rows;
  a[rank - 1] = b[transposed ? rank - 1 : rank - 2] = depth;
  y[rank - 1] = b[transposed ? rank - 2 : rank - 1] = columns;
  c.input<int8_t>(a_count * rows * depth);
  c.shape(DType::kI8, a, rank);
  c.input<int8_t>(b_count * depth * columns);
  c.shape(DType::kI8, b, rank);
  abi::MatmulParams p = {};
  p.transpose_b = transposed ? 1 : 0;
  p.a_zp = c.uniform(-128, 127);
  p.b_zp = c.uniform(-128, 127);
  p.y_zp = c.uniform(-128, 127);
  p.mult = static_cast<int32_t>(c.next() >> 2 | 1U << 30);
  p.shift = -c.uniform(4, 14);
  p.min = c.uniform(0, 1) == 0 ? -128 : c.uniform(-128, 0);
  p.max = c.uniform(p.min, 127);
  std::memcpy(c.input<abi::MatmulParams>(1), &p, sizeof p);
  const int32_t size = sizeof p;
  c.shape(DType::kU8, &size, 1);
  c.output(y_count * rows * columns);
  c.shape(DType::kI8, y, rank);
  c.text() << rank << " dimensions, " << rows << "x" << depth << "x" << columns
           << (transposed ? ", b transposed" : "");
}

}  // namespace thimble::firmware
