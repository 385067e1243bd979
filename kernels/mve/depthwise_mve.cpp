// Nine taps (3x3, 9x1, any dilation) have a pointer each, which walks through the channels of a
// pixel and on to the next; any other number of taps has a table of offsets. Taps outside of the
// image read a pixel of padding in the scratch.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/depthwise_mve.h"
#include "kernels/args/packed.h"
#include "kernels/define.h"
#include "kernels/mve/depthwise_loops.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kLanes = abi::kDepthwiseLanes;

constexpr int32_t whole_blocks(int32_t lanes) {
  return (lanes + kLanes - 1) / kLanes * kLanes;
}

/// What both kinds of windows have. The geometry's bytes are taken out once: each store could
/// change them, for all the compiler knows. Places outside of the image are whole numbers: not each
/// is an address.
class Depthwise {
 public:
  Depthwise(void* const* operands, int8_t* padding)
      : g_(window_geometry(operands[1])),
        x_(reinterpret_cast<uintptr_t>(operands[0])),
        padding_(padding) {
    memset(padding, g_.x_zero_point, static_cast<size_t>(whole_blocks(channels_)));
    run_.y = static_cast<int8_t*>(operands[4]);
    run_.blocks = static_cast<const uint8_t*>(operands[2]);
    run_.y_zero_point = g_.y_zero_point;
    run_.min = g_.min;
    run_.max = g_.max;
    const int32_t reach = (kernel_w_ - 1) * dilation_w_;
    first_ = (pad_left_ + stride_w_ - 1) / stride_w_;
    const int32_t room = in_w_ - 1 - reach + pad_left_;  // of the left edge of a window
    last_ = room < 0 ? 0 : room / stride_w_ + 1;
    last_ = last_ < out_w_ ? last_ : out_w_;
    set_pixel();
  }

 protected:
  bool row_inside(int32_t y) const { return static_cast<uint32_t>(y) < g_.in_h; }
  uintptr_t place(int32_t y, int32_t x) const {
    return x_ + static_cast<uint32_t>((y * in_w_ + x) * channels_);
  }
  /// Pixels of `lanes` channels, `next` bytes of x apart.
  void set_lanes(int32_t lanes, int32_t next) {
    const int32_t whole = whole_blocks(lanes);
    run_.lanes = static_cast<uint32_t>(lanes);
    run_.y_step = lanes - whole;
    run_.x_step[0] = run_.x_step[1] = run_.x_step[2] = run_.x_moves = next - whole;
  }
  void set_pixel() { set_lanes(channels_, stride_w_ * channels_); }
  /// The one block repeats the channels, so that neighbouring pixels fill its lanes.
  bool shares_vectors() const { return stride_w_ == 1 && channels_ <= 8; }

  const abi::WindowGeometry& g_;
  uintptr_t x_;
  const int8_t* padding_;
  int32_t channels_ = g_.in_c, in_w_ = g_.in_w, out_w_ = g_.out_w;
  int32_t kernel_h_ = g_.kernel_h, kernel_w_ = g_.kernel_w;
  int32_t dilation_w_ = g_.dilation_w, stride_w_ = g_.stride_w, pad_left_ = g_.pad_left;
  int32_t first_, last_;  // columns of y whose windows leave the image neither left nor right
  DepthwiseRun run_ = {};
};

class NineTaps : Depthwise {
 public:
  explicit NineTaps(void* const* operands)
      : Depthwise(operands, static_cast<int8_t*>(operands[3])) {}

  void run() {
    const int32_t out_h = g_.out_h;
    for (int32_t oy = 0; oy < out_h; ++oy) {
      find_rows(oy * g_.stride_h - g_.pad_top);
      stale_ = ~0U;
      int32_t ox = 0;
      if (first_ < last_ && (rows_inside_ || kernel_h_ == 3)) {
        for (; ox < first_; ++ox) single(ox);
        inside(last_ - first_);
        ox = last_;
      }
      for (; ox < out_w_; ++ox) single(ox);
    }
  }

