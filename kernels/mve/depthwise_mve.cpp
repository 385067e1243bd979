// SPDX-License-Identifier: Apache-2.0
// depthwise_mve. Nine taps (3x3, 9x1, any dilation) have one pointer each, which advances through
// the channels of a pixel and to the next pixel. Any other number of taps uses a table of offsets.
// Taps outside the image read a padding pixel in the scratch.

#include "abi/ops/conv.h"
#include "abi/params/window.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <arm_mve.h>

#include "kernels/args/depthwise_mve.h"
#include "kernels/args/packed.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/depthwise_loops.h"
#include "kernels/mve/depthwise_tile.h"

namespace thimble::kernels {
namespace {

using mve::DepthwiseTile;

constexpr int32_t kLanes = abi::kDepthwiseLanes;

constexpr int32_t whole_blocks(int32_t lanes) {
  return (lanes + kLanes - 1) / kLanes * kLanes;
}

/// The parts common to both kinds of windows. The fields of the geometry are copied to members,
/// because the compiler must assume that each store can change them. Positions outside the image
/// are integers, because they are not valid addresses.
class Depthwise {
 public:
  Depthwise(const DepthwiseTile& tile, int8_t* padding)
      : g_(tile.geometry),
        x_(reinterpret_cast<uintptr_t>(tile.x)),
        padding_(padding),
        lanes_(tile.lanes) {
    for (int32_t i = 0; i < whole_blocks(lanes_); i += kLanes) {
      vstrbq_s8(padding + i, vdupq_n_s8(static_cast<int8_t>(g_.x_zero_point)));
    }
    run_.y = tile.y;
    run_.blocks = tile.blocks;
    run_.y_zero_point = g_.y_zero_point;
    run_.min = g_.min;
    run_.max = g_.max;
    const int32_t reach = (kernel_w_ - 1) * dilation_w_;
    first_ = (pad_left_ + stride_w_ - 1) / stride_w_;
    const int32_t room = in_w_ - 1 - reach + pad_left_;  // largest left edge, plus pad_left
    last_ = room < 0 ? 0 : room / stride_w_ + 1;
    last_ = last_ < out_w_ ? last_ : out_w_;
    set_pixel();
  }

 protected:
  bool row_inside(int32_t y) const { return static_cast<uint32_t>(y) < g_.in_h; }
  uintptr_t place(int32_t y, int32_t x) const {
    return x_ + static_cast<uint32_t>((y * in_w_ + x) * channels_);
  }
  /// Sets pixels of `lanes` channels, `next` bytes of x and `y_next` bytes of y apart.
  void set_lanes(int32_t lanes, int32_t next, int32_t y_next) {
    const int32_t whole = whole_blocks(lanes);
    run_.lanes = static_cast<uint32_t>(lanes);
    run_.y_step = y_next - whole;
    run_.x_step[0] = run_.x_step[1] = run_.x_step[2] = run_.x_moves = next - whole;
  }
  void set_pixel() {
    const int32_t half = has_half_ ? 8 : 0;
    set_lanes(lanes_ - half, stride_w_ * channels_ - half, channels_ - half);
  }
  /// Returns true if neighbouring pixels share a vector: the one block repeats the channels.
  bool shares_vectors() const { return stride_w_ == 1 && channels_ <= 8; }

  const abi::WindowGeometry& g_;
  uintptr_t x_;
  const int8_t* padding_;
  int32_t lanes_;  // channels of the tile
  int32_t channels_ = g_.in_c, in_w_ = g_.in_w, out_w_ = g_.out_w;
  int32_t kernel_h_ = g_.kernel_h, kernel_w_ = g_.kernel_w;
  int32_t dilation_w_ = g_.dilation_w, stride_w_ = g_.stride_w, pad_left_ = g_.pad_left;
  // With nine taps, eight lanes after the whole blocks have separate instructions.
  const bool has_half_ = lanes_ % kLanes == 8 && lanes_ > kLanes&& kernel_h_* kernel_w_ == 9;
  int32_t first_, last_;  // half-open range of columns of y whose windows are inside horizontally
  DepthwiseRun run_ = {};
};

/// A row consists of the pixels at its left edge, one by one; of the pixels whose windows are
/// inside horizontally; and of the right edge. These segments are the same in all rows except for
/// the row's position. Taps above and below the image also have positions; while a row is computed,
/// they are replaced by padding.
class NineTaps : Depthwise {
 public:
  explicit NineTaps(const DepthwiseTile& tile) : Depthwise(tile, tile.scratch) {
    if (has_half_) set_half(run_.blocks + lanes_ / kLanes * DepthwiseBlock(g_).bytes());
  }

