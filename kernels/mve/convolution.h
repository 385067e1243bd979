// SPDX-License-Identifier: Apache-2.0
#pragma once
// conv2d_mve and conv2d_mve_int4: three pixels at a time for all window sizes.
//
// 1x1 kernel: a pixel's window is contiguous in the image; with stride 1 one call computes the
// whole image. Larger windows whose rows are multiples of 16 bytes are read from the image row by
// row; a row of zero points in scratch replaces rows above and below the image. All other windows,
// and windows that overlap the left or right edge, are first gathered into scratch. Windows are
// also gathered if y overlaps x and is not located far enough before x: channels of a block are
// written before other values of the same block are read.

#include "abi/params/window.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/matmul_mve.h"
#include "kernels/mve/copy.h"
#include "kernels/mve/gather.h"
#include "kernels/mve/matmul_layer.h"

namespace thimble::kernels {
// Each of the two files that include this has its own class.
namespace {  // NOLINT(google-build-namespaces)

using mve::kBlockPixels;

constexpr int32_t kLanes = abi::kMatmulLanes;

/// Half-open range of the taps inside the image.
struct Inside {
  int32_t first, last;
  Inside(int32_t start, int32_t dilation, int32_t kernel, int32_t in) : first(0), last(kernel) {
    if (start < 0) first = dilation == 1 ? -start : (dilation - 1 - start) / dilation;
    if (start + (kernel - 1) * dilation >= in) {
      last = dilation == 1 ? in - start : (in - 1 - start + dilation) / dilation;
    }
  }
};

template <class Layer>
class Convolution {
 public:
  explicit Convolution(void* const* operands)
      : Convolution(operands, window_geometry(operands[1])) {}

  void run() {
    uint32_t pixel = 0;
    if (window_source_ == WindowSource::kPixels && (stride_h_ | stride_w_) == 1) {
      pixel = layer_.multiply_many(x_, y_, pixels_);
    }
    const uint32_t oy = pixel / static_cast<uint32_t>(out_w_);
    ox_ = static_cast<int32_t>(pixel) - static_cast<int32_t>(oy) * out_w_;
    top_ = static_cast<int32_t>(oy) * stride_h_ - pad_top_;
    left_ = ox_ * stride_w_ - pad_left_;
    if (window_source_ == WindowSource::kRows) {
      run_rows();
    } else {
      run_pixels(y_ + pixel * layer_.channels(), pixels_ - pixel);
    }
  }

 private:
  enum class WindowSource : uint8_t {
    kPixels,  // windows of one pixel, read from the image
    kRows,    // windows of rows that are read from the image
    kGathered,
  };

  Convolution(void* const* operands, const abi::WindowGeometry& g)
      : x_(static_cast<const int8_t*>(operands[0])),
        scratch_(static_cast<int8_t*>(operands[3])),
        y_(static_cast<int8_t*>(operands[4])),
        in_h_(g.in_h),
        in_w_(g.in_w),
        in_c_(g.in_c),
        out_w_(g.out_w),
        kernel_h_(g.kernel_h),
        kernel_w_(g.kernel_w),
        stride_h_(g.stride_h),
        stride_w_(g.stride_w),
        dilation_h_(g.dilation_h),
        dilation_w_(g.dilation_w),
        pad_top_(g.pad_top),
        pad_left_(g.pad_left),
        zero_(g.x_zero_point),
        row_bytes_(kernel_w_ * in_c_),
        padded_(abi::matmul_padded(window_depth(g))),
        pixels_(uint32_t{g.out_h} * g.out_w),
        layer_(operands[2], g.out_c, window_depth(g), {g.y_zero_point, g.min, g.max}) {
    const int32_t x_bytes = in_h_ * in_w_ * in_c_;
    // A 1x1 kernel has no padding (check_window). The kernel reads at least 16 bytes of a pixel;
    // the last pixels are copied if a read would exceed the image.
    pixels_end_ = in_c_ >= kLanes ? x_bytes : x_bytes - kLanes;
    top_inside_ = starts_inside(in_h_, kernel_h_, dilation_h_);
    left_inside_ = starts_inside(in_w_, kernel_w_, dilation_w_);
    short_rows_ = dilation_w_ == 1 && row_bytes_ <= kLanes;
    if (overwrites_unread_input(x_bytes, g.out_h)) return;
    if ((kernel_h_ | kernel_w_) == 1) {
      window_source_ = WindowSource::kPixels;
      short_rows_ = false;
    } else if ((dilation_h_ | dilation_w_) == 1 && row_bytes_ % kLanes == 0 &&
               kernel_h_ <= static_cast<int32_t>(mve::kWindowRowsMax)) {
      window_source_ = WindowSource::kRows;
      mve::fill(zero_row(), zero_, static_cast<uint32_t>(row_bytes_));
    }
  }

