// thimble::conv2d.f32 over images [N, C, H, W] in logical order. Each result is the float32 sum of
// its products, channel by channel, row by row of the window, then the bias. Products of padding are
// left out. No order depends on the core, so that all machines compute the same bits.
//
// Two output channels and four neighbouring pixels are computed at once: six loads for eight
// products. A convolution with stride 1 reads four neighbouring elements, which Helium loads as one
// vector.
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
constexpr int32_t kPixels = 4;  // at once
constexpr int32_t kChannels = 2;

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
  const bool fits = x.sizes[0] == y.sizes[0] && w.sizes[0] == y.sizes[1] &&
                    w.sizes[1] == x.sizes[1] / groups;
  if (!fits) return Status::kBadShape;
  const WindowAxis axes[2] = {window(call, 0), window(call, 1)};
  THIMBLE_RETURN_IF_ERROR(check_axes(axes, x.sizes[1] > y.sizes[1] ? x.sizes[1] : y.sizes[1]));
  if (bias.is_null) return Status::kOk;
  THIMBLE_RETURN_IF_ERROR(check_tensor(bias, DType::kF32));
  return bias.rank == 1 && bias.sizes[0] == y.sizes[1] ? Status::kOk : Status::kBadShape;
}

/// The window of one or several neighbouring pixels.
struct Window {
  const float* x;  // tap (0, 0) of the first pixel in the first channel of the group
  const float* w;  // of the first output channel
  int32_t channels, plane;
  int32_t row, column;   // distance of two taps in x
  int32_t kernel_h, kernel_w;
  Taps down, across;
  int32_t next_pixel;    // distance of two pixels in x
  int32_t next_weights;  // distance of two output channels in w
};

/// Sets sum[o][p] for kO output channels and kP pixels whose taps are the same.
template <int32_t kO, int32_t kP>
void accumulate(const Window& a, float (&sum)[kO][kP]) {
  for (int32_t o = 0; o < kO; ++o) {
    for (int32_t p = 0; p < kP; ++p) sum[o][p] = 0;
  }
  const float* plane = a.x;
  const float* weights = a.w;
  for (int32_t c = 0; c < a.channels; ++c) {
    for (int32_t ky = a.down.first; ky < a.down.last; ++ky) {
      const float* x = plane + ky * a.row + a.across.first * a.column;
      const float* w = weights + ky * a.kernel_w + a.across.first;
      for (int32_t kx = a.across.first; kx < a.across.last; ++kx) {
        for (int32_t o = 0; o < kO; ++o) {
          const float weight = w[o * a.next_weights];
          for (int32_t p = 0; p < kP; ++p) sum[o][p] += x[p * a.next_pixel] * weight;
        }
        x += a.column;
        ++w;
      }
    }
    plane += a.plane;
    weights += a.kernel_h * a.kernel_w;
  }
}

/// Computes kO output channels of one row, from channel `o` on.
template <int32_t kO>
void compute_row(const Call& call, Window a, const WindowAxis& across, int32_t o, float* y,
                 int32_t out_plane) {
  const float* const origin = a.x;
  const Tensor& bias = tensor(call, 2);
  for (int32_t ox = 0; ox < across.out;) {
    const int32_t left = across.origin(ox);
    const int32_t right =
        across.origin(ox + kPixels - 1) + (across.kernel - 1) * across.dilation;
    const bool block = left >= 0 && right < across.in && ox + kPixels <= across.out;
    a.x = origin + left;
    a.across = block ? Taps{0, across.kernel} : across.inside(left);
    if (block) {
      float sum[kO][kPixels];
      accumulate(a, sum);
      for (int32_t i = 0; i < kO; ++i) {
        const float start = bias.is_null ? 0 : floats(bias)[o + i];
        for (int32_t p = 0; p < kPixels; ++p) y[i * out_plane + ox + p] = sum[i][p] + start;
      }
      ox += kPixels;
    } else {
      float sum[kO][1];
      accumulate(a, sum);
      for (int32_t i = 0; i < kO; ++i) {
        y[i * out_plane + ox] = sum[i][0] + (bias.is_null ? 0 : floats(bias)[o + i]);
      }
      ++ox;
    }
  }
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& w = tensor(call, 1);
  const Tensor& y = tensor(call, kOut);
  const WindowAxis down = window(call, 0), across = window(call, 1);
  const auto groups = static_cast<int32_t>(call.args[6].integer);
  const int32_t group_in = w.sizes[1], group_out = y.sizes[1] / groups;
  const int32_t out_plane = down.out * across.out;
  Window a = {};
  a.channels = group_in;
  a.plane = down.in * across.in;
  a.row = down.dilation * across.in;
  a.column = across.dilation;
  a.kernel_h = down.kernel;
  a.kernel_w = across.kernel;
  a.next_pixel = across.stride;
  a.next_weights = group_in * down.kernel * across.kernel;
  for (int32_t n = 0; n < x.sizes[0]; ++n) {
    const float* const image = floats(x) + n * x.sizes[1] * a.plane;
    float* const out = mutable_floats(y) + n * y.sizes[1] * out_plane;
    for (int32_t o = 0; o < y.sizes[1];) {
      const int32_t group = o / group_out;
      const bool several = (group + 1) * group_out - o >= kChannels;
      a.w = floats(w) + o * a.next_weights;
      for (int32_t oy = 0; oy < down.out; ++oy) {
        const int32_t top = down.origin(oy);
        a.down = down.inside(top);
        a.x = image + group * group_in * a.plane + top * across.in;
        float* const row = out + o * out_plane + oy * across.out;
        if (several) {
          compute_row<kChannels>(call, a, across, o, row, out_plane);
        } else {
          compute_row<1>(call, a, across, o, row, out_plane);
        }
      }
      o += several ? kChannels : 1;
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv2d_f32, check, run);

}  // namespace thimble::kernels
