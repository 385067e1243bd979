// SPDX-License-Identifier: Apache-2.0
// Pools. An average is the sum multiplied by slightly more than 1 / n and rounded half up. Exact
// halves then round away from zero, as in the graph. Windows that lose elements to padding, and the
// windows of adaptive pools, are divided into stretches of equal windows.

#include <algorithm>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;

struct Lowering::PoolJob {
  View x, y;
  PoolMode mode = PoolMode::kMax;
  Window window;
  int64_t low = INT32_MIN, high = INT32_MAX;
};

namespace {

/// Returns multiplier m and shift of a division by n. For all sums s of n values, floor(s * m /
/// 2^right + 1/2) equals s / n rounded to nearest, halves away from zero.
Result<Requantize> divided_by(int64_t n, int64_t bits) {
  const int64_t largest = n << (bits - 1);
  Requantize scale = unit_scale();
  if (n == 1) return scale;
  int64_t right = 30;
  while (((int64_t{1} << (right + 1)) / n + 1) < (int64_t{1} << 31) && right < 61) ++right;
  const int64_t multiplier = (int64_t{1} << right) / n + 1;
  const int64_t excess = multiplier * n - (int64_t{1} << right);  // 1..n
  // Other sums keep their rounding direction: |s| * excess / (n * 2^right) < 1 / (2 * n).
  if (2 * largest * excess >= int64_t{1} << right) {
    return unsupported("no multiplier divides sums of {} quantized values of {} bits exactly", n,
                       bits);
  }
  scale.multiplier = {static_cast<int32_t>(multiplier)};
  scale.shift = {static_cast<int32_t>(right)};
  return scale;
}

/// Input positions of one output position.
struct InputRange {
  int64_t in, size;
};

std::vector<StridedRange> strided_ranges_of(const std::vector<InputRange>& positions) {
  std::vector<StridedRange> result;
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto [in, size] = positions[i];
    if (!result.empty() && result.back().size == size) {
      StridedRange& last = result.back();
      const int64_t step = in - (last.in + (last.count - 1) * last.stride);
      if (step >= 1 && step <= kStrideMax && (last.count == 1 || step == last.stride)) {
        last.stride = step;
        ++last.count;
        continue;
      }
    }
    result.push_back({static_cast<int64_t>(i), 1, 1, in, size, 1, 0});
  }
  return result;
}

std::vector<StridedRange> window_ranges(int64_t out, int64_t in, int64_t kernel, int64_t stride,
                                        int64_t pad) {
  std::vector<InputRange> seen;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t from = std::max<int64_t>(0, i * stride - pad);
    seen.push_back({from, std::min(in, i * stride - pad + kernel) - from});
  }
  return strided_ranges_of(seen);
}

}  // namespace

Status Lowering::pool_whole(const PoolJob& job) {
  const Window& window = job.window;
  NpuOp op = op_of(NpuOpKind::kPool);
  op.pool = job.mode;
  op.window = window;
  op.minimum = static_cast<int32_t>(job.low);
  op.maximum = static_cast<int32_t>(job.high);
  if (job.mode == PoolMode::kAverage) {
    const bool counted =
        window.pad_top + window.pad_left + window.pad_bottom + window.pad_right > 0;
    // With padding (U85: always) the hardware divides by the number of positions inside the image,
    // as the graph does.
    const bool small = window.kernel_h <= kCountedKernelMax && window.kernel_w <= kCountedKernelMax;
    const int64_t positions = window.kernel_h * window.kernel_w;
    if (!counted && !(is_u85() && small)) {
      THIMBLE_TRY(op.requantize, divided_by(positions, job.x.element.bits));
      if (is_u85()) op.pool = PoolMode::kSum;
    } else if (!is_u85()) {
      THIMBLE_TRY(op.unpadded_requantize, divided_by(positions, job.x.element.bits));
    }
  }
  for (int64_t n = 0; n < job.x.shape[0]; ++n) {
    op.ofm = image_of(job.y, n);
    op.ifm = image_of(job.x, n);
    push(op);
  }
  return ok();
}