  /// Returns the number of positions of the first tap for which the whole window is inside.
  static uint32_t starts_inside(int32_t in, int32_t kernel, int32_t dilation) {
    const int32_t count = in - (kernel - 1) * dilation;
    return count > 0 ? static_cast<uint32_t>(count) : 0;
  }

  /// Returns true if a block's results, which may extend two pixels into the next row, could
  /// overwrite data that this block or a later block reads. It suffices to test the first and last
  /// pixels or rows, and the first row after the padding.
  bool overwrites_unread_input(int32_t x_bytes, int32_t out_h) const {
    const auto pixel = static_cast<int32_t>(layer_.channels());
    const auto y_bytes = static_cast<int32_t>(pixels_) * pixel;
    if (y_ + y_bytes <= x_ || x_ + x_bytes <= y_) return false;
    const auto lead = static_cast<int32_t>(x_ - y_);
    if ((kernel_h_ | kernel_w_ | stride_h_ | stride_w_) == 1) {
      const int32_t others = pixels_ > kBlockPixels ? static_cast<int32_t>(pixels_) - 3 : 0;
      return lead < 3 * pixel || lead < y_bytes - others * in_c_;
    }
    const int32_t rows[] = {pad_top_ / stride_h_, (pad_top_ + stride_h_ - 1) / stride_h_,
                            out_h - 1};
    for (const int32_t row : rows) {
      const int32_t top = row * stride_h_ - pad_top_;
      const int32_t read = top > 0 ? top * in_w_ * in_c_ : 0;
      if (lead < ((row + 1) * out_w_ + 2) * pixel - read) return true;
    }
    return false;
  }

  int8_t* zero_row() const { return scratch_ + kBlockPixels * padded_; }
  int8_t* gathered(uint32_t i) const { return scratch_ + i * padded_; }

  void next_pixel() {
    left_ += stride_w_;
    if (++ox_ < out_w_) return;
    ox_ = 0;
    left_ = -pad_left_;
    top_ += stride_h_;
  }

  /// Computes the remaining `pixels`, whose results begin at y.
  void run_pixels(int8_t* y, uint32_t pixels) {
    mve::PixelBlocks block;
    layer_.begin(&block);
    for (; pixels > 1; pixels -= kBlockPixels) {
      if (short_rows_ && pixels >= kBlockPixels && three_inside()) {
        gather_three();
        for (uint32_t i = 0; i < kBlockPixels; ++i) {
          block.x[i] = gathered(i);
          block.y[i] = y;
          y += layer_.channels();
        }
        layer_.multiply_block(&block);
        continue;
      }
      for (uint32_t i = 0; i < kBlockPixels; ++i) {
        if (i == 2 && pixels == 2) {  // repeat the previous pixel
          block.x[2] = block.x[1];
          block.y[2] = y - layer_.channels();
          layer_.multiply_block(&block);
          return;
        }
        block.x[i] = window(gathered(i));
        block.y[i] = y;
        y += layer_.channels();
        next_pixel();
      }
      layer_.multiply_block(&block);
    }
    if (pixels == 1) layer_.multiply_one(window(gathered(0)), y);
  }

  void run_rows() {
    mve::WindowBlock block;
    layer_.begin(&block);
    const uint32_t depth_vectors = static_cast<uint32_t>(row_bytes_) / kLanes;
    for (int32_t ky = 0; ky < kernel_h_; ++ky) block.rows[ky].depth_vectors = depth_vectors;
    block.rows[0].depth_vectors = depth_vectors - 1;
    block.rows[kernel_h_].depth_vectors = 0;
    int8_t* y = y_;
    for (uint32_t pixel = 0; pixel < pixels_; pixel += kBlockPixels) {
      const uint32_t count = pixels_ - pixel;
      if (count >= kBlockPixels && three_inside()) {
        set_three_rows(&block);
      } else {
        for (uint32_t i = 0; i < kBlockPixels; ++i) {
          set_rows(&block, i);
          if (i + 1 < count) next_pixel();  // else repeat this pixel
        }
      }
      for (uint32_t i = 0; i < kBlockPixels; ++i) {
        block.y[i] = y;
        if (i + 1 < count) y += layer_.channels();
      }
      layer_.multiply_block(&block);
    }
  }

  /// Returns true if the next three pixels are in one row and their windows have no padding.
  bool three_inside() const {
    return static_cast<uint32_t>(top_) < top_inside_ && left_ >= 0 && ox_ + 3 <= out_w_ &&
           static_cast<uint32_t>(left_ + 2 * stride_w_) < left_inside_;
  }

  void set_three_rows(mve::WindowBlock* block) {
    const int32_t step = in_w_ * in_c_;
    const int32_t apart = stride_w_ * in_c_;
    const int8_t* x = x_ + top_ * step + left_ * in_c_;
    for (int32_t ky = 0; ky < kernel_h_; ++ky) {
      mve::WindowRow& row = block->rows[ky];
      row.x[0] = x;
      row.x[1] = x + apart;
      row.x[2] = x + 2 * apart;
      x += step;
    }
    next_three_pixels();
  }