 private:
  /// Rows of x that the window at row iy reads, 0 for those outside.
  void find_rows(int32_t iy) {
    const int32_t dilation = g_.dilation_h;
    const int32_t in_h = g_.in_h;
    uintptr_t row = place(iy, 0);
    const uint32_t next = static_cast<uint32_t>(dilation * in_w_ * channels_);
    bool all = true;
    for (int32_t ky = 0; ky < kernel_h_; ++ky, iy += dilation, row += next) {
      const bool inside = iy >= 0 && iy < in_h;
      rows_[ky] = inside ? row : 0;
      all = all && inside;
    }
    rows_inside_ = all;
  }

  /// Pointers of the taps for the window at column ix: those that were outside, or are.
  void point(int32_t ix) {
    if (kernel_w_ == 3) {
      point_columns(ix, 3);
    } else {
      point_columns(ix, kernel_w_);
    }
  }

  __attribute__((always_inline)) void point_columns(int32_t ix, const int32_t kernel_w) {
    // Where rows are outside, padding has been walked along, too.
    uint32_t left = rows_inside_ ? stale_ : ~0U;
    const auto padding = reinterpret_cast<uintptr_t>(padding_);
    const int32_t dilation = dilation_w_;
    uint32_t column = static_cast<uint32_t>(ix * channels_);
    const uint32_t next = static_cast<uint32_t>(dilation * channels_);
    const uint32_t in_w = static_cast<uint32_t>(in_w_);
    uint32_t outside = 0;
    for (int32_t kx = 0; kx < kernel_w; ++kx, ix += dilation, column += next, left >>= 1) {
      const int8_t** const end = run_.x + 9;
      if (static_cast<uint32_t>(ix) >= in_w) {
        outside |= 1U << kx;
        for (const int8_t** tap = run_.x + kx; tap < end; tap += kernel_w) *tap = padding_;
      } else if ((left & 1) != 0) {
        const uintptr_t* row = rows_;
        for (const int8_t** tap = run_.x + kx; tap < end; tap += kernel_w, ++row) {
          const uintptr_t from = *row != 0 ? *row + column : padding;
          *tap = reinterpret_cast<const int8_t*>(from);
        }
      }
    }
    stale_ = outside;
  }

  void single(int32_t ox) {
    point(ox * stride_w_ - pad_left_);
    go(1);
  }

  /// Windows that leave the image neither left nor right, and up and down only with three rows.
  void inside(int32_t pixels) {
    point(first_ * stride_w_ - pad_left_);
    if (shares_vectors()) {
      const int32_t bytes = pixels * channels_;
      set_lanes(kLanes, kLanes);
      keep_padding();
      if (bytes >= kLanes) go(bytes / kLanes);
      const int32_t rest = bytes % kLanes;
      if (rest != 0) {
        set_lanes(rest, rest);
        go(1);
      }
      set_pixel();
    } else if (rows_inside_) {
      go(pixels);
    } else {
      keep_padding();
      go(pixels);
      set_pixel();
    }
  }

  /// Taps of rows outside stay where they are; with three rows each row has a step of its own.
  void keep_padding() {
    if (rows_inside_) return;
    const auto lanes = static_cast<int32_t>(run_.lanes);
    for (int32_t ky = 0; ky < 3; ++ky) {
      if (rows_[ky] == 0) run_.x_step[ky] = -whole_blocks(lanes);
    }
    run_.x_moves = 1;
  }

  void go(int32_t pixels) {
    run_.pixels = static_cast<uint32_t>(pixels);
    if (is_relu_) {
      thimble_mve_depthwise_nine_relu(&run_);
    } else {
      thimble_mve_depthwise_nine(&run_);
    }
  }

  const bool is_relu_ = g_.y_zero_point == -128 && g_.min == -128 && g_.max == 127;
  uintptr_t rows_[9];
  bool rows_inside_ = false;
  uint32_t stale_ = 0;  // columns of taps that do not point where they should
};

