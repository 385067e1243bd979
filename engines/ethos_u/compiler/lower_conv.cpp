// SPDX-License-Identifier: Apache-2.0
// Convolutions and linear layers, legalized to kernels of at most 64 rows and 4096 elements,
// strides of 1 to 3, and dilations of 1 and 2.

#include <algorithm>
#include <cstdlib>

#include "engines/ethos_u/compiler/limits.h"
#include "engines/ethos_u/compiler/lowering.h"
#include "numerics/fixed_point.h"
#include "numerics/int16.h"

namespace thimble::engine::ethos_u {

using ir::OpKind;

namespace {

bool is_wide(OpKind kind) {
  return kind == OpKind::qconv2d16 || kind == OpKind::qlinear16 ||
         kind == OpKind::qconv_transpose2d16;
}

Status check_sums(const Weights& weights, bool wide, bool u85) {
  const size_t terms = weights.values.size() / static_cast<size_t>(weights.out);
  const int64_t bits = !wide ? 32 : u85 ? 48 : 40;
  for (int64_t o = 0; o < weights.out; ++o) {
    int64_t magnitude = 0;
    for (size_t i = 0; i < terms; ++i) {
      magnitude += std::abs(weights.values[static_cast<size_t>(o) * terms + i]);
    }
    if (magnitude > kWeightSumMax) {
      return unsupported("the weights of output channel {} add up to {}, the limit is {}", o,
                         magnitude, kWeightSumMax);
    }
    const int64_t bound =
        magnitude * (wide ? 32768 : 255) + std::abs(weights.bias[static_cast<size_t>(o)]);
    if (bound >= int64_t{1} << (bits - 1)) {
      return unsupported("the sum of output channel {} may reach {}, which exceeds {} bits", o,
                         bound, bits);
    }
  }
  return ok();
}

}  // namespace

Result<ConvJob> Lowering::job_of(const ir::Op& op, int64_t channels) {
  const bool wide = is_wide(op.kind);
  for (const size_t i : {size_t{1}, size_t{3}, size_t{4}}) {
    if (constant_of(op.inputs[i]) == nullptr) {
      return unsupported("%{} is not a constant", graph_.value(op.inputs[i]).name);
    }
  }
  ConvJob job;
  job.wide = wide;
  job.minimum = op.get(ir::attr::min);
  job.maximum = op.get(ir::attr::max);
  const auto mult = constant_of(op.inputs[3])->data<int32_t>();
  const auto shift = constant_of(op.inputs[4])->data<int32_t>();
  const bool single = !wide && op.get(ir::attr::rounding) != 0;
  for (int64_t o = 0; o < channels; ++o) {
    const int64_t m = mult[mult.size() == 1 ? 0 : static_cast<size_t>(o)];
    const int64_t s = shift[shift.size() == 1 ? 0 : static_cast<size_t>(o)];
    const int64_t cut = m >= 0x7FFF0000 ? 32767 : (m + 32768) >> 16;
    job.requantize.multiplier.push_back(static_cast<int32_t>(wide ? cut : m));
    job.requantize.shift.push_back(static_cast<int32_t>((wide ? 15 : 31) - s));
  }
  job.requantize.rounding =
      wide || single ? Requantize::Rounding::kNatural : Requantize::Rounding::kDouble;
  job.weights.bias.assign(static_cast<size_t>(channels), 0);
  if (op.inputs[2] != ir::kNoValue) {
    const ir::Tensor* bias = constant_of(op.inputs[2]);
    if (bias == nullptr) return unsupported("its bias is not a constant");
    for (size_t o = 0; o < static_cast<size_t>(channels); ++o) {
      job.weights.bias[o] = wide ? bias->data<int64_t>()[o] : bias->data<int32_t>()[o];
    }
  }
  THIMBLE_TRY(job.x, read(op.inputs[0]));
  const bool rows = op.kind == OpKind::qlinear || op.kind == OpKind::qlinear16;
  if (rows) {
    THIMBLE_TRY(job.x, with_inner(job.x, job.x.rank() - 1));
    THIMBLE_TRY(job.y, result(op, &job.x));
  } else {
    THIMBLE_TRY(job.y, result(op));
  }
  if (!wide) {
    job.x.zero_point = static_cast<int32_t>(op.get(ir::attr::x_zp));
    job.y.zero_point = static_cast<int32_t>(op.get(ir::attr::y_zp));
  }
  if (rows) return job;
  const auto &stride = op.get(ir::attr::stride), &padding = op.get(ir::attr::padding);
  const auto& dilation = op.get(ir::attr::dilation);
  const ir::Shape& w = type(op.inputs[1]).shape;
  job.window = {w[2],        w[3],       stride[0],  stride[1],  dilation[0],
                dilation[1], padding[0], padding[1], padding[2], padding[3]};
  return job;
}

Result<View> Lowering::conv(const ir::Op& op) {
  const ir::Shape& shape = type(op.inputs[1]).shape;  // [O, I/groups, kh, kw]
  THIMBLE_TRY(ConvJob job, job_of(op, shape[0]));
  const auto values = constant_of(op.inputs[1])->data<int8_t>();
  const auto weight = [&](int64_t o, int64_t i, int64_t ky, int64_t kx) -> int64_t {
    return values[static_cast<size_t>(((o * shape[1] + i) * shape[2] + ky) * shape[3] + kx)];
  };
  THIMBLE_CHECK(grouped(job, op.get(ir::attr::groups), weight, &Lowering::emit_conv));
  return job.y;
}

Result<View> Lowering::linear(const ir::Op& op) {
  const ir::Shape& shape = type(op.inputs[1]).shape;  // [O, I]
  THIMBLE_TRY(ConvJob job, job_of(op, shape[0]));
  const auto values = constant_of(op.inputs[1])->data<int8_t>();
  const auto moved = columns_.find(op.inputs[0]);
  job.channel = job.x.rank() - 1;
  job.weights.out = shape[0];
  job.weights.in = shape[1];
  for (int64_t o = 0; o < shape[0]; ++o) {
    for (int64_t i = 0; i < shape[1]; ++i) {
      const int64_t column = moved == columns_.end() ? i : moved->second[static_cast<size_t>(i)];
      job.weights.values.push_back(values[static_cast<size_t>(o * shape[1] + column)]);
    }
  }
  THIMBLE_CHECK(emit_conv(job));
  return job.y;
}

Status Lowering::grouped(const ConvJob& job, int64_t groups, const TakeWeight& weight,
                         Status (Lowering::*emit)(ConvJob)) {
  const int64_t in = job.x.shape[1] / groups, out = job.y.shape[1] / groups;
  const Window& window = job.window;
  const bool depthwise = groups > 1 && in == 1 && out == 1 && window.stride_h <= kStrideMax &&
                         window.stride_w <= kStrideMax;
  // Several groups are combined, so that their input channels use the whole MAC array.
  const int64_t together = depthwise ? groups : std::clamp<int64_t>(16 / in, 1, groups);
  for (int64_t first = 0; first < groups; first += together) {
    const int64_t count = std::min(together, groups - first);
    ConvJob part = job;
    part.depthwise = depthwise;
    part.x = sliced_view(job.x, 1, first * in, count * in);
    part.y = sliced_view(job.y, 1, first * out, count * out);
    Weights& weights = part.weights;
    weights = {count * out, window.kernel_h, window.kernel_w, depthwise ? 1 : count * in, {}, {}};
    for (int64_t o = 0; o < weights.out; ++o) {
      const int64_t channel = first * out + o;
      for (int64_t ky = 0; ky < window.kernel_h; ++ky) {
        for (int64_t kx = 0; kx < window.kernel_w; ++kx) {
          for (int64_t i = 0; i < weights.in; ++i) {
            const bool inside = depthwise || i / in == o / out;
            const int64_t value = inside ? weight(channel, i % in, ky, kx) : 0;
            weights.values.push_back(static_cast<int16_t>(value));
          }
        }
      }
      weights.bias.push_back(job.weights.bias[static_cast<size_t>(channel)]);
    }
    const auto from = static_cast<std::ptrdiff_t>(first * out);
    const auto to = from + static_cast<std::ptrdiff_t>(count * out);
    const Requantize& all = job.requantize;
    part.requantize.multiplier.assign(all.multiplier.begin() + from, all.multiplier.begin() + to);
    part.requantize.shift.assign(all.shift.begin() + from, all.shift.begin() + to);
    THIMBLE_CHECK((this->*emit)(std::move(part)));
  }
  return ok();
}

Status Lowering::emit_conv(ConvJob job) {
  THIMBLE_CHECK(check_sums(job.weights, job.wide, is_u85()));
  THIMBLE_TRY(job.x, with_inner(job.x, job.channel));
  const View place = job.y;
  const bool aside = place.steps[job.channel] != 1 && place.shape[job.channel] > 1;
  if (aside) {
    job.y = new_view(place.element, place.shape, inner_order(place, job.channel));
    job.y.zero_point = place.zero_point;
  }
  if (job.channel == 1 && job.x.rank() == 4) {
    THIMBLE_CHECK(legalized_conv(job));
  } else {
    THIMBLE_CHECK(pointwise(job));
  }
  return aside ? copy(place, job.y) : ok();
}

namespace {

/// Inserts zeros between the weights along one axis, so that the dilation becomes 1 or 2.
void fit_dilation(int64_t* kernel, int64_t* dilation, int64_t* step) {
  if (*kernel == 1) *dilation = 1;
  *step = *dilation <= 2 ? 1 : *dilation % 2 == 0 ? *dilation / 2 : *dilation;
  *dilation = *dilation <= 2 ? *dilation : *dilation % 2 == 0 ? 2 : 1;
  *kernel = (*kernel - 1) * *step + 1;
}

Weights insert_zero_weights(const Weights& weights, int64_t kernel_h, int64_t kernel_w,
                            int64_t step_h, int64_t step_w) {
  Weights result = {weights.out, kernel_h, kernel_w, weights.in, {}, weights.bias};
  result.values.assign(static_cast<size_t>(weights.out * kernel_h * kernel_w * weights.in), 0);
  size_t from = 0;
  for (int64_t o = 0; o < weights.out; ++o) {
    for (int64_t ky = 0; ky < weights.kernel_h; ++ky) {
      for (int64_t kx = 0; kx < weights.kernel_w; ++kx) {
        for (int64_t i = 0; i < weights.in; ++i) {
          const int64_t at =
              ((o * kernel_h + ky * step_h) * kernel_w + kx * step_w) * weights.in + i;
          result.values[static_cast<size_t>(at)] = weights.values[from++];
        }
      }
    }
  }
  return result;
}

/// Returns the same convolution with height and width exchanged. A kernel may be wider than high,
/// and the elements of a row are dense if the image is a single column.
ConvJob with_exchanged_axes(ConvJob job) {
  for (View* view : {&job.x, &job.y}) {
    std::swap(view->shape[2], view->shape[3]);
    std::swap(view->steps[2], view->steps[3]);
  }
  Window& w = job.window;
  std::swap(w.kernel_h, w.kernel_w);
  std::swap(w.stride_h, w.stride_w);
  std::swap(w.dilation_h, w.dilation_w);
  std::swap(w.pad_top, w.pad_left);
  std::swap(w.pad_bottom, w.pad_right);
  const Weights from = job.weights;
  Weights& to = job.weights;
  std::swap(to.kernel_h, to.kernel_w);
  size_t at = 0;
  for (int64_t o = 0; o < to.out; ++o) {
    for (int64_t ky = 0; ky < to.kernel_h; ++ky) {
      for (int64_t kx = 0; kx < to.kernel_w; ++kx) {
        for (int64_t i = 0; i < to.in; ++i) {
          const int64_t source = ((o * from.kernel_h + kx) * from.kernel_w + ky) * from.in + i;
          to.values[at++] = from.values[static_cast<size_t>(source)];
        }
      }
    }
  }
  return job;
}

}  // namespace

Status Lowering::legalized_conv(ConvJob job, bool exchanged) {
  const ConvJob original = job;
  Window& window = job.window;
  if (job.y.shape[2] == 1) window.stride_h = 1;
  if (job.y.shape[3] == 1) window.stride_w = 1;
  int64_t step_h = 1, step_w = 1;
  fit_dilation(&window.kernel_h, &window.dilation_h, &step_h);
  fit_dilation(&window.kernel_w, &window.dilation_w, &step_w);
  const int64_t height = (window.kernel_h - 1) * window.dilation_h + 1;
  const int64_t width = (window.kernel_w - 1) * window.dilation_w + 1;
  const bool column = job.x.shape[3] == 1 && job.y.shape[3] == 1;
  const bool exchange = (height > kKernelHeightMax && width <= kKernelHeightMax) ||
                        (window.stride_h > kStrideMax && column);
  if (exchange && !exchanged) return legalized_conv(with_exchanged_axes(original), true);
  if (height > kKernelHeightMax || height * width > kKernelAreaMax ||
      window.stride_h > kStrideMax || window.stride_w > kStrideMax) {
    return im2col_conv(original);
  }
  if (step_h * step_w > 1) {
    job.weights =
        insert_zero_weights(job.weights, window.kernel_h, window.kernel_w, step_h, step_w);
  }
  if (std::max(window.pad_top, window.pad_bottom) >= height ||
      std::max(window.pad_left, window.pad_right) >= width ||
      std::max(window.pad_top, window.pad_left) > kPadMax) {
    THIMBLE_TRY(job.x, padded(job.x, &window, job.x.zero_point));
  }
  const bool all = window.pad_top + window.pad_left + window.pad_bottom + window.pad_right == 0 &&
                   job.x.shape[2] == job.y.shape[2] && job.x.shape[3] == job.y.shape[3];
  if (!job.depthwise && height * width == 1 && all) return pointwise(job);
  return windowed(job);
}

namespace {

Operand rows_of(const View& view, size_t index, const Grid& grid, int64_t depth,
                const std::vector<int64_t>& offsets) {
  Operand operand = operand_at(view, offsets[index]);
  operand.shape = {grid.h.size, grid.w.size, depth};
  operand.stride_w = grid.w.size > 1 ? grid.w.steps[index] : depth;
  operand.stride_h = grid.h.size > 1 ? grid.h.steps[index] : grid.w.size * operand.stride_w;
  return operand;
}

void describe(const ConvJob& job, NpuOp* op) {
  op->kind = job.depthwise ? NpuOpKind::kDepthwise : NpuOpKind::kConv;
  op->weights = job.weights;
  op->requantize = job.requantize;
  op->minimum = static_cast<int32_t>(job.minimum);
  op->maximum = static_cast<int32_t>(job.maximum);
  op->wide_accumulator = job.wide;
}

}  // namespace

Status Lowering::pointwise(const ConvJob& job) {
  std::vector<size_t> dims;
  for (size_t i = 0; i < job.x.rank(); ++i) {
    if (i != job.channel) dims.push_back(i);
  }
  const View* views[] = {&job.y, &job.x};
  const Shape4 wanted = program_.tensors[static_cast<size_t>(job.y.tensor)].shape;
  THIMBLE_TRY(const Grid grid, arrange(common_axes(views, dims), wanted, 2));
  return for_each_loop(grid.loops, 2, [&](const std::vector<int64_t>& offsets) {
    NpuOp op = op_of(NpuOpKind::kConv);
    describe(job, &op);
    op.ofm = rows_of(job.y, 0, grid, job.y.shape[job.channel], offsets);
    op.ifm = rows_of(job.x, 1, grid, job.x.shape[job.channel], offsets);
    push(std::move(op));
    return ok();
  });
}

Status Lowering::windowed(const ConvJob& job) {
  for (int64_t n = 0; n < job.x.shape[0]; ++n) {
    NpuOp op = op_of(NpuOpKind::kConv);
    describe(job, &op);
    op.window = job.window;
    op.ofm = image_of(job.y, n);
    op.ifm = image_of(job.x, n);
    push(std::move(op));
  }
  return ok();
}

Result<View> Lowering::padded(const View& x, Window* window, int64_t code) {
  const Window w = *window;
  window->pad_top = window->pad_left = window->pad_bottom = window->pad_right = 0;
  ir::Shape shape = x.shape;
  shape[2] += w.pad_top + w.pad_bottom;
  shape[3] += w.pad_left + w.pad_right;
  View whole = new_view(x.element, shape, ir::channels_last_order());
  const View rows = sliced_view(whole, 2, w.pad_top, x.shape[2]);
  const auto border = [&](const View& from, size_t dim, int64_t start, int64_t count) -> Status {
    return count > 0 ? fill(sliced_view(from, dim, start, count), code) : ok();
  };
  THIMBLE_CHECK(border(whole, 2, 0, w.pad_top));
  THIMBLE_CHECK(border(whole, 2, w.pad_top + x.shape[2], w.pad_bottom));
  THIMBLE_CHECK(border(rows, 3, 0, w.pad_left));
  THIMBLE_CHECK(border(rows, 3, w.pad_left + x.shape[3], w.pad_right));
  THIMBLE_CHECK(copy(sliced_view(rows, 3, w.pad_left, x.shape[3]), x));
  whole.zero_point = x.zero_point;
  return whole;
}

/// Copies the elements under each kernel position next to each other and applies one pointwise
/// convolution (im2col).
Status Lowering::im2col_conv(ConvJob job) {
  Window window = job.window;
  if (window.pad_top + window.pad_left + window.pad_bottom + window.pad_right > 0) {
    THIMBLE_TRY(job.x, padded(job.x, &window, job.x.zero_point));
  }
  if (job.depthwise)
    return unsupported("a depthwise kernel of {} x {}, dilated by {} and {}", window.kernel_h,
                       window.kernel_w, window.dilation_h, window.dilation_w);
  const int64_t channels = job.x.shape[1];
  const bool row = window.dilation_w == 1 && job.x.steps[3] == channels;
  const int64_t taps = window.kernel_h * (row ? 1 : window.kernel_w);
  const int64_t depth = channels * (row ? window.kernel_w : 1);
  if (depth * taps > kSizeMax || taps > kCopiesMax) {
    return unsupported("a kernel of {} x {} with strides {} and {} needs {} copies of {} channels",
                       window.kernel_h, window.kernel_w, window.stride_h, window.stride_w, taps,
                       depth);
  }
  ir::Shape shape = {job.y.shape[0], depth * taps, job.y.shape[2], job.y.shape[3]};
  View columns = new_view(job.x.element, shape, ir::channels_last_order());
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t ky = row ? tap : tap / window.kernel_w, kx = row ? 0 : tap % window.kernel_w;
    View from = job.x;
    from.offset +=
        ky * window.dilation_h * job.x.steps[2] + kx * window.dilation_w * job.x.steps[3];
    from.shape = {shape[0], depth, shape[2], shape[3]};
    from.steps[1] = 1;
    from.steps[2] *= window.stride_h;
    from.steps[3] *= window.stride_w;
    if (taps == 1) {
      columns = from;
    } else {
      THIMBLE_CHECK(copy(sliced_view(columns, 1, tap * depth, depth), from));
    }
  }
  columns.zero_point = job.x.zero_point;
  job.x = columns;
  job.weights.in = depth * taps;
  job.weights.kernel_h = job.weights.kernel_w = 1;
  return pointwise(job);
}