  void next_three_pixels() {
    ox_ += 2;
    left_ += 2 * stride_w_;
    next_pixel();
  }

  /// Copies the windows of three_inside(), whose rows are short_rows_.
  void gather_three() {
    const int32_t step = in_w_ * in_c_;
    mve::gather_three(gathered(0), x_ + top_ * step + left_ * in_c_,
                      static_cast<uint32_t>(kernel_h_), static_cast<uint32_t>(row_bytes_), padded_,
                      static_cast<uint32_t>(stride_w_ * in_c_),
                      static_cast<uint32_t>(step * dilation_h_));
    next_three_pixels();
  }

  void set_rows(mve::WindowBlock* block, uint32_t i) const {
    if (left_ < 0 || left_ + kernel_w_ > in_w_) {
      const int8_t* row = gather(gathered(i));
      for (int32_t ky = 0; ky < kernel_h_; ++ky) {
        block->rows[ky].x[i] = row;
        row += row_bytes_;
      }
      return;
    }
    const int8_t* const zeros = zero_row();
    const int32_t step = in_w_ * in_c_;
    int32_t at = top_ * step + left_ * in_c_;
    for (int32_t ky = 0; ky < kernel_h_; ++ky) {
      const bool inside = static_cast<uint32_t>(top_ + ky) < static_cast<uint32_t>(in_h_);
      block->rows[ky].x[i] = inside ? x_ + at : zeros;
      at += step;
    }
  }

  /// Returns the window of the current pixel in contiguous memory.
  const int8_t* window(int8_t* to) const {
    if (window_source_ == WindowSource::kPixels) {
      const int32_t at = (top_ * in_w_ + left_) * in_c_;
      if (at <= pixels_end_) return x_ + at;
    }
    if (static_cast<uint32_t>(top_) >= top_inside_ ||
        static_cast<uint32_t>(left_) >= left_inside_ || dilation_w_ != 1) {
      return gather(to);
    }
    const auto bytes = static_cast<uint32_t>(row_bytes_);
    const int32_t step = in_w_ * in_c_;
    mve::gather(to, x_ + top_ * step + left_ * in_c_, static_cast<uint32_t>(kernel_h_), bytes,
                static_cast<uint32_t>(step * dilation_h_), bytes);
    return to;
  }

  const int8_t* gather(int8_t* to) const {
    const Inside y(top_, dilation_h_, kernel_h_, in_h_);
    const Inside x(left_, dilation_w_, kernel_w_, in_w_);
    const int32_t taps = (y.last - y.first) * (x.last - x.first);
    if (taps != kernel_h_ * kernel_w_) mve::fill(to, zero_, layer_.depth());
    if (y.last <= y.first || x.last <= x.first) return to;  // possible only with dilation
    const int32_t row = top_ + y.first * dilation_h_;
    const int32_t column = left_ + x.first * dilation_w_;
    const int8_t* from = x_ + (row * in_w_ + column) * in_c_;
    int8_t* at = to + y.first * row_bytes_ + x.first * in_c_;
    // Copy all taps of a row at once or, with dilation, one by one.
    const int32_t pieces = dilation_w_ == 1 ? 1 : x.last - x.first;
    const int32_t bytes = dilation_w_ == 1 ? (x.last - x.first) * in_c_ : in_c_;
    for (int32_t i = 0; i < pieces; ++i) {
      mve::gather(at, from, static_cast<uint32_t>(y.last - y.first), static_cast<uint32_t>(bytes),
                  static_cast<uint32_t>(in_w_ * in_c_ * dilation_h_),
                  static_cast<uint32_t>(row_bytes_));
      at += in_c_;
      from += in_c_ * dilation_w_;
    }
    return to;
  }

  const int8_t* const x_;
  int8_t* const scratch_;
  int8_t* const y_;
  const int32_t in_h_, in_w_, in_c_, out_w_;
  const int32_t kernel_h_, kernel_w_, stride_h_, stride_w_, dilation_h_, dilation_w_;
  const int32_t pad_top_, pad_left_, zero_;
  const int32_t row_bytes_;  // size of a row of a window
  const uint32_t padded_;    // size of a gathered window
  const uint32_t pixels_;
  int32_t pixels_end_ = 0;                     // last offset at which 16 bytes may be read
  uint32_t top_inside_ = 0, left_inside_ = 0;  // windows with a smaller start have no padding
  WindowSource window_source_ = WindowSource::kGathered;
  bool short_rows_ = false;              // rows of gathered windows have at most 16 bytes
  int32_t ox_ = 0, top_ = 0, left_ = 0;  // column of the current pixel; start of its window
  Layer layer_;
};

}  // namespace
}  // namespace thimble::kernels
#endif