Status Lowering::pool_parts(const PoolJob& job, const std::vector<StridedRange>& rows,
                            const std::vector<StridedRange>& columns) {
  if (rows.size() * columns.size() > static_cast<size_t>(kPartsMax)) {
    return unsupported("its windows form {} groups of equal windows, the limit is {}",
                       rows.size() * columns.size(), kPartsMax);
  }
  for (const StridedRange& h : rows) {
    for (const StridedRange& w : columns) {
      PoolJob part = job;
      part.window = {h.size, w.size, h.stride, w.stride, 1, 1, 0, 0, 0, 0};
      if (h.size > kPoolHeightMax || h.size * w.size > kPoolAreaMax) {
        return unsupported("a window of {} x {}, the limits are {} rows and {} elements", h.size,
                           w.size, kPoolHeightMax, kPoolAreaMax);
      }
      part.y = sliced_view(sliced_view(job.y, 2, h.out, h.count), 3, w.out, w.count);
      const int64_t height = (h.count - 1) * h.stride + h.size;
      const int64_t width = (w.count - 1) * w.stride + w.size;
      part.x = sliced_view(sliced_view(job.x, 2, h.in, height), 3, w.in, width);
      THIMBLE_CHECK(pool_whole(part));
    }
  }
  return ok();
}

/// Computes the maximum over the elements of the dilated kernel, two operands at a time.
Status Lowering::dilated_max(const PoolJob& job) {
  Window window = job.window;
  const int64_t taps = window.kernel_h * window.kernel_w;
  if (taps > kPartsMax) return unsupported("a dilated window of {} elements", taps);
  const int64_t lowest = job.x.element.bits == 8 ? INT8_MIN : INT16_MIN;
  THIMBLE_TRY(const View x, padded(job.x, &window, lowest));
  View best;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t ky = tap / window.kernel_w, kx = tap % window.kernel_w;
    View seen = x;
    seen.offset += ky * window.dilation_h * x.steps[2] + kx * window.dilation_w * x.steps[3];
    seen.shape = job.y.shape;
    seen.steps[2] *= window.stride_h;
    seen.steps[3] *= window.stride_w;
    if (tap == 0) {
      best = seen;
      continue;
    }
    View better = job.y;
    if (tap + 1 < taps) better = new_view(x.element, job.y.shape, ir::channels_last_order());
    THIMBLE_CHECK(binary(ElementwiseMode::kMax, better, best, seen));
    best = better;
  }
  return taps == 1 ? copy(job.y, best) : ok();
}

Status Lowering::emit_pool(PoolJob job) {
  THIMBLE_TRY(job.x, with_inner(job.x, 1));
  const View place = job.y;
  const bool aside = place.steps[1] != 1 && place.shape[1] > 1;
  if (aside) job.y = new_view(place.element, place.shape, ir::channels_last_order());
  Window& window = job.window;
  if (job.y.shape[2] == 1) window.stride_h = 1;
  if (job.y.shape[3] == 1) window.stride_w = 1;
  // Reduces the padding to the part that a window covers.
  const auto reached = [](int64_t out, int64_t stride, int64_t extent, int64_t before, int64_t in) {
    return std::max<int64_t>(0, (out - 1) * stride + extent - before - in);
  };
  window.pad_bottom =
      reached(job.y.shape[2], window.stride_h, (window.kernel_h - 1) * window.dilation_h + 1,
              window.pad_top, job.x.shape[2]);
  window.pad_right =
      reached(job.y.shape[3], window.stride_w, (window.kernel_w - 1) * window.dilation_w + 1,
              window.pad_left, job.x.shape[3]);
  const bool padded = window.pad_top + window.pad_left + window.pad_bottom + window.pad_right > 0;
  const bool small = window.kernel_h <= kCountedKernelMax && window.kernel_w <= kCountedKernelMax;
  const bool whole = window.stride_h <= kStrideMax && window.stride_w <= kStrideMax &&
                     window.kernel_h <= kPoolHeightMax &&
                     window.kernel_h * window.kernel_w <= kPoolAreaMax &&
                     (job.mode == PoolMode::kMax || !padded || small);
  if (window.dilation_h * window.dilation_w > 1) {
    THIMBLE_CHECK(dilated_max(job));
  } else if (whole) {
    THIMBLE_CHECK(pool_whole(job));
  } else {
    const auto rows = window_ranges(job.y.shape[2], job.x.shape[2], window.kernel_h,
                                    window.stride_h, window.pad_top);
    const auto columns = window_ranges(job.y.shape[3], job.x.shape[3], window.kernel_w,
                                       window.stride_w, window.pad_left);
    THIMBLE_CHECK(pool_parts(job, rows, columns));
  }
  return aside ? copy(place, job.y) : ok();
}

