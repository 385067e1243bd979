// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stock convolutions with the weights in the order of the file: finds the windows of a block of
// pixels. The loops of a variant multiply them, one tile of channels at a time.
//
// Without dilation, the rows of a window are read from the image; a row of zero points in the
// scratch replaces rows above and below the image. Windows that overlap the left or right edge, and
// all windows with dilation or with many short rows, are first gathered into the scratch.
// CMSIS-NN's scratch, which ExecuTorch plans, is large enough. The portable body runs calls with
// less scratch, with groups, with too few channels, or with values that the loops do not support.
//
// Loops has: kPixels, the pixels of a block; kVectorBytes, the bytes of a step; kChannelsMin;
// Row, the pointers to one row of the windows of a block; Layer with next_tile() and multiply();
// supports(); fill() and gather().

#include <string.h>

#include "kernels/args/conv.h"
#include "kernels/args/linear.h"

namespace thimble::kernels {

/// fill() and gather() of Loops without vector instructions.
struct CopiedRows {
  static void fill(int8_t* to, int32_t value, uint32_t bytes) { memset(to, value, bytes); }
  static void gather(int8_t* to, const int8_t* from, uint32_t rows, uint32_t bytes,
                     uint32_t from_step, uint32_t to_step) {
    for (; rows != 0; --rows) {
      memcpy(to, from, bytes);
      to += to_step;
      from += from_step;
    }
  }
};

/// Returns true if some window of the axis has taps outside the image.
inline bool has_padding(const WindowAxis& axis) {
  return axis.pad != 0 || axis.origin(axis.out - 1) + (axis.kernel - 1) * axis.dilation >= axis.in;
}

template <class Loops>
class StockConvolution {
 public:
  explicit StockConvolution(const Conv& conv)
      : down_(conv.axis[0]),
        across_(conv.axis[1]),
        in_c_(conv.in_c),
        channels_(conv.out_c),
        zero_(-conv.x_offset),
        row_bytes_(across_.kernel * conv.in_c),
        depth_(down_.kernel * row_bytes_),
        by_rows_((down_.dilation | across_.dilation) == 1 && down_.kernel <= kRowsMax &&
                 down_.kernel * vectors(row_bytes_) <= 2 * vectors(depth_)),
        scratch_(conv.scratch),
        pixels_(down_.out * across_.out) {
    const bool needs_scratch = !by_rows_ || has_padding(down_) || has_padding(across_);
    supported_ = conv.groups == 1 && channels_ >= Loops::kChannelsMin &&
                 (!needs_scratch || conv.scratch_bytes >= kPixels * depth_ + row_bytes_) &&
                 Loops::supports(conv, depth_);
    if (!supported_) return;
    const int32_t rows = by_rows_ ? down_.kernel : 1;
    for (int32_t ky = 0; ky < rows; ++ky) {
      rows_[ky].bytes = static_cast<uint32_t>(by_rows_ ? row_bytes_ : depth_);
    }
    rows_[rows].bytes = 0;
    if (needs_scratch) Loops::fill(zero_row(), zero_, static_cast<uint32_t>(row_bytes_));
  }

  bool supported() const { return supported_; }

  /// Computes the channels of the layer's tile for one image.
  void run(typename Loops::Layer& layer, const int8_t* image, int8_t* y) {
    x_ = image;
    ox_ = 0;
    top_ = -down_.pad;
    left_ = -across_.pad;
    int8_t* at[kPixels];
    for (int32_t pixel = 0; pixel < pixels_; pixel += kPixels) {
      const int32_t count = pixels_ - pixel;
      if (count >= kPixels && block_inside()) {
        set_block_rows();
        for (int32_t i = 0; i < kPixels; ++i) at[i] = y + i * channels_;
      } else {
        for (int32_t i = 0; i < kPixels; ++i) {
          set_rows(i);
          at[i] = y + (i < count ? i : count - 1) * channels_;
          if (i + 1 < count) next_pixel();  // else repeat this pixel
        }
      }
      y += kPixels * channels_;
      layer.multiply(rows_, at);
    }
  }

 private:
  static constexpr int32_t kPixels = Loops::kPixels;
  static constexpr int32_t kRowsMax = 16;

  static int32_t vectors(int32_t bytes) {
    return (bytes + Loops::kVectorBytes - 1) / Loops::kVectorBytes;
  }
  int8_t* gathered(int32_t i) const { return scratch_ + i * depth_; }
  int8_t* zero_row() const { return gathered(kPixels); }

  void next_pixel() {
    left_ += across_.stride;
    if (++ox_ < across_.out) return;
    ox_ = 0;
    left_ = -across_.pad;
    top_ += down_.stride;
  }

  /// Returns true if the next block of pixels is in one row and its windows have no padding.
  bool block_inside() const {
    return by_rows_ && top_ >= 0 && top_ + down_.kernel <= down_.in && left_ >= 0 &&
           ox_ + kPixels <= across_.out &&
           left_ + (kPixels - 1) * across_.stride + across_.kernel <= across_.in;
  }