class AnyTaps : Depthwise {
 public:
  explicit AnyTaps(void* const* operands)
      : Depthwise(operands, static_cast<int8_t*>(operands[3]) + 8 * taps(operands[1])),
        inner_(static_cast<int32_t*>(operands[3])),
        edge_(inner_ + taps(operands[1])) {
    run_.pairs = static_cast<uint32_t>(edge_ - inner_) / 2;
    int32_t* offset = inner_;
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      for (int32_t kx = 0; kx < g_.kernel_w; ++kx) {
        *offset++ = (ky * g_.dilation_h * g_.in_w + kx * g_.dilation_w) * g_.in_c;
      }
    }
    edge_[-1] = offset[-1];
  }

  void run() {
    for (int32_t oy = 0; oy < g_.out_h; ++oy) {
      const int32_t iy = oy * g_.stride_h - g_.pad_top;
      int32_t ox = 0;
      if (iy >= 0 && iy + (g_.kernel_h - 1) * g_.dilation_h < g_.in_h && first_ < last_) {
        for (; ox < first_; ++ox) single(iy, ox);
        inside(iy, last_ - first_);
        ox = last_;
      }
      for (; ox < g_.out_w; ++ox) single(iy, ox);
    }
  }

 private:
  static int32_t taps(const void* geometry) {
    const abi::WindowGeometry& g = window_geometry(geometry);
    return abi::depthwise_taps(g.kernel_h * g.kernel_w);
  }

  void single(int32_t iy, int32_t ox) {
    int32_t ix = ox * stride_w_ - pad_left_;
    const uintptr_t corner = place(iy, ix);
    const auto padding = static_cast<int32_t>(reinterpret_cast<uintptr_t>(padding_) - corner);
    const int32_t kernel_h = kernel_h_;
    const int32_t kernel_w = kernel_w_;
    const int32_t dilation_h = g_.dilation_h;
    const int32_t dilation_w = dilation_w_;
    const uint32_t in_w = static_cast<uint32_t>(in_w_);
    const int32_t* inner = inner_;
    int32_t* edge = edge_;
    for (int32_t ky = 0; ky < kernel_h; ++ky, iy += dilation_h, inner += kernel_w) {
      const bool reads = row_inside(iy);
      int32_t x = ix;
      for (int32_t kx = 0; kx < kernel_w; ++kx, x += dilation_w) {
        *edge++ = reads && static_cast<uint32_t>(x) < in_w ? inner[kx] : padding;
      }
    }
    edge_[2 * run_.pairs - 1] = edge[-1];
    run_.x[0] = reinterpret_cast<const int8_t*>(corner);
    run_.offsets = edge_;
    go(1);
  }

  void inside(int32_t iy, int32_t pixels) {
    run_.x[0] = reinterpret_cast<const int8_t*>(place(iy, first_ * stride_w_ - pad_left_));
    run_.offsets = inner_;
    if (!shares_vectors()) {
      go(pixels);
      return;
    }
    const int32_t bytes = pixels * channels_;
    set_lanes(kLanes, kLanes);
    if (bytes >= kLanes) go(bytes / kLanes);
    const int32_t rest = bytes % kLanes;
    if (rest != 0) {
      set_lanes(rest, rest);
      go(1);
    }
    set_pixel();
  }

  void go(int32_t pixels) {
    run_.pixels = static_cast<uint32_t>(pixels);
    thimble_mve_depthwise_any(&run_);
  }

  int32_t* inner_;  // offsets of the taps of a window in the image
  int32_t* edge_;
};

void run(void* const* operands) {
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  if (g.kernel_h * g.kernel_w == 9) {
    NineTaps(operands).run();
  } else {
    AnyTaps(operands).run();
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_depthwise_mve, check_depthwise_mve, run);

}  // namespace thimble::kernels

#endif
