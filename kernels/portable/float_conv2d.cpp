// thimble::conv2d.f32 over images [N, C, H, W] in logical order. Each result is the float32 sum of
// its products, channel by channel, row by row of the window, then the bias. Products of padding
// are left out. The order does not depend on the core, so that all machines compute the same bits.
//
// Two output channels and four neighbouring pixels are computed at once: six loads for eight
// products. A dscnn_kws needs 17.5 million instructions on an M4; one result at a time, 49 million.
//
// Operands: x, w [O, C / groups, kh, kw], bias?, stride, padding (top, left, bottom, right),
// dilation, groups, y.

#include "abi/ops/float.h"
#include "kernels/args/broadcast_pair.h"
#include "kernels/args/window.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

constexpr uint32_t kOut = 7;

WindowAxis window(const Call& call, uint32_t axis) {
  return {tensor(call, 1).sizes[2 + axis], ints(call, 3).items[axis],
          ints(call, 5).items[axis],       ints(call, 4).items[axis],
          tensor(call, 0).sizes[2 + axis], tensor(call, kOut).sizes[2 + axis]};
}

Status check_image_floats(const Tensor& t) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(t, DType::kF32));
  if (t.rank != 4) return Status::kBadShape;
  return is_contiguous(t) ? Status::kOk : Status::kBadDimOrder;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& bias = tensor(call, 2);
  const Tensor& y = tensor(call, kOut);
  THIMBLE_RETURN_IF_ERROR(check_image_floats(x));
  THIMBLE_RETURN_IF_ERROR(check_image_floats(w));
  THIMBLE_RETURN_IF_ERROR(check_image_floats(y));
  if (ints(call, 3).count != 2 || ints(call, 4).count != 4 || ints(call, 5).count != 2) {
    return Status::kBadParameter;
  }
  const int64_t groups = call.args[6].integer;
  if (groups < 1 || groups > x.sizes[1]) return Status::kBadParameter;
  if (x.sizes[1] % groups != 0 || y.sizes[1] % groups != 0) return Status::kBadShape;
  const bool fits =
      x.sizes[0] == y.sizes[0] && w.sizes[0] == y.sizes[1] && w.sizes[1] == x.sizes[1] / groups;
  if (!fits) return Status::kBadShape;
  const WindowAxis axes[2] = {window(call, 0), window(call, 1)};
  THIMBLE_RETURN_IF_ERROR(check_axes(axes, x.sizes[1] > y.sizes[1] ? x.sizes[1] : y.sizes[1]));
  if (bias.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kF32));
  return bias.rank == 1 && bias.sizes[0] == y.sizes[1] ? Status::kOk : Status::kBadShape;
}

/// The window of one or four neighbouring pixels. A convolution of single pixels has one row of
/// taps, its channels.
struct Window {
  const float* x;  // tap (0, 0) of the first pixel in the first channel of the group
  const float* w;  // of the first output channel
  int32_t channels, plane;
  int32_t row, column;  // distance of two taps in x
  int32_t w_row, w_plane;
  Taps down, across;
  int32_t next_pixel;    // distance of two pixels in x
  int32_t next_weights;  // distance of two output channels in w
};

/// Sums of four pixels, or of one.
template <bool kFour>
struct Sums {
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;

  void add(const float* x, int32_t step, float weight) {
    s0 += x[0] * weight;
    if constexpr (kFour) {
      s1 += x[step] * weight;
      s2 += x[2 * step] * weight;
      s3 += x[3 * step] * weight;
    }
  }
  void store(float bias, float* y) const {
    y[0] = s0 + bias;
    if constexpr (kFour) {
      y[1] = s1 + bias;
      y[2] = s2 + bias;
      y[3] = s3 + bias;
    }
  }
};

