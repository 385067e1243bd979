// SPDX-License-Identifier: Apache-2.0
// thimble::resize_bilinear; formula: docs/numerics.md, "Bilinear resizing".
//
// Operands: x, h_low, h_weight, w_low, w_weight (int32 constants, one entry per output row or
// column), y. Memory: NHWC.

#include "abi/ops/pool.h"
#include "kernels/args/requant.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kOne = 2048;

/// Checks that a table has `count` words from 0 to `high`.
Status check_table(const Tensor& table, int32_t count, int32_t high) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(table, DType::kI32));
  if (!table.is_constant) return Status::kBadParameter;
  if (elements(table) != count) return Status::kBadShape;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t entry = words(table)[i];
    if (entry < 0 || entry > high) return Status::kBadParameter;
  }
  return Status::kOk;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 5);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, x.dtype));
    if (t->rank != 4) return Status::kBadShape;
    if (!is_nhwc(*t)) return Status::kBadDimOrder;
  }
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  for (uint32_t side = 0; side < 2; ++side) {
    const int32_t count = y.sizes[2 + side];
    const Tensor& low = tensor(call, 1 + 2 * side);
    THIMBLE_RETURN_IF_ERROR(check_table(low, count, x.sizes[2 + side] - 1));
    THIMBLE_RETURN_IF_ERROR(check_table(tensor(call, 2 + 2 * side), count, kOne));
  }
  return Status::kOk;
}

/// The four pixels around an output pixel and their weights, whose sum is 2^22.
template <class Code>
struct Corners {
  const Code* x[4];
  int32_t weight[4];
};

/// Sum must be able to hold an element times 2^22.
template <class Code, class Sum>
void interpolate(const Corners<Code>& corners, int32_t channels, Code* y) {
  const Code* const x0 = corners.x[0];
  const Code* const x1 = corners.x[1];
  const Code* const x2 = corners.x[2];
  const Code* const x3 = corners.x[3];
  for (int32_t c = 0; c < channels; ++c) {
    const Sum sum = Sum{x0[c]} * corners.weight[0] + Sum{x1[c]} * corners.weight[1] +
                    Sum{x2[c]} * corners.weight[2] + Sum{x3[c]} * corners.weight[3];
    y[c] = static_cast<Code>((sum + (1 << 21)) >> 22);
  }
}

template <class Code, class Sum>
void resize(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 5);
  const int32_t channels = x.sizes[1];
  const int32_t row_step = x.sizes[3] * channels;
  const Code* image = static_cast<const Code*>(x.data);
  Code* to = static_cast<Code*>(y.data);
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    for (int32_t oy = 0; oy < y.sizes[2]; ++oy) {
      const int32_t low = words(tensor(call, 1))[oy];
      const int32_t b = words(tensor(call, 2))[oy];
      const Code* const above = image + low * row_step;
      const Code* const below = low + 1 < x.sizes[2] ? above + row_step : above;
      for (int32_t ox = 0; ox < y.sizes[3]; ++ox) {
        const int32_t left = words(tensor(call, 3))[ox];
        const int32_t r = words(tensor(call, 4))[ox];
        const int32_t from = left * channels;
        const int32_t next = left + 1 < x.sizes[3] ? from + channels : from;
        const Corners<Code> corners = {
            {above + from, above + next, below + from, below + next},
            {(kOne - b) * (kOne - r), (kOne - b) * r, b * (kOne - r), b * r}};
        interpolate<Code, Sum>(corners, channels, to);
        to += channels;
      }
    }
    image += x.sizes[2] * row_step;
  }
}

void run(const Call& call) {
  tensor(call, 0).dtype == DType::kI8 ? resize<int8_t, int32_t>(call)
                                      : resize<int16_t, int64_t>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_resize_bilinear, check, run);

}  // namespace thimble::kernels