Status Lowering::fill_bias(const ConvJob& job) {
  std::vector<std::byte> content;
  for (int64_t o = 0; o < job.y.shape[1]; ++o) {
    const auto at = static_cast<size_t>(o);
    const int64_t m = job.requantize.multiplier[at], right = job.requantize.shift[at];
    const int64_t bias = job.weights.bias[at];
    const bool natural = job.requantize.rounding == Requantize::Rounding::kNatural;
    const int64_t scaled =
        natural ? (bias * m + (int64_t{1} << (right - 1))) >> right
                : numerics::requantize(static_cast<int32_t>(bias), static_cast<int32_t>(m),
                                       static_cast<int32_t>(31 - right));
    const int64_t code = std::clamp(scaled + job.y.zero_point, job.minimum, job.maximum);
    for (int byte = 0; byte < job.y.element.bits / 8; ++byte) {
      content.push_back(static_cast<std::byte>(code >> (8 * byte) & 0xFF));
    }
  }
  View from = constant(job.y.element, {job.y.shape[1]}, std::move(content));
  from.shape = job.y.shape;
  from.steps = {0, 1, 0, 0};
  return copy(job.y, from);
}

/// Output position y = stride * t + phase depends on the kernel elements whose distance from y is a
/// multiple of the stride. The positions of one phase are therefore a convolution of the input.
Status Lowering::transposed_phase(const ConvJob& job, int64_t phase_h, int64_t phase_w) {
  struct Taps {
    std::vector<int64_t> kernel;  // from the lowest input position to the highest
    int64_t lowest = 0, dilation = 1, first = 0, count = 0;
  };
  const auto taps_of = [](int64_t phase, int64_t stride, int64_t dilation, int64_t kernel,
                          int64_t pad, int64_t in, int64_t out) {
    Taps taps;
    std::vector<int64_t> positions;
    for (int64_t k = kernel - 1; k >= 0; --k) {
      const int64_t distance = phase + pad - k * dilation;
      if (distance % stride != 0) continue;
      taps.kernel.push_back(k);
      positions.push_back(distance / stride);
    }
    if (positions.empty()) return taps;
    if (positions.size() > 1) taps.dilation = positions[1] - positions[0];
    taps.first = std::max<int64_t>(0, -positions.back());
    taps.count = std::min((out - phase + stride - 1) / stride, in - positions.front()) - taps.first;
    taps.lowest = positions.front() + taps.first;
    return taps;
  };
  const Window& w = job.window;
  const Taps rows = taps_of(phase_h, w.stride_h, w.dilation_h, w.kernel_h, w.pad_top,
                            job.x.shape[2], job.y.shape[2]);
  const Taps columns = taps_of(phase_w, w.stride_w, w.dilation_w, w.kernel_w, w.pad_left,
                               job.x.shape[3], job.y.shape[3]);
  if (rows.count <= 0 || columns.count <= 0) return ok();
  ConvJob part = job;
  part.y = sliced_view(job.y, 2, phase_h + rows.first * w.stride_h, rows.count, w.stride_h);
  part.y = sliced_view(part.y, 3, phase_w + columns.first * w.stride_w, columns.count, w.stride_w);
  const int64_t top = std::max<int64_t>(0, rows.lowest);
  const int64_t left = std::max<int64_t>(0, columns.lowest);
  part.x = sliced_view(job.x, 2, top, job.x.shape[2] - top);
  part.x = sliced_view(part.x, 3, left, job.x.shape[3] - left);
  const auto rows_n = static_cast<int64_t>(rows.kernel.size());
  const auto columns_n = static_cast<int64_t>(columns.kernel.size());
  part.window = {rows_n,
                 columns_n,
                 1,
                 1,
                 rows.dilation,
                 columns.dilation,
                 top - rows.lowest,
                 left - columns.lowest,
                 0,
                 0};
  const auto below = [](int64_t count, int64_t extent, int64_t size, int64_t before) {
    return std::max<int64_t>(0, count - 1 + extent - size - before);
  };
  part.window.pad_bottom =
      below(rows.count, (rows_n - 1) * rows.dilation + 1, part.x.shape[2], part.window.pad_top);
  part.window.pad_right = below(columns.count, (columns_n - 1) * columns.dilation + 1,
                                part.x.shape[3], part.window.pad_left);
  part.weights.kernel_h = rows_n;
  part.weights.kernel_w = columns_n;
  part.weights.values.clear();
  const Weights& all = job.weights;
  for (int64_t o = 0; o < all.out; ++o) {
    for (const int64_t ky : rows.kernel) {
      for (const int64_t kx : columns.kernel) {
        const int64_t at = ((o * all.kernel_h + ky) * all.kernel_w + kx) * all.in;
        const auto from = all.values.begin() + static_cast<std::ptrdiff_t>(at);
        part.weights.values.insert(part.weights.values.end(), from,
                                   from + static_cast<std::ptrdiff_t>(all.in));
      }
    }
  }
  return emit_conv(std::move(part));
}

