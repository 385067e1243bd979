// SPDX-License-Identifier: Apache-2.0
// Pools over images [N, C, H, W] in ExecuTorch files, in addition to those of cortex_m: averages of
// float32, and maxima of float32 or int8 with their indices. Any dim_order.

#include "abi/ops/aten.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/args/window.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

struct Images {
  int32_t x[abi::kMaxRank], y[abi::kMaxRank];
  explicit Images(const Tensor& from, const Tensor& to) {
    strides(from, x);
    strides(to, y);
  }
};

/// Calls visit(index of the image's first element in x, index in y, oy, ox) for every output.
template <class Visit>
void for_each_output(const Tensor& x, const Tensor& y, Visit visit) {
  const Images steps(x, y);
  for (int32_t n = 0; n < y.sizes[0]; ++n) {
    for (int32_t c = 0; c < y.sizes[1]; ++c) {
      for (int32_t oy = 0; oy < y.sizes[2]; ++oy) {
        for (int32_t ox = 0; ox < y.sizes[3]; ++ox) {
          visit(n * steps.x[0] + c * steps.x[1],
                n * steps.y[0] + c * steps.y[1] + oy * steps.y[2] + ox * steps.y[3], oy, ox);
        }
      }
    }
  }
}

Status check_images(const Tensor& x, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, x.dtype));
  if (x.rank != 4 || y.rank != 4) return Status::kBadShape;
  return x.sizes[0] == y.sizes[0] && x.sizes[1] == y.sizes[1] ? Status::kOk : Status::kBadShape;
}

/// Returns the item of an axis. The list has one number for both axes, two numbers, or none if
/// `absent` is a default.
int32_t item(const IntList& list, uint32_t axis, int32_t absent) {
  return list.count == 0 ? absent : list.items[list.count == 1 ? 0 : axis];
}

WindowAxis window(const Call& call, uint32_t axis, bool dilated, const Tensor& y) {
  const int32_t kernel = item(ints(call, 1), axis, 0);
  return {kernel,
          item(ints(call, 2), axis, kernel),
          dilated ? item(ints(call, 4), axis, 1) : 1,
          item(ints(call, 3), axis, 0),
          tensor(call, 0).sizes[2 + axis],
          y.sizes[2 + axis]};
}

Status check_windows(const Call& call, bool dilated, bool ceil_mode, const Tensor& y) {
  constexpr uint32_t kLists[] = {1, 2, 3, 4};
  for (const uint32_t list : kLists) {
    if (list == 4 && !dilated) break;
    if (ints(call, list).count > 2) return Status::kBadParameter;
  }
  const WindowAxis axes[2] = {window(call, 0, dilated, y), window(call, 1, dilated, y)};
  THIMBLE_RETURN_IF_ERROR(check_axes(axes, y.sizes[1]));
  for (const WindowAxis& axis : axes) {
    if (axis.out != window_output(axis, ceil_mode)) return Status::kBadShape;
    if (!windows_meet_image(axis)) return Status::kBadShape;
  }
  return Status::kOk;
}

// --- Averages ------------------------------------------------------------------------------------

/// Operands: x, kernel, stride, padding, ceil_mode, count_include_pad, divisor or None, y.
Status check_avg_pool(const Call& call) {
  const Tensor& y = tensor(call, 7);
  if (tensor(call, 0).dtype != DType::kF32) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_images(tensor(call, 0), y));
  const int64_t divisor = call.args[6].integer;
  if (divisor != kAbsent && (divisor < 1 || divisor > (1 << 24))) return Status::kBadParameter;
  return check_windows(call, false, call.args[4].integer != 0, y);
}
void run_avg_pool(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 7);
  const WindowAxis axes[2] = {window(call, 0, false, y), window(call, 1, false, y)};
  const Images steps(x, y);
  const bool count_padding = call.args[5].integer != 0;
  const int64_t divisor = call.args[6].integer;
  // The count includes the padding, but no positions after it.
  const auto extent = [](const WindowAxis& axis, int32_t start) {
    const int32_t end = axis.in + axis.pad;
    return (start + axis.kernel < end ? start + axis.kernel : end) - start;
  };
  for_each_output(x, y, [&](int32_t from, int32_t to, int32_t oy, int32_t ox) {
    const int32_t top = axes[0].origin(oy), left = axes[1].origin(ox);
    const Taps down = axes[0].inside(top), across = axes[1].inside(left);
    float sum = 0;
    for (int32_t ky = down.first; ky < down.last; ++ky) {
      for (int32_t kx = across.first; kx < across.last; ++kx) {
        sum += floats(x)[from + (top + ky) * steps.x[2] + (left + kx) * steps.x[3]];
      }
    }
    int64_t count = int64_t{down.last - down.first} * (across.last - across.first);
    if (count_padding) count = int64_t{extent(axes[0], top)} * extent(axes[1], left);
    if (divisor != kAbsent) count = divisor;
    mutable_floats(y)[to] = sum / static_cast<float>(count);
  });
}