  void run() {
    const int32_t out_h = g_.out_h;
    const int32_t stride_h = g_.stride_h;
    const int32_t below = g_.in_h - (kernel_h_ - 1) * g_.dilation_h;  // end of the first tap rows
    bool planned = false;
    bool whole = true;
    for (int32_t oy = 0; oy < out_h; ++oy, iy_ += stride_h) {
      const bool inside = iy_ >= 0 && iy_ < below;
      if (!inside || !rows_inside_) set_rows(inside);
      // Only with three rows each row has its own step, so that a padding row does not advance.
      const bool was_whole = whole;
      whole = inside || kernel_h_ == 3;
      if (planned && whole == was_whole) {
        advance();
        if (inside) {
          go_groups(segments_);
        } else {
          go();
        }
      } else {
        planned = row(whole);
      }
    }
  }

 private:
  static constexpr int32_t kSegments = 8;

  /// Copies the constants of the first eight lanes of the last block.
  void set_half(const uint8_t* block) {
    const DepthwiseBlock at(g_);
    for (uint32_t lane = 0; lane < 8; ++lane) {
      const uint32_t place = abi::depthwise_lane_position(lane);
      const uint32_t i = (lane & 1) * 4 + lane / 2;
      memcpy(&run_.half[0][i], block + 4 * place, sizeof(int32_t));
      memcpy(&run_.half[1][i], block + static_cast<uint32_t>(at.mults()) + 4 * place,
             sizeof(int32_t));
      run_.half[2][i] = static_cast<int8_t>(block[static_cast<uint32_t>(at.shifts) + place]);
    }
  }

  [[gnu::noinline]] void set_rows(bool inside) {
    rows_inside_ = inside;
    outside_ = 0;
    int32_t iy = iy_;
    for (int32_t ky = 0; ky < kernel_h_; ++ky, iy += g_.dilation_h) {
      if (!row_inside(iy)) outside_ |= 1U << ky;
    }
    set_vectors(0);
  }
  /// Sets vectors of one pixel each or, if `shared` is not 0, of `shared` lanes of several pixels.
  void set_vectors(int32_t shared) {
    shared_ = shared;
    if (shared != 0) {
      set_lanes(shared, shared, shared);
    } else {
      set_pixel();
    }
    if (rows_inside_ || kernel_h_ != 3) return;
    const int32_t half = has_half_ ? 8 : 0;
    const int32_t bytes = whole_blocks(static_cast<int32_t>(run_.lanes)) + half;
    for (int32_t ky = 0; ky < 3; ++ky) {
      if ((outside_ >> ky & 1) != 0) run_.x_step[ky] = -bytes;
    }
    run_.x_moves = 1;
  }

  /// Computes one row of y. Returns true if the table then contains all its segments.
  bool row(bool whole) {
    bool all = true;
    count_ = group_count_ = 0;
    for (int32_t ox = 0; ox < out_w_;) {
      const bool many = ox == first_ && first_ < last_ && whole;
      if (count_ + 2 > kSegments) {
        go();
        count_ = group_count_ = 0;
        all = false;
      }
      const int32_t ix = ox * stride_w_ - pad_left_;
      const int32_t pixels = many ? last_ - first_ : 1;
      ox += pixels;
      if (many && shares_vectors()) {
        const int32_t bytes = pixels * channels_;
        const int32_t rest = bytes % kLanes;
        if (bytes >= kLanes) plan(ix, 0, bytes / kLanes, kLanes);
        if (rest != 0) plan(ix, bytes - rest, 1, rest);
      } else {
        plan(ix, 0, pixels, 0);
      }
    }
    if (count_ != 0) go();
    return all;
  }

  /// Appends a segment. Its first window is at column ix, plus `bytes`.
  [[gnu::noinline]] void plan(int32_t ix, int32_t bytes, int32_t pixels, int32_t shared) {
    DepthwiseSegment& segment = segments_[count_];
    DepthwiseSegment& step = steps_[count_++];
    segment.pixels = static_cast<uint32_t>(pixels);
    step.pixels = 0;
    const uintptr_t at = place(iy_, ix) + static_cast<uint32_t>(bytes);
    if (kernel_w_ == 3) {
      point(at, ix, 3, segment.x, step.x);
    } else {
      point(at, ix, kernel_w_, segment.x, step.x);
    }
    if (group_count_ == 0 || groups_[group_count_ - 1].shared != shared) {
      groups_[group_count_++] = {0, shared};
    }
    ++groups_[group_count_ - 1].segments;
  }

  /// Writes the taps and their distances to the taps of the next row.
  __attribute__((always_inline)) void point(uintptr_t at, int32_t ix, const int32_t kernel_w,
                                            const int8_t** tap, const int8_t** step) {
    const int32_t dilation = dilation_w_;
    const auto in_w = static_cast<uint32_t>(in_w_);
    const auto next = static_cast<uint32_t>(dilation * channels_);
    const auto next_row = static_cast<uint32_t>(g_.dilation_h * in_w_ * channels_);
    const auto row_step = static_cast<uint32_t>(g_.stride_h * in_w_ * channels_);
    for (int32_t kx = 0; kx < kernel_w; ++kx, ix += dilation, at += next) {
      const bool inside = static_cast<uint32_t>(ix) < in_w;
      uintptr_t place = inside ? at : reinterpret_cast<uintptr_t>(padding_);
      const uint32_t tap_row = inside ? next_row : 0;
      const auto moves = reinterpret_cast<const int8_t*>(inside ? row_step : 0);
      for (int32_t i = kx; i < 9; i += kernel_w, place += tap_row) {
        tap[i] = reinterpret_cast<const int8_t*>(place);
        step[i] = moves;
      }
    }
  }