Status Lowering::emit_transposed(ConvJob job) {
  const Window& w = job.window;
  // Positions that the phases below do not write, because no input contributes to them.
  const int64_t reach_h = (job.x.shape[2] - 1) * w.stride_h + (w.kernel_h - 1) * w.dilation_h + 1;
  const int64_t reach_w = (job.x.shape[3] - 1) * w.stride_w + (w.kernel_w - 1) * w.dilation_w + 1;
  const bool gaps = w.kernel_h < w.stride_h || w.kernel_w < w.stride_w || w.dilation_h > 1 ||
                    w.dilation_w > 1 || job.y.shape[2] + w.pad_top > reach_h ||
                    job.y.shape[3] + w.pad_left > reach_w;
  if (gaps) THIMBLE_CHECK(fill_bias(job));
  THIMBLE_TRY(job.x, with_inner(job.x, 1));
  for (int64_t h = 0; h < std::min(w.stride_h, job.y.shape[2]); ++h) {
    for (int64_t v = 0; v < std::min(w.stride_w, job.y.shape[3]); ++v) {
      THIMBLE_CHECK(transposed_phase(job, h, v));
    }
  }
  return ok();
}

Result<View> Lowering::conv_transpose(const ir::Op& op) {
  const ir::Shape& shape = type(op.inputs[1]).shape;  // [I, O/groups, kh, kw]
  const int64_t groups = op.get(ir::attr::groups);
  THIMBLE_TRY(ConvJob job, job_of(op, shape[1] * groups));
  const auto values = constant_of(op.inputs[1])->data<int8_t>();
  const int64_t inputs = shape[0] / groups;
  const auto weight = [&](int64_t o, int64_t i, int64_t ky, int64_t kx) -> int64_t {
    const int64_t row = o / shape[1] * inputs + i;
    return values[static_cast<size_t>(((row * shape[1] + o % shape[1]) * shape[2] + ky) * shape[3] +
                                      kx)];
  };
  THIMBLE_CHECK(grouped(job, groups, weight, &Lowering::emit_transposed));
  return job.y;
}

}  // namespace thimble::engine::ethos_u
