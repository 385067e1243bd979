#pragma once
// conv2d_dsp and conv2d_dsp_int4 on the DSP extension. Operands: kernels/args/conv_dsp.h; inner
// loops: conv_blocks.h.
//
// A block is three pixels, which may belong to two rows of the image. Their windows are widened to
// int16 columns before the first result of the block is written. Then every output channel is
// computed from the columns. The last one or two pixels are computed one by one.

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

constexpr int kPixels = 3;

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

// Widens a row of taps of all three pixels and returns the end of the written columns.
uint32_t* widen_row(const Conv& conv, const WindowOrigin (&places)[kPixels], int32_t ky, bool whole,
                    uint32_t* to) {
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
  if (whole) {
    return thimble_dsp_widen3(x + first[0], x + first[1], x + first[2], to, g.kernel_w * in_c);
  }
  for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
    const int32_t across = kx * g.dilation_w;
    const int8_t* tap[kPixels];
    for (int p = 0; p < kPixels; ++p) {
      const bool inside = rows[p] && is_inside(places[p].column + across, g.in_w);
      tap[p] = inside ? x + first[p] + across * static_cast<int32_t>(in_c) : conv.codes;
    }
    to = thimble_dsp_widen3(tap[0], tap[1], tap[2], to, in_c);
  }
  return to;
}

// Widens windows that are inside the image and not dilated horizontally.
[[gnu::noinline]] void widen_inside(const Conv& conv, const WindowOrigin (&places)[kPixels]) {
  const WindowGeometry& g = conv.g;
  const int8_t* first = conv.x + offset(conv, places[0].row, places[0].column);
  const int8_t* second = conv.x + offset(conv, places[1].row, places[1].column);
  const int8_t* third = conv.x + offset(conv, places[2].row, places[2].column);
  const uint32_t bytes = uint32_t{g.kernel_w} * g.in_c;
  const uint32_t step = uint32_t{g.dilation_h} * g.in_w * g.in_c;
  uint32_t* to = conv.columns;
  for (uint32_t ky = g.kernel_h; ky != 0; --ky) {
    to = thimble_dsp_widen3(first, second, third, to, bytes);
    first += step;
    second += step;
    third += step;
  }
}

void widen_taps(const Conv& conv, const WindowOrigin (&places)[kPixels]) {
  const WindowGeometry& g = conv.g;
  const int32_t down = (g.kernel_h - 1) * g.dilation_h;
  bool whole = g.dilation_w == 1;
  bool inside = true;
  for (const WindowOrigin& place : places) {
    whole = whole && place.column >= 0 && place.column + g.kernel_w <= g.in_w;
    inside = inside && place.row >= 0 && place.row + down < g.in_h;
  }
  if (whole && inside) return widen_inside(conv, places);
  uint32_t* to = conv.columns;
  for (int32_t ky = 0; ky < g.kernel_h; ++ky) to = widen_row(conv, places, ky, whole, to);
}

// Copies a row of taps of a window that is partly outside the image.
int8_t* copy_taps(const Conv& conv, int32_t row, int32_t column, int8_t* to) {
  const WindowGeometry& g = conv.g;
  for (int32_t kx = 0; kx < g.kernel_w; ++kx, column += g.dilation_w) {
    if (is_inside(row, g.in_h) && is_inside(column, g.in_w)) {
      const int8_t* const from = conv.x + offset(conv, row, column);
      for (int32_t c = 0; c < g.in_c; ++c) *to++ = from[c];
    } else {
      for (int32_t c = 0; c < g.in_c; ++c) *to++ = static_cast<int8_t>(g.x_zero_point);
    }
  }
  return to;
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
  for (int32_t row = place.row; row <= last_row; row += g.dilation_h) {
    to = copy_taps(conv, row, place.column, to);
  }
}

void widen(const Conv& conv, const WindowOrigin (&places)[kPixels]) {
  if (conv.g.in_c % 4 == 0) return widen_taps(conv, places);
  int8_t* codes = conv.codes;
  for (const WindowOrigin& place : places) {
    copy_window(conv, place, codes);
    codes += conv.depth;
  }
  thimble_dsp_widen3(conv.codes, conv.codes + conv.depth, conv.codes + 2 * conv.depth, conv.columns,
                     conv.depth);
}

template <auto kBlock, class Block>
void channels(const Conv& conv, Block& block, int8_t* y, int pixels) {
  const uint32_t out_c = conv.g.out_c;
  const void* weights = conv.weights;
  block.y = y;
  block.y_end = y + (out_c & ~1U);
  if (out_c > 1) weights = kBlock(&block, weights);
  if (out_c % 2 == 0) return;
  int8_t last[2 * kPixels];  // the second channel of the pair does not exist
  block.y = last;
  block.y_end = last + 2;
  block.out_c = 2;
  kBlock(&block, weights);
  block.out_c = out_c;
  for (int p = 0; p < pixels; ++p) {
    y[out_c - 1] = last[2 * p];
    y += out_c;
  }
}

template <class Loops>
void compute_pixels(const Conv& conv, typename Loops::Block& block, int32_t pixels, int8_t* y) {
  Loops::prepare(block);
  if (pixels == kPixels) return channels<Loops::kBlock3>(conv, block, y, kPixels);
  for (int32_t p = 0; p < pixels; ++p) {
    channels<Loops::kBlock1>(conv, block, y + p * conv.g.out_c, 1);
    Loops::next_pixel(block);
  }
}

// A 1x1 convolution: each pixel of the image is the window of one result.
template <class Loops>
void run_pointwise(const Conv& conv, typename Loops::Block& block, int8_t* y) {
  const uint32_t in_c = conv.g.in_c;
  const int8_t* x = conv.x;
  for (int32_t left = conv.g.out_h * conv.g.out_w; left > 0; left -= kPixels) {
    const int32_t pixels = left < kPixels ? left : kPixels;
    const int8_t* const second = pixels > 1 ? x + in_c : x;
    const int8_t* const third = pixels > 2 ? second + in_c : x;
    thimble_dsp_widen3(x, second, third, conv.columns, in_c);
    compute_pixels<Loops>(conv, block, pixels, y);
    x += kPixels * in_c;
    y += kPixels * conv.g.out_c;
  }
}

template <class Loops>
void run_windows(const Conv& conv, typename Loops::Block& block, int8_t* y) {
  const WindowGeometry& g = conv.g;
  const int32_t end = g.out_w * g.stride_w - g.pad_left;
  WindowOrigin next = {-g.pad_top, -g.pad_left};
  for (int32_t left = g.out_h * g.out_w; left > 0; left -= kPixels) {
    const int32_t pixels = left < kPixels ? left : kPixels;
    WindowOrigin places[kPixels];
    for (int32_t p = 0; p < kPixels; ++p) {
      places[p] = p < pixels ? next : places[0];
      next.column += g.stride_w;
      if (next.column != end) continue;
      next.column = -g.pad_left;
      next.row += g.stride_h;
    }
    widen(conv, places);
    compute_pixels<Loops>(conv, block, pixels, y);
    y += kPixels * g.out_c;
  }
}

template <class Loops>
void run_conv2d(void* const* operands) {
  const WindowGeometry& g = window_geometry(operands[1]);
  const auto depth = static_cast<uint32_t>(abi::dsp_conv_depth(g));
  auto* const columns = static_cast<uint32_t*>(operands[3]);
  uint32_t* const columns_end = columns + depth / 4 * 6;
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