  /// Advances the segments from a row of y to the next row.
  void advance() {
    DepthwiseSegment* segment = segments_;
    const DepthwiseSegment* step = steps_;
    const uint32_t words = static_cast<uint32_t>(count_) * (sizeof(DepthwiseSegment) / 4);
    asm volatile(
        "dlstp.32 lr, %[words]\n"
        "1:\n"
        "vldrw.u32 q0, [%[segment]]\n"
        "vldrw.u32 q1, [%[step]], #16\n"
        "vadd.i32 q0, q0, q1\n"
        "vstrw.32 q0, [%[segment]], #16\n"
        "letp lr, 1b\n"
        : [segment] "+r"(segment), [step] "+r"(step)
        : [words] "r"(words)
        : "q0", "q1", "lr", "memory");
  }

  [[gnu::noinline]] void go() {
    if (rows_inside_) {
      go_groups(segments_);
      return;
    }
    DepthwiseSegment padded[kSegments];
    for (int32_t i = 0; i < count_; ++i) {
      padded[i] = segments_[i];
      const int8_t** tap = padded[i].x;
      for (uint32_t outside = outside_; outside != 0; outside >>= 1, tap += kernel_w_) {
        if ((outside & 1) == 0) continue;
        if (kernel_w_ == 3) {
          tap[0] = tap[1] = tap[2] = padding_;
        } else {
          for (int32_t kx = 0; kx < kernel_w_; ++kx) tap[kx] = padding_;
        }
      }
    }
    go_groups(padded);
  }
  [[gnu::noinline]] void go_groups(const DepthwiseSegment* segments) {
    run_.segments = segments;
    for (int32_t i = 0; i < group_count_; ++i) {
      if (groups_[i].shared != shared_) set_vectors(groups_[i].shared);
      run_.segment_count = groups_[i].segments;
      if (has_half_ && is_relu_) {
        thimble_mve_depthwise_nine_half_relu(&run_);
      } else if (has_half_) {
        thimble_mve_depthwise_nine_half(&run_);
      } else if (is_relu_) {
        thimble_mve_depthwise_nine_relu(&run_);
      } else {
        thimble_mve_depthwise_nine(&run_);
      }
      run_.segments += groups_[i].segments;
    }
  }

  /// Segments with the same lanes.
  struct Group {
    uint32_t segments;
    int32_t shared;  // lanes of vectors that several pixels share, or 0
  };

  const bool is_relu_ = g_.y_zero_point == -128 && g_.min == -128 && g_.max == 127;
  int32_t iy_ = -g_.pad_top;  // first row of the windows
  bool rows_inside_ = false;
  int32_t shared_ = 0;
  uint32_t outside_ = 0;  // bit mask of the rows of a window outside the image
  int32_t count_ = 0, group_count_ = 0;
  DepthwiseSegment segments_[kSegments], steps_[kSegments];
  Group groups_[kSegments];
};

class AnyTaps : Depthwise {
 public:
  explicit AnyTaps(const DepthwiseTile& tile)
      : Depthwise(tile, tile.scratch + 8 * taps(tile.geometry)),
        inner_(reinterpret_cast<int32_t*>(tile.scratch)),
        edge_(inner_ + taps(tile.geometry)) {
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
  static int32_t taps(const abi::WindowGeometry& g) {
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
    set_lanes(kLanes, kLanes, kLanes);
    if (bytes >= kLanes) go(bytes / kLanes);
    const int32_t rest = bytes % kLanes;
    if (rest != 0) {
      set_lanes(rest, rest, rest);
      go(1);
    }
    set_pixel();
  }

  void go(int32_t pixels) {
    run_.pixels = static_cast<uint32_t>(pixels);
    thimble_mve_depthwise_any(&run_);
  }

  int32_t* inner_;  // offsets of the taps of a window inside the image
  int32_t* edge_;
};

void run(void* const* operands) {
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  mve::run_depthwise({g, static_cast<const int8_t*>(operands[0]),
                      static_cast<const uint8_t*>(operands[2]), static_cast<int8_t*>(operands[3]),
                      static_cast<int8_t*>(operands[4]), g.in_c});
}

}  // namespace

void mve::run_depthwise(const DepthwiseTile& tile) {
  if (tile.geometry.kernel_h * tile.geometry.kernel_w == 9) {
    NineTaps(tile).run();
  } else {
    AnyTaps(tile).run();
  }
}

THIMBLE_DEFINE_BARE_KERNEL(mve, thimble_depthwise_mve, check_depthwise_mve, run);

}  // namespace thimble::kernels

#endif