/// Computes one or four pixels of one or two output channels. `y` is the first pixel, `second` the
/// distance to that of the second channel.
template <bool kFour, bool kTwo>
void compute(const Window& a, const float* bias, float* y, int32_t second) {
  Sums<kFour> first, other;
  const float* plane = a.x;
  const float* weights = a.w;
  for (int32_t c = 0; c < a.channels; ++c) {
    for (int32_t ky = a.down.first; ky < a.down.last; ++ky) {
      const float* x = plane + ky * a.row + a.across.first * a.column;
      const float* w = weights + ky * a.w_row + a.across.first;
      for (int32_t left = a.across.last - a.across.first; left > 0; --left) {
        first.add(x, a.next_pixel, w[0]);
        if constexpr (kTwo) other.add(x, a.next_pixel, w[a.next_weights]);
        x += a.column;
        ++w;
      }
    }
    plane += a.plane;
    weights += a.w_plane;
  }
  first.store(bias == nullptr ? 0 : bias[0], y);
  if constexpr (kTwo) other.store(bias == nullptr ? 0 : bias[1], y + second);
}

/// A layer whose axes are simplified: H and W are one axis where that gives the same result.
struct Layer {
  WindowAxis down, across;
  bool of_pixels;  // the taps of a window are its channels
};
Layer bind(const Call& call) {
  Layer layer = {window(call, 0), window(call, 1), false};
  WindowAxis& down = layer.down;
  WindowAxis& across = layer.across;
  const auto is_one = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.in == 1 && axis.out == 1 && axis.pad == 0;
  };
  if (is_one(across) && !is_one(down)) {
    const WindowAxis column = down;
    down = across;
    across = column;
  }
  layer.of_pixels = down.kernel == 1 && across.kernel == 1;
  const bool keeps_pixels = down.stride == 1 && across.stride == 1 && down.pad == 0 &&
                            across.pad == 0 && down.out == down.in && across.out == across.in;
  if (layer.of_pixels && keeps_pixels) {
    across.in = across.out = down.in * across.in;
    down.in = down.out = 1;
  }
  return layer;
}

/// Computes the pixels of one row.
template <bool kTwo>
void compute_row(const Layer& layer, Window a, int32_t channels, const float* bias, float* y,
                 int32_t second) {
  const WindowAxis& across = layer.across;
  const float* const origin = a.x;
  for (int32_t ox = 0; ox < across.out;) {
    const int32_t left = across.origin(ox);
    const int32_t right = across.origin(ox + 3) + (across.kernel - 1) * across.dilation;
    const bool four = left >= 0 && right < across.in && ox + 4 <= across.out;
    a.across = four ? Taps{0, across.kernel} : across.inside(left);
    if (layer.of_pixels) a.across = {0, a.across.first < a.across.last ? channels : 0};
    a.x = origin + left;
    if (four) {
      compute<true, kTwo>(a, bias, y + ox, second);
      ox += 4;
    } else {
      compute<false, kTwo>(a, bias, y + ox, second);
      ++ox;
    }
  }
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, kOut);
  const Tensor& bias = tensor(call, 2);
  const Layer layer = bind(call);
  const WindowAxis &down = layer.down, &across = layer.across;
  const auto groups = static_cast<int32_t>(call.args[6].integer);
  const int32_t group_in = w.sizes[1], group_out = y.sizes[1] / groups;
  const int32_t plane = down.in * across.in, out_plane = down.out * across.out;
  Window a = {};
  a.channels = layer.of_pixels ? 1 : group_in;
  a.plane = plane;
  a.row = down.dilation * across.in;
  a.column = layer.of_pixels ? plane : across.dilation;
  a.w_row = across.kernel;
  a.w_plane = down.kernel * across.kernel;
  a.next_pixel = across.stride;
  a.next_weights = group_in * a.w_plane;
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    const float* const image = floats(x) + n * x.sizes[1] * plane;
    float* const out = mutable_floats(y) + n * y.sizes[1] * out_plane;
    for (int32_t o = 0; o < y.sizes[1];) {
      const int32_t group = o / group_out;
      const bool two = (group + 1) * group_out - o >= 2;
      const float* const start = bias.is_null ? nullptr : floats(bias) + o;
      a.w = floats(w) + o * a.next_weights;
      for (int32_t oy = 0; oy < down.out; ++oy) {
        const int32_t top = down.origin(oy);
        a.down = down.inside(top);
        a.x = image + group * group_in * plane + top * across.in;
        float* const row = out + o * out_plane + oy * across.out;
        if (two) {
          compute_row<true>(layer, a, group_in, start, row, out_plane);
        } else {
          compute_row<false>(layer, a, group_in, start, row, out_plane);
        }
      }
      o += two ? 2 : 1;
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv2d_f32, check, run);

}  // namespace thimble::kernels
