// SPDX-License-Identifier: Apache-2.0
// cortex_m::pad: pads a tensor of up to 4 dimensions with one value.
//
// Operands: x, before[4], after[4], value, y. Both lists have four values in the order of the
// dimensions in *memory*, aligned at the innermost. As in the stock kernel, a rank-4 tensor with an
// ambiguous dim_order (one channel, or one pixel) is handled as NHWC. The lists must also equal the
// padding of y's logical shape in y's own dim_order. Supports int8 and int16.

#include <string.h>

#include "abi/ops/stock.h"
#include "kernels/args/move.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t kDims = 4;

/// Returns the logical dimension at position `place` in memory; x and y have x.rank dimensions.
uint32_t dimension_at(const Tensor& x, uint32_t place) {
  static constexpr uint8_t kNhwc[] = {0, 2, 3, 1};
  return is_nhwc(x) ? kNhwc[place] : place;
}

bool is_value(int64_t value, DType dtype) {
  if (dtype == DType::kI16) return value >= INT16_MIN && value <= INT16_MAX;
  return dtype == DType::kI8 && value >= INT8_MIN && value <= INT8_MAX;
}

void fill(const Tensor& y, int32_t value) {
  if (y.dtype == DType::kI8) {
    memset(y.data, value, y.bytes);
    return;
  }
  int16_t* at = static_cast<int16_t*>(y.data);
  for (int32_t i = elements(y); i > 0; --i) *at++ = static_cast<int16_t>(value);
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const IntList& before = ints(call, 1);
  const IntList& after = ints(call, 2);
  const Tensor& y = tensor(call, 4);
  THIMBLE_RETURN_IF_ERROR(check_pair(x, y));
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  if (x.rank < 1 || x.rank > kDims || y.rank != x.rank) return Status::kBadShape;
  const bool same_order = is_nhwc(x) ? is_nhwc(y) : is_contiguous(x) && is_contiguous(y);
  if (!same_order) return Status::kBadDimOrder;
  if (before.count != kDims || after.count != kDims) return Status::kBadParameter;
  if (!is_value(call.args[3].integer, x.dtype)) return Status::kBadParameter;
  const uint32_t unused = kDims - x.rank;
  for (uint32_t i = 0; i < kDims; ++i) {
    if (before.items[i] < 0 || after.items[i] < 0) return Status::kBadParameter;
    const int64_t border = int64_t{before.items[i]} + after.items[i];
    if (i < unused) {
      if (border != 0) return Status::kBadParameter;
      continue;
    }
    const uint32_t d = dimension_at(x, i - unused);
    if (x.sizes[d] + border != y.sizes[d]) return Status::kBadShape;
  }
  return Status::kOk;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 4);
  fill(y, integer(call, 3));
  int32_t steps[abi::kMaxRank];
  byte_strides(y, steps);
  Move move = scatter(y, x, steps);
  for (uint32_t place = 0; place < x.rank; ++place) {
    const uint32_t d = dimension_at(x, place);
    move.to += ints(call, 1).items[kDims - x.rank + place] * steps[d];
  }
  run_move(move);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_pad, check, run);

}  // namespace thimble::kernels
