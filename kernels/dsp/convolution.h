// SPDX-License-Identifier: Apache-2.0
#pragma once
// conv2d_dsp and conv2d_dsp_int4 on the DSP extension. Operands: kernels/args/conv_dsp.h; inner
// loops: conv_blocks.h.
//
// A block is Loops::kPixels pixels, which may belong to two rows of the image. Their windows are
// widened to int16 columns before the first result of the block is written. Then every output
// channel is computed from the columns. If fewer pixels are left, the windows of the missing ones
// are those of the first one, and their results are not written.

#include "abi/params/window.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/args/conv_dsp.h"
#include "kernels/dsp/clamp.h"
#include "kernels/dsp/conv_blocks.h"

namespace thimble::kernels {
// Each of the two files that include this has its own functions.
namespace {  // NOLINT(google-build-namespaces)

using abi::WindowGeometry;

/// First row and column of the window of an output pixel; they may be in the padding.
struct WindowOrigin {
  int32_t row, column;
};

struct Conv {
  const WindowGeometry& g;
  const int8_t* x;
  const void* weights;
  uint32_t depth;
  uint32_t* columns;
  int8_t* codes;  // after the columns: see abi::dsp_conv_scratch_bytes()
};

bool is_inside(int32_t at, uint32_t size) {
  return static_cast<uint32_t>(at) < size;
}

/// Returns the offset of a pixel in the image; not meaningful for a pixel in the padding.
int32_t offset(const Conv& conv, int32_t row, int32_t column) {
  return (row * conv.g.in_w + column) * conv.g.in_c;
}

/// First rows and columns of the windows of a block.
template <class Loops>
using Places = WindowOrigin[Loops::kPixels];

// Widens a row of taps of all pixels and returns the end of the written columns.
template <class Loops>
uint32_t* widen_row(const Conv& conv, const Places<Loops>& places, int32_t ky, bool whole,
                    uint32_t* to) {
  constexpr int kPixels = Loops::kPixels;
  const WindowGeometry& g = conv.g;
  bool rows[kPixels];
  int32_t first[kPixels];
  for (int p = 0; p < kPixels; ++p) {
    const int32_t row = places[p].row + ky * g.dilation_h;
    rows[p] = is_inside(row, g.in_h);
    whole = whole && rows[p];
    first[p] = offset(conv, row, places[p].column);
  }
  const uint32_t in_c = g.in_c;
  const int8_t* const x = conv.x;
  const int8_t* tap[kPixels];
  if (whole) {
    for (int p = 0; p < kPixels; ++p) tap[p] = x + first[p];
    return Loops::widen(tap, to, g.kernel_w * in_c);
  }
  for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
    const int32_t across = kx * g.dilation_w;
    for (int p = 0; p < kPixels; ++p) {
      const bool inside = rows[p] && is_inside(places[p].column + across, g.in_w);
      tap[p] = inside ? x + first[p] + across * static_cast<int32_t>(in_c) : conv.codes;
    }
    to = Loops::widen(tap, to, in_c);
  }
  return to;
}

// Widens windows that are inside the image and not dilated horizontally.
template <class Loops>
[[gnu::noinline]] void widen_inside(const Conv& conv, const Places<Loops>& places) {
  constexpr int kPixels = Loops::kPixels;
  const WindowGeometry& g = conv.g;
  const int8_t* rows[kPixels];
#pragma GCC unroll 3
  for (int p = 0; p < kPixels; ++p) {
    rows[p] = conv.x + offset(conv, places[p].row, places[p].column);
  }
  const uint32_t bytes = uint32_t{g.kernel_w} * g.in_c;
  const uint32_t step = uint32_t{g.dilation_h} * g.in_w * g.in_c;
  uint32_t* to = conv.columns;
  for (uint32_t ky = g.kernel_h; ky != 0; --ky) {
    to = Loops::widen(rows, to, bytes);
#pragma GCC unroll 3
    for (int p = 0; p < kPixels; ++p) rows[p] += step;
  }
}

template <class Loops>
void widen_taps(const Conv& conv, const Places<Loops>& places) {
  const WindowGeometry& g = conv.g;
  const int32_t down = (g.kernel_h - 1) * g.dilation_h;
  bool whole = g.dilation_w == 1;
  bool inside = true;
  for (const WindowOrigin& place : places) {
    whole = whole && place.column >= 0 && place.column + g.kernel_w <= g.in_w;
    inside = inside && place.row >= 0 && place.row + down < g.in_h;
  }
  if (whole && inside) return widen_inside<Loops>(conv, places);
  uint32_t* to = conv.columns;
  for (int32_t ky = 0; ky < g.kernel_h; ++ky) to = widen_row<Loops>(conv, places, ky, whole, to);
}

/// Half-open range of the taps of a row that are inside the image.
struct TapRange {
  int32_t first, last;
};

TapRange taps_inside(const WindowGeometry& g, int32_t column) {
  const int32_t taps = g.kernel_w;
  const int32_t step = g.dilation_w;
  TapRange range = {0, 0};
  for (; range.first < taps && column < 0; column += step) ++range.first;
  range.last = range.first;
  for (const int32_t in_w = g.in_w; range.last < taps && column < in_w; column += step) {
    ++range.last;
  }
  return range;
}

// The compiler would replace these loops by calls of memset and memcpy, which take longer for a few
// bytes.
int8_t* fill_bytes(int8_t* to, int32_t value, int32_t count) {
  for (int8_t* const end = to + count; to != end;) {
    *to++ = static_cast<int8_t>(value);
    __asm__("" : "+r"(to));
  }
  return to;
}
int8_t* copy_bytes(int8_t* to, const int8_t* from, int32_t count) {
  for (int8_t* const end = to + count; to != end;) {
    *to++ = *from++;
    __asm__("" : "+r"(to));
  }
  return to;
}

// Copies a row of taps of a window that is partly outside the image. `column` is that of the first
// tap, `range` the taps inside.
int8_t* copy_taps(const Conv& conv, int32_t row, int32_t column, TapRange range, int8_t* to) {
  const WindowGeometry& g = conv.g;
  const int32_t in_c = g.in_c;
  const int32_t taps = g.kernel_w;
  const int32_t zero = g.x_zero_point;
  if (!is_inside(row, g.in_h)) return fill_bytes(to, zero, taps * in_c);
  const int32_t step = g.dilation_w;
  const int8_t* from = conv.x + offset(conv, row, column + range.first * step);
  to = fill_bytes(to, zero, range.first * in_c);
  // Taps without dilation are contiguous.
  const int32_t pieces = step == 1 ? 1 : range.last - range.first;
  const int32_t bytes = step == 1 ? (range.last - range.first) * in_c : in_c;
  for (int32_t i = 0; i < pieces; ++i, from += step * in_c) to = copy_bytes(to, from, bytes);
  return fill_bytes(to, zero, (taps - range.last) * in_c);
}

[[gnu::noinline]] void copy_partly_inside(const Conv& conv, const WindowOrigin& place, int8_t* to) {
  const WindowGeometry& g = conv.g;
  const TapRange range = taps_inside(g, place.column);
  int32_t row = place.row;
  for (int32_t ky = 0; ky < g.kernel_h; ++ky, row += g.dilation_h) {
    to = copy_taps(conv, row, place.column, range, to);
  }
}

// Copies a window to contiguous memory. Used if a tap is not a multiple of 4 bytes.
void copy_window(const Conv& conv, const WindowOrigin& place, int8_t* to) {
  const WindowGeometry& g = conv.g;
  const int32_t last_row = place.row + (g.kernel_h - 1) * g.dilation_h;
  const int32_t last_column = place.column + g.kernel_w - 1;
  if (g.dilation_w == 1 && is_inside(place.row, g.in_h) && is_inside(last_row, g.in_h) &&
      is_inside(place.column, g.in_w) && is_inside(last_column, g.in_w)) {
    const uint32_t step = uint32_t{g.dilation_h} * g.in_w * g.in_c;
    const int8_t* const from = conv.x + offset(conv, place.row, place.column);
    thimble_dsp_copy_rows(from, to, uint32_t{g.kernel_w} * g.in_c, g.kernel_h, step);
    return;
  }
  copy_partly_inside(conv, place, to);
}

template <class Loops>
void widen(const Conv& conv, const Places<Loops>& places) {
  if (conv.g.in_c % 4 == 0) return widen_taps<Loops>(conv, places);
  const int8_t* windows[Loops::kPixels];
  for (int p = 0; p < Loops::kPixels; ++p) {
    int8_t* const codes = conv.codes + static_cast<uint32_t>(p) * conv.depth;
    copy_window(conv, places[p], codes);
    windows[p] = codes;
  }
  Loops::widen(windows, conv.columns, conv.depth);
}

// The last channel of an odd number of channels is computed as a pair with a channel that does not
// exist. kBlock advances y by kStep for each pair.
template <auto kBlock, int kStep, class Block>
void last_channel(Block& block, const void* weights, int8_t* y, uint32_t out_c, int pixels) {
  int8_t last[6];  // pairs of at most three pixels
  block.y = last;
  block.y_end = last + kStep;
  block.out_c = 2;
  kBlock(&block, weights);
  block.out_c = out_c;
  for (int p = 0; p < pixels; ++p) {
    y[out_c - 1] = last[2 * p];
    y += out_c;
  }
}

// A 1x1 convolution: each pixel of the image is the window of one result.
template <class Loops>
void run_pointwise(const Conv& conv, typename Loops::Block& block, int8_t* y) {
  constexpr int kPixels = Loops::kPixels;
  const uint32_t in_c = conv.g.in_c;
  const int32_t done = Loops::run_pixels(conv, block, y);
  const int8_t* x = conv.x + static_cast<uint32_t>(done) * in_c;
  y += done * conv.g.out_c;
  for (int32_t left = conv.g.out_h * conv.g.out_w - done; left > 0; left -= kPixels) {
    const int32_t pixels = left < kPixels ? left : kPixels;
    const int8_t* windows[kPixels];
#pragma GCC unroll 3
    for (int p = 0; p < kPixels; ++p) {
      windows[p] = p < pixels ? x + static_cast<uint32_t>(p) * in_c : x;
    }
    Loops::widen(windows, conv.columns, in_c);
    Loops::compute(conv, block, pixels, y);
    x += kPixels * in_c;
    y += kPixels * conv.g.out_c;
  }
}

template <class Loops>
void run_windows(const Conv& conv, typename Loops::Block& block, int8_t* y) {
  const WindowGeometry& g = conv.g;
  const int32_t end = g.out_w * g.stride_w - g.pad_left;
  WindowOrigin next = {-g.pad_top, -g.pad_left};
  constexpr int kPixels = Loops::kPixels;
  for (int32_t left = g.out_h * g.out_w; left > 0; left -= kPixels) {
    const int32_t pixels = left < kPixels ? left : kPixels;
    Places<Loops> places;
    for (int32_t p = 0; p < kPixels; ++p) {
      places[p] = p < pixels ? next : places[0];
      next.column += g.stride_w;
      if (next.column != end) continue;
      next.column = -g.pad_left;
      next.row += g.stride_h;
    }
    widen<Loops>(conv, places);
    Loops::compute(conv, block, pixels, y);
    y += kPixels * g.out_c;
  }
}

template <class Loops>
void run_conv2d(void* const* operands) {
  const WindowGeometry& g = window_geometry(operands[1]);
  const auto depth = static_cast<uint32_t>(abi::dsp_conv_depth(g));
  auto* const columns = static_cast<uint32_t*>(operands[3]);
  uint32_t* const columns_end = columns + depth / 2 * Loops::kPixels;
  const Conv conv = {g,       static_cast<const int8_t*>(operands[0]), operands[2], depth,
                     columns, reinterpret_cast<int8_t*>(columns_end)};
  typename Loops::Block block = {};
  block.columns = columns;
  block.columns_end = columns_end;
  block.out_c = g.out_c;
  block.zero_point = g.y_zero_point;
  block.skip = Loops::skip(depth);
  auto* const y = static_cast<int8_t*>(operands[4]);
  const bool one_tap = g.kernel_h * g.kernel_w == 1;
  if (one_tap && g.stride_h * g.stride_w == 1 && g.in_c % 4 == 0) {
    run_pointwise<Loops>(conv, block, y);
  } else {
    if (g.in_c % 4 == 0 && !one_tap) memset(conv.codes, g.x_zero_point, g.in_c);
    run_windows<Loops>(conv, block, y);
  }
  dsp::clamp_codes(y, uint32_t{g.out_h} * g.out_w * g.out_c, g.min, g.max);
}

}  // namespace
}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
