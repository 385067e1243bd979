// conv2d_mve: three pixels at a time, whatever the window.
//
// Of a 1x1 convolution a pixel's window lies in the image in one piece; as stride 1 without padding
// it is one call for all pixels. Other windows are first brought together in scratch, row by row,
// with the zero point for what is padding. So are those of a 1x1 convolution where y lies over x,
// or where 16 bytes would reach beyond the end of x.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/matmul_mve.h"
#include "kernels/define.h"
#include "kernels/mve/copy.h"
#include "kernels/mve/matmul_layer.h"

namespace thimble::kernels {
namespace {

using mve::kBlockPixels;

class Convolution {
 public:
  explicit Convolution(void* const* operands)
      : g_(window_geometry(operands[1])),
        x_(static_cast<const int8_t*>(operands[0])),
        scratch_(static_cast<int8_t*>(operands[3])),
        y_(static_cast<int8_t*>(operands[4])),
        layer_(operands[2], g_.out_c, window_depth(g_), {g_.y_zero_point, g_.min, g_.max}) {
    const uint32_t x_bytes = uint32_t{g_.in_h} * g_.in_w * g_.in_c;
    const bool apart = y_ + uint32_t{g_.out_h} * g_.out_w * g_.out_c <= x_ || x_ + x_bytes <= y_;
    // A kernel of 1 allows no padding (check_window).
    in_place_ = (g_.kernel_h | g_.kernel_w) == 1 && apart;
    // What 16 bytes from a pixel on reach beyond the end of x: its last pixels are copied.
    in_place_end_ = static_cast<int32_t>(x_bytes) - static_cast<int32_t>(abi::kMatmulLanes);
    if (layer_.depth() >= abi::kMatmulLanes) in_place_end_ = static_cast<int32_t>(x_bytes);
  }

  void run() {
    const uint32_t pixels = uint32_t{g_.out_h} * g_.out_w;
    uint32_t pixel = 0;
    if (in_place_ && (g_.stride_h | g_.stride_w) == 1) {
      pixel = layer_.multiply_many(x_, y_, pixels);
    }
    uint32_t oy = pixel / g_.out_w;
    uint32_t ox = pixel - oy * g_.out_w;
    const uint32_t padded = abi::matmul_padded(layer_.depth());
    int8_t* y = y_ + pixel * g_.out_c;
    while (pixel < pixels) {
      const uint32_t count = pixels - pixel < kBlockPixels ? pixels - pixel : kBlockPixels;
      const int8_t* windows[kBlockPixels];
      int8_t* results[kBlockPixels];
      for (uint32_t i = 0; i < count; ++i) {
        windows[i] = window(oy, ox, scratch_ + i * padded);
        results[i] = y;
        y += g_.out_c;
        if (++ox == g_.out_w) ox = 0, ++oy;
      }
      if (count == 1) {
        layer_.multiply_one(windows[0], results[0]);
      } else {
        if (count == 2) windows[2] = windows[1], results[2] = results[1];
        layer_.multiply_three(windows, results);
      }
      pixel += count;
    }
  }

 private:
  const int8_t* window(uint32_t oy, uint32_t ox, int8_t* to) const {
    const int32_t top = static_cast<int32_t>(oy * g_.stride_h) - g_.pad_top;
    const int32_t left = static_cast<int32_t>(ox * g_.stride_w) - g_.pad_left;
    if (in_place_) {
      const int32_t at = (top * g_.in_w + left) * g_.in_c;
      if (at <= in_place_end_) return x_ + at;
    }
    int8_t* end = to;
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      end = window_row(top + ky * g_.dilation_h, left, end);
    }
    return to;
  }

  int8_t* window_row(int32_t row, int32_t left, int8_t* to) const {
    const uint32_t channels = g_.in_c;
    if (row < 0 || row >= g_.in_h) return mve::fill(to, g_.x_zero_point, g_.kernel_w * channels);
    const int8_t* const x = x_ + row * g_.in_w * g_.in_c;
    if (g_.dilation_w == 1) {
      const int32_t right = left + g_.kernel_w;
      int32_t first = left;
      if (left < 0) {
        to = mve::fill(to, g_.x_zero_point, static_cast<uint32_t>(-left) * channels);
        first = 0;
      }
      const int32_t last = right > g_.in_w ? g_.in_w : right;
      to = mve::copy(to, x + first * g_.in_c, static_cast<uint32_t>(last - first) * channels);
      if (right == last) return to;
      return mve::fill(to, g_.x_zero_point, static_cast<uint32_t>(right - last) * channels);
    }
    for (int32_t kx = 0; kx < g_.kernel_w; ++kx) {
      const int32_t column = left + kx * g_.dilation_w;
      const bool inside = column >= 0 && column < g_.in_w;
      to = inside ? mve::copy(to, x + column * g_.in_c, channels)
                  : mve::fill(to, g_.x_zero_point, channels);
    }
    return to;
  }

  const abi::WindowGeometry& g_;
  const int8_t* x_;
  int8_t* scratch_;
  int8_t* y_;
  mve::MatmulLayer layer_;
  bool in_place_;         // windows are read where they are in x
  int32_t in_place_end_;  // up to this offset
};

void run(void* const* operands) {
  Convolution(operands).run();
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_conv2d_mve, check_conv2d_mve, run);

}  // namespace thimble::kernels
#endif
