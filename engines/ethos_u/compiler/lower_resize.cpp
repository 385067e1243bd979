// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing. Output rows with the same weight and evenly spaced input rows form a stretch;
// the same applies to columns. A stretch of rows and one of columns are a depthwise convolution
// with at most 2 x 2 kernel elements. The weights are products of 11-bit numbers. The result is
// exact if, after division by their common power of two, they fit in the hardware's weights.

#include <algorithm>
#include <numeric>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

namespace {

constexpr int64_t kOne = 2048;
constexpr int64_t kTapMax = 255;

/// Groups positions of equal weight and even spacing into stretches.
std::vector<StridedRange> resize_ranges(const ir::Tensor& low, const ir::Tensor& weight,
                                        int64_t size) {
  const auto lows = low.data<int32_t>(), weights = weight.data<int32_t>();
  std::vector<StridedRange> result;
  for (size_t i = 0; i < lows.size(); ++i) {
    int64_t in = lows[i], part = weights[i];
    if (in + 1 >= size) part = 0;  // both positions are the last one
    if (part == kOne) in += 1, part = 0;
    const int64_t taps = part == 0 ? 1 : 2;
    const auto at = static_cast<int64_t>(i);
    bool joined = false;
    for (StridedRange& open : result) {
      if (open.weight != part || open.size != taps) continue;
      const int64_t out_step = at - (open.out + (open.count - 1) * open.out_step);
      const int64_t stride = in - (open.in + (open.count - 1) * open.stride);
      const bool even = open.count == 1 || (out_step == open.out_step && stride == open.stride);
      if (!even || stride < 1 || stride > kStrideMax) continue;
      open.out_step = out_step;
      open.stride = stride;
      ++open.count;
      joined = true;
      break;
    }
    if (!joined) result.push_back({at, 1, 1, in, taps, 1, part});
  }
  return result;
}

}  // namespace

Result<View> Lowering::resize(const ir::Op& op) {
  THIMBLE_TRY(View x, read(op.inputs[0]));
  const bool wide = x.element.bits == 16;
  for (size_t i = 1; i < 5; ++i) {
    if (constant_of(op.inputs[i]) == nullptr) return unsupported("its positions are not constant");
  }
  const auto rows =
      resize_ranges(*constant_of(op.inputs[1]), *constant_of(op.inputs[2]), x.shape[2]);
  const auto columns =
      resize_ranges(*constant_of(op.inputs[3]), *constant_of(op.inputs[4]), x.shape[3]);
  if (rows.size() * columns.size() > static_cast<size_t>(kPartsMax)) {
    return unsupported("its positions form {} groups of equal weights, the limit is {}",
                       rows.size() * columns.size(), kPartsMax);
  }
  THIMBLE_TRY(View y, result(op));
  const int64_t channels = x.shape[1];
  for (const StridedRange& h : rows) {
    for (const StridedRange& w : columns) {
      std::vector<int64_t> taps;
      for (int64_t ky = 0; ky < h.size; ++ky) {
        for (int64_t kx = 0; kx < w.size; ++kx) {
          taps.push_back((ky == 0 ? kOne - h.weight : h.weight) *
                         (kx == 0 ? kOne - w.weight : w.weight));
        }
      }
      int64_t common = 22;
      for (const int64_t tap : taps) {
        while (tap % (int64_t{1} << common) != 0) --common;
      }
      const int64_t largest = *std::max_element(taps.begin(), taps.end()) >> common;
      if (largest > kTapMax) {
        return unsupported("a weight of {} / 2^{}, the limit is {}", largest, 22 - common, kTapMax);
      }
      ConvJob job;
      job.depthwise = true;
      job.wide = wide;
      job.window = {h.size, w.size, h.stride, w.stride, 1, 1, 0, 0, 0, 0};
      job.x = sliced_view(x, 2, h.in, (h.count - 1) * h.stride + h.size);
      job.x = sliced_view(job.x, 3, w.in, (w.count - 1) * w.stride + w.size);
      job.y = sliced_view(y, 2, h.out, h.count, h.out_step);
      job.y = sliced_view(job.y, 3, w.out, w.count, w.out_step);
      job.weights = {channels, h.size, w.size, 1, {}, {}};
      job.weights.bias.assign(static_cast<size_t>(channels), 0);
      for (int64_t c = 0; c < channels; ++c) {
        for (const int64_t tap : taps) {
          job.weights.values.push_back(static_cast<int16_t>(tap >> common));
        }
      }
      const int32_t multiplier = wide ? 1 << 14 : 1 << 30;
      job.requantize.multiplier.assign(static_cast<size_t>(channels), multiplier);
      job.requantize.shift.assign(static_cast<size_t>(channels),
                                  static_cast<int32_t>((wide ? 14 : 30) + 22 - common));
      job.requantize.rounding = Requantize::Rounding::kNatural;
      job.minimum = wide ? INT16_MIN : INT8_MIN;
      job.maximum = wide ? INT16_MAX : INT8_MAX;
      THIMBLE_CHECK(emit_conv(std::move(job)));
    }
  }
  return y;
}

}  // namespace thimble::engine::ethos_u