  void set_block_rows() {
    const int32_t step = across_.in * in_c_;
    const int32_t apart = across_.stride * in_c_;
    const int8_t* x = x_ + top_ * step + left_ * in_c_;
    for (int32_t ky = 0; ky < down_.kernel; ++ky) {
      for (int32_t i = 0; i < kPixels; ++i) rows_[ky].x[i] = x + i * apart;
      x += step;
    }
    ox_ += kPixels - 1;
    left_ += (kPixels - 1) * across_.stride;
    next_pixel();
  }

  void set_rows(int32_t i) {
    if (!by_rows_) {
      gather(gathered(i));
      rows_[0].x[i] = gathered(i);
      return;
    }
    if (left_ < 0 || left_ + across_.kernel > across_.in) {
      const int8_t* row = gathered(i);
      gather(gathered(i));
      for (int32_t ky = 0; ky < down_.kernel; ++ky) {
        rows_[ky].x[i] = row;
        row += row_bytes_;
      }
      return;
    }
    const int32_t step = across_.in * in_c_;
    int32_t at = top_ * step + left_ * in_c_;
    for (int32_t ky = 0; ky < down_.kernel; ++ky) {
      const bool inside = static_cast<uint32_t>(top_ + ky) < static_cast<uint32_t>(down_.in);
      rows_[ky].x[i] = inside ? x_ + at : zero_row();
      at += step;
    }
  }

  /// Copies the window of the current pixel to contiguous memory.
  void gather(int8_t* to) const {
    const Taps y = down_.inside(top_);
    const Taps x = across_.inside(left_);
    const int32_t rows = y.last - y.first;
    const int32_t columns = x.last - x.first;
    if (rows * columns != down_.kernel * across_.kernel) {
      Loops::fill(to, zero_, static_cast<uint32_t>(depth_));
    }
    if (rows == 0 || columns == 0) return;
    const int32_t step = across_.in * in_c_;
    const int8_t* from = x_ + (top_ + y.first * down_.dilation) * step +
                         (left_ + x.first * across_.dilation) * in_c_;
    to += y.first * row_bytes_ + x.first * in_c_;
    // Copy all taps of a row at once or, with dilation, one by one.
    const int32_t pieces = across_.dilation == 1 ? 1 : columns;
    const int32_t bytes = across_.dilation == 1 ? columns * in_c_ : in_c_;
    for (int32_t i = 0; i < pieces; ++i) {
      Loops::gather(to, from, static_cast<uint32_t>(rows), static_cast<uint32_t>(bytes),
                    static_cast<uint32_t>(step * down_.dilation),
                    static_cast<uint32_t>(row_bytes_));
      to += in_c_;
      from += in_c_ * across_.dilation;
    }
  }

  const WindowAxis down_, across_;
  const int32_t in_c_, channels_, zero_;
  const int32_t row_bytes_;  // size of a row of a window
  const int32_t depth_;      // size of a window
  const bool by_rows_;       // else all windows are gathered
  int8_t* const scratch_;    // three windows, then a row of zero points
  const int32_t pixels_;
  bool supported_ = false;
  const int8_t* x_ = nullptr;
  int32_t ox_ = 0, top_ = 0, left_ = 0;  // column of the current pixel; start of its window
  typename Loops::Row rows_[kRowsMax + 1];
};

/// Returns the size of a window, which is the depth of a filter.
inline int32_t window_bytes(const Conv& conv) {
  return conv.axis[0].kernel * conv.axis[1].kernel * conv.in_c;
}

/// Returns true if the only window of each image is the whole image.
inline bool is_linear(const Conv& conv) {
  bool whole = true;
  for (const WindowAxis& axis : conv.axis) {
    whole &= axis.kernel == axis.in && axis.pad == 0 && axis.dilation == 1;
  }
  return whole;
}

/// Returns a convolution with is_linear() and one group as a linear layer.
inline Linear linear_of(const Conv& conv) {
  return {conv.x,     conv.w,        conv.y,      conv.batch, window_bytes(conv),
          conv.out_c, conv.x_offset, conv.requant};
}

/// Returns false if the loops do not support the call.
template <class Loops>
bool run_stock_convolution(const Conv& conv) {
  StockConvolution<Loops> convolution(conv);
  if (!convolution.supported()) return false;
  typename Loops::Layer layer(conv);
  while (layer.next_tile()) {
    for (int32_t n = 0; n < conv.batch; ++n) {
      convolution.run(layer, conv.x + n * (conv.axis[0].in * conv.axis[1].in * conv.in_c),
                      conv.y + n * (conv.axis[0].out * conv.axis[1].out * conv.out_c));
    }
  }
  return true;
}

}  // namespace thimble::kernels