Result<View> Lowering::max_pool(const ir::Op& op) {
  const auto &kernel = op.get(ir::attr::kernel), &stride = op.get(ir::attr::stride);
  const auto &padding = op.get(ir::attr::padding), &dilation = op.get(ir::attr::dilation);
  PoolJob job;
  THIMBLE_TRY(job.x, read(op.inputs[0]));
  if (!job.x.element.is_signed || job.x.element.bits > 16) {
    return unsupported("its operand is not int8 or int16");
  }
  THIMBLE_TRY(job.y, result(op));
  job.window = {kernel[0],   kernel[1],  stride[0],  stride[1],  dilation[0],
                dilation[1], padding[0], padding[1], padding[2], padding[3]};
  THIMBLE_CHECK(emit_pool(job));
  return job.y;
}

Result<View> Lowering::avg_pool(const ir::Op& op) {
  const auto &kernel = op.get(ir::attr::kernel), &stride = op.get(ir::attr::stride);
  const auto& padding = op.get(ir::attr::padding);
  PoolJob job;
  job.mode = PoolMode::kAverage;
  job.low = op.get(ir::attr::min);
  job.high = op.get(ir::attr::max);
  THIMBLE_TRY(job.x, read(op.inputs[0]));
  THIMBLE_TRY(job.y, result(op));
  job.window = {kernel[0], kernel[1],  stride[0],  stride[1],  1,
                1,         padding[0], padding[1], padding[2], padding[3]};
  THIMBLE_CHECK(emit_pool(job));
  return job.y;
}

Result<View> Lowering::adaptive_pool(const ir::Op& op) {
  PoolJob job;
  THIMBLE_TRY(job.x, read(op.inputs[0]));
  if (!job.x.element.is_signed || job.x.element.bits > 16) {
    return unsupported("its operand is not int8 or int16");
  }
  THIMBLE_TRY(job.y, result(op));
  if (op.kind == OpKind::qadaptive_avg_pool2d) {
    job.mode = PoolMode::kAverage;
    job.low = op.get(ir::attr::min);
    job.high = op.get(ir::attr::max);
  }
  const auto windows = [](int64_t out, int64_t in) {
    std::vector<InputRange> seen;
    for (int64_t i = 0; i < out; ++i) {
      const int64_t from = i * in / out;
      seen.push_back({from, ((i + 1) * in + out - 1) / out - from});
    }
    return strided_ranges_of(seen);
  };
  THIMBLE_TRY(job.x, with_inner(job.x, 1));
  const View place = job.y;
  const bool aside = place.steps[1] != 1 && place.shape[1] > 1;
  if (aside) job.y = new_view(place.element, place.shape, ir::channels_last_order());
  THIMBLE_CHECK(pool_parts(job, windows(place.shape[2], job.x.shape[2]),
                           windows(place.shape[3], job.x.shape[3])));
  if (aside) THIMBLE_CHECK(copy(place, job.y));
  return place;
}

}  // namespace thimble::engine::ethos_u
