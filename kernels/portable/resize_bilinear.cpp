// thimble::resize_bilinear; formula: docs/numerics.md, "Bilinear resizing".
//
// Operands: x, h_low, h_weight, w_low, w_weight (int32 constants, an entry per output row or
// column), y. Memory: NHWC.

#include "kernels/args/requant.h"
#include "kernels/define.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kOne = 2048;

/// `count` words from 0 to `high`.
Status check_table(const Tensor& table, int32_t count, int32_t high) {
  if (const Status s = check_tensor(table, DType::kI32); s != Status::kOk) return s;
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
    if (const Status s = check_tensor(*t, DType::kI8); s != Status::kOk) return s;
    if (t->rank != 4) return Status::kBadShape;
    if (!is_nhwc(*t)) return Status::kBadLayout;
  }
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  for (uint32_t side = 0; side < 2; ++side) {
    const int32_t count = y.sizes[2 + side];
    const Tensor& low = tensor(call, 1 + 2 * side);
    const Status s = check_table(low, count, x.sizes[2 + side] - 1);
    if (s != Status::kOk) return s;
    const Status w = check_table(tensor(call, 2 + 2 * side), count, kOne);
    if (w != Status::kOk) return w;
  }
  return Status::kOk;
}

/// The four pixels around an output pixel and their weights, which add up to 2^22.
struct Corners {
  const int8_t* x[4];
  int32_t weight[4];
};

void interpolate(const Corners& corners, int32_t channels, int8_t* y) {
  const int8_t* const x0 = corners.x[0];
  const int8_t* const x1 = corners.x[1];
  const int8_t* const x2 = corners.x[2];
  const int8_t* const x3 = corners.x[3];
  for (int32_t c = 0; c < channels; ++c) {
    const int32_t sum = x0[c] * corners.weight[0] + x1[c] * corners.weight[1] +
                        x2[c] * corners.weight[2] + x3[c] * corners.weight[3];
    y[c] = static_cast<int8_t>((sum + (1 << 21)) >> 22);
  }
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 5);
  const int32_t channels = x.sizes[1];
  const int32_t row_bytes = x.sizes[3] * channels;
  const int8_t* image = codes(x);
  int8_t* to = mutable_codes(y);
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    for (int32_t oy = 0; oy < y.sizes[2]; ++oy) {
      const int32_t low = words(tensor(call, 1))[oy];
      const int32_t b = words(tensor(call, 2))[oy];
      const int8_t* const above = image + low * row_bytes;
      const int8_t* const below = low + 1 < x.sizes[2] ? above + row_bytes : above;
      for (int32_t ox = 0; ox < y.sizes[3]; ++ox) {
        const int32_t left = words(tensor(call, 3))[ox];
        const int32_t r = words(tensor(call, 4))[ox];
        const int32_t from = left * channels;
        const int32_t next = left + 1 < x.sizes[3] ? from + channels : from;
        const Corners corners = {{above + from, above + next, below + from, below + next},
                                 {(kOne - b) * (kOne - r), (kOne - b) * r, b * (kOne - r), b * r}};
        interpolate(corners, channels, to);
        to += channels;
      }
    }
    image += x.sizes[2] * row_bytes;
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_resize_bilinear, check, run);

}  // namespace thimble::kernels