/// Operands: x, size, y. Output o of `out` averages inputs floor(o in / out) .. ceil((o + 1) in /
/// out).
Status check_adaptive(const Call& call) {
  const Tensor& y = tensor(call, 2);
  if (tensor(call, 0).dtype != DType::kF32) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_images(tensor(call, 0), y));
  if (ints(call, 1).count != 2) return Status::kBadParameter;
  for (uint32_t a = 0; a < 2; ++a) {
    if (ints(call, 1).items[a] != y.sizes[2 + a]) return Status::kBadShape;
    if (y.sizes[2 + a] > 32767 || tensor(call, 0).sizes[2 + a] > 32767) return Status::kBadShape;
  }
  return Status::kOk;
}
void run_adaptive(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Images steps(x, y);
  const auto range = [&](uint32_t dim, int32_t o) {
    const int32_t in = x.sizes[dim], out = y.sizes[dim];
    return Taps{o * in / out, ((o + 1) * in + out - 1) / out};
  };
  for_each_output(x, y, [&](int32_t from, int32_t to, int32_t oy, int32_t ox) {
    const Taps down = range(2, oy), across = range(3, ox);
    float sum = 0;
    for (int32_t h = down.first; h < down.last; ++h) {
      for (int32_t w = across.first; w < across.last; ++w) {
        sum += floats(x)[from + h * steps.x[2] + w * steps.x[3]];
      }
    }
    const int32_t count = (down.last - down.first) * (across.last - across.first);
    mutable_floats(y)[to] = sum / static_cast<float>(count);
  });
}

// --- Maxima --------------------------------------------------------------------------------------

/// Operands: x, kernel, stride, padding, dilation, ceil_mode, y, int64 indices within the image.
Status check_max_pool(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 6);
  const Tensor& places = tensor(call, 7);
  if (x.dtype != DType::kF32 && x.dtype != DType::kI8) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_images(x, y));
  THIMBLE_RETURN_IF_ERROR(check_tensor(places, DType::kI64));
  if (!same_layout(y, places)) return Status::kBadDimOrder;
  return check_windows(call, true, call.args[5].integer != 0, y);
}
template <class Element>
void max_pool(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 6);
  const WindowAxis axes[2] = {window(call, 0, true, y), window(call, 1, true, y)};
  const Images steps(x, y);
  const Element* const in = static_cast<const Element*>(x.data);
  for_each_output(x, y, [&](int32_t from, int32_t to, int32_t oy, int32_t ox) {
    const int32_t top = axes[0].origin(oy), left = axes[1].origin(ox);
    const Taps down = axes[0].inside(top), across = axes[1].inside(left);
    int64_t place = -1;
    Element best = 0;
    for (int32_t ky = down.first; ky < down.last; ++ky) {
      for (int32_t kx = across.first; kx < across.last; ++kx) {
        const int32_t h = top + ky * axes[0].dilation;
        const int32_t w = left + kx * axes[1].dilation;
        const Element value = in[from + h * steps.x[2] + w * steps.x[3]];
        // A NaN is greater than every number.
        if (place >= 0 && !(value > best || value != value)) continue;
        best = value;
        place = int64_t{h} * axes[1].in + w;
      }
    }
    static_cast<Element*>(y.data)[to] = best;
    memcpy(static_cast<uint8_t*>(tensor(call, 7).data) + to * 8, &place, 8);
  });
}
void run_max_pool(const Call& call) {
  if (tensor(call, 0).dtype == DType::kI8) return max_pool<int8_t>(call);
  max_pool<float>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, aten_adaptive_avg_pool2d, check_adaptive, run_adaptive);
THIMBLE_DEFINE_KERNEL(portable, aten_avg_pool2d, check_avg_pool, run_avg_pool);
THIMBLE_DEFINE_KERNEL(portable, aten_max_pool2d, check_max_pool, run_max_pool);

}  // namespace thimble::kernels
