// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/conv_scalar.h"

#include "abi/params/linear.h"
#include "abi/params/window.h"

#include <string.h>

namespace thimble::kernels {
namespace {

using abi::WindowGeometry;

Status check_constant(const Tensor& constant, int64_t channels, int64_t row) {
  const int64_t bytes = channels * (int64_t{sizeof(abi::ScalarChannel)} + row);
  return check_packed(constant, bytes);
}

Status check_conv2d(const Call& call, bool pairs) {
  const Tensor& x = tensor(call, 0);
  const Tensor& geometry = tensor(call, 1);
  const Tensor& y = tensor(call, 4);
  THIMBLE_RETURN_IF_ERROR(check_window(x, geometry, y));
  const int64_t scratch_rows =
      pairs ? abi::scalar_pair_rows(window_geometry(geometry)) : abi::kScalarPixels;
  const int64_t row = abi::scalar_row(window_bytes(window_geometry(geometry)));
  THIMBLE_RETURN_IF_ERROR(check_scratch(tensor(call, 3), scratch_rows * row));
  return check_constant(tensor(call, 2), window_geometry(geometry).out_c, row);
}

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'

/// Copies 16 bytes between word-aligned addresses.
inline void move_quad(const int8_t*& from, int8_t*& to) {
  asm volatile(
      "ldmia %0!, {r3, r4, r5, r6}\n"
      "stmia %1!, {r3, r4, r5, r6}\n"
      : "+l"(from), "+l"(to)
      :
      : "r3", "r4", "r5", "r6", "memory");
}

/// Copies `count` bytes; both buffers have at least that size.
void move_bytes(int8_t* to, const int8_t* from, uint32_t count) {
  if (((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) & 3) == 0) {
    for (; count >= 16; count -= 16) move_quad(from, to);
    for (; count >= 4; count -= 4) {
      uint32_t word;
      memcpy(&word, __builtin_assume_aligned(from, 4), sizeof word);
      memcpy(__builtin_assume_aligned(to, 4), &word, sizeof word);
      from += 4;
      to += 4;
    }
  }
  for (; count >= 4; count -= 4) {
    const int8_t a = from[0], b = from[1], c = from[2], d = from[3];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
    from += 4;
    to += 4;
  }
  for (; count != 0; --count) *to++ = *from++;
}

#else

void move_bytes(int8_t* to, const int8_t* from, uint32_t count) {
  memcpy(to, from, count);
}

#endif

void clamp_all(int8_t* y, uint32_t count, int32_t min, int32_t max) {
  for (uint32_t i = 0; i < count; ++i) {
    y[i] = static_cast<int8_t>(numerics::clamp(y[i], min, max));
  }
}

bool is_full_range(int32_t min, int32_t max) {
  return min == INT8_MIN && max == INT8_MAX;
}

/// Writes each byte `times` times.
void repeat_channels(int8_t* to, const int8_t* from, uint32_t count, uint32_t times) {
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = 0; k < times; ++k) *to++ = from[i];
  }
}

/// Traverses the windows of an image and copies each as one row of bytes, including the padding.
class Windows {
 public:
  Windows(const WindowGeometry& g, const int8_t* x)
      : g_(g),
        x_(x),
        image_row_(g.in_w * g.in_c),
        one_run_(g.dilation_w == 1),
        iy_(-g.pad_top),
        ix_(-g.pad_left),
        left_(g.out_w) {}

  uint32_t left_in_row() const { return left_; }
  uint32_t image_row() const { return static_cast<uint32_t>(image_row_); }
  /// Returns true if the window, widened to `columns` columns, is inside the image and not dilated.
  bool is_inside(int32_t columns) const {
    return one_run_ && g_.dilation_h == 1 && iy_ >= 0 && ix_ >= 0 && iy_ + g_.kernel_h <= g_.in_h &&
           ix_ + columns <= g_.in_w;
  }
  /// Returns the first byte of a window for which is_inside() is true.
  const int8_t* first() const { return x_ + iy_ * image_row_ + ix_ * g_.in_c; }

  /// Copies the window. `columns` is the window's width; without dilation it may be any width.
  void gather(int8_t* to, int32_t columns) const {
    const int32_t length = columns * g_.in_c;
    int32_t iy = iy_;
    int32_t row = iy * image_row_;
    for (int32_t ky = 0; ky < g_.kernel_h; ++ky) {
      if (iy < 0 || iy >= g_.in_h) {
        memset(to, g_.x_zero_point, static_cast<uint32_t>(length));
      } else if (one_run_) {
        gather_run(to, row, length);
      } else {
        gather_taps(to, row);
      }
      to += length;
      iy += g_.dilation_h;
      row += g_.dilation_h * image_row_;
    }
  }

  void advance() {
    ix_ += g_.stride_w;
    if (--left_ != 0) return;
    left_ = g_.out_w;
    ix_ = -g_.pad_left;
    iy_ += g_.stride_h;
  }

 private:
  void gather_run(int8_t* to, int32_t row, int32_t length) const {
    int32_t from = ix_ * g_.in_c;
    int32_t count = length;
    if (from < 0) {
      memset(to, g_.x_zero_point, static_cast<uint32_t>(-from));
      to -= from;
      count += from;
      from = 0;
    }
    const int32_t inside = image_row_ - from;
    if (count > inside) {
      memset(to + inside, g_.x_zero_point, static_cast<uint32_t>(count - inside));
      count = inside;
    }
    move_bytes(to, x_ + row + from, static_cast<uint32_t>(count));
  }

  void gather_taps(int8_t* to, int32_t row) const {
    int32_t ix = ix_;
    for (int32_t kx = 0; kx < g_.kernel_w; ++kx) {
      if (ix < 0 || ix >= g_.in_w) {
        memset(to, g_.x_zero_point, g_.in_c);
      } else {
        move_bytes(to, x_ + row + ix * g_.in_c, g_.in_c);
      }
      to += g_.in_c;
      ix += g_.dilation_w;
    }
  }

  const WindowGeometry& g_;
  const int8_t* const x_;
  const int32_t image_row_;
  const bool one_run_;
  int32_t iy_, ix_;  // position of the window's first tap
  uint32_t left_;    // remaining windows in this row
};

}  // namespace

Status check_conv2d_scalar(const Call& call) {
  return check_conv2d(call, false);
}
Status check_conv2d_scalar_pairs(const Call& call) {
  return check_conv2d(call, true);
}

Status check_depthwise_scalar(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& geometry = tensor(call, 1);
  const Tensor& y = tensor(call, 4);
  THIMBLE_RETURN_IF_ERROR(check_depthwise_window(x, geometry, y));
  const WindowGeometry& g = window_geometry(geometry);
  THIMBLE_RETURN_IF_ERROR(check_scratch(tensor(call, 3), abi::scalar_depthwise_scratch(g)));
  return check_constant(tensor(call, 2), g.out_c, int64_t{g.kernel_h * g.kernel_w});
}

Status check_linear_scalar(const Call& call) {
  const Tensor& geometry = tensor(call, 1);
  THIMBLE_RETURN_IF_ERROR(check_linear_geometry(tensor(call, 0), geometry, tensor(call, 3)));
  const abi::LinearGeometry& g = linear_geometry(geometry.data);
  const Tensor& constant = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_constant(constant, g.out_features, abi::scalar_row(g.in_features)));
  const bool blocks = g.out_features != 0 && has_blocks(constant.data);
  return blocks && (g.in_features | g.out_features) % 4 != 0 ? Status::kBadParameter : Status::kOk;
}
Status check_linear_scalar_rows(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_linear_scalar(call));
  const bool empty = linear_geometry(tensor(call, 1).data).out_features == 0;
  return !empty && has_blocks(tensor(call, 2).data) ? Status::kBadParameter : Status::kOk;
}

int8_t scalar_block_result(const abi::LinearGeometry& g, const void* constant, uint32_t output,
                           const int8_t* x) {
  const abi::ScalarChannel& channel = scalar_channels(constant)[output];
  const int8_t* w =
      scalar_weights(constant, g.out_features) + abi::scalar_block_offset(output, 0, g.in_features);
  auto acc = static_cast<uint32_t>(channel.bias);
  for (uint32_t k = 0; k < g.in_features; ++k) {
    const int8_t code = w[abi::scalar_block_offset(0, k, g.in_features)];
    acc += static_cast<uint32_t>((x[k] + 128) * abi::scalar_block_weight(code, k));
  }
  return scalar_code(channel, static_cast<int32_t>(acc), g.min, g.max);
}

void clamp_results(int8_t* y, uint32_t count, int32_t min, int32_t max) {
  if (!is_full_range(min, max)) clamp_all(y, count, min, max);
}

namespace {

/// Computes the products of a block of pixels; `unpacked` is scratch.
using BlockProducts = void(ScalarDotProducts* products, const ScalarDot& block, int8_t* unpacked);

template <BlockProducts* kProducts>
void run_windows(const ScalarDotFunctions& core, void* const* operands) {
  const WindowGeometry& g = window_geometry(operands[1]);
  const uint32_t row = scalar_row(static_cast<uint32_t>(window_bytes(g)));
  const uint32_t channels = g.out_c;
  auto* const scratch = static_cast<int8_t*>(operands[3]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[4]);
  const bool full = is_full_range(g.min, g.max);
  const bool pairs = core.interleave != nullptr;
  const bool quads = pairs && g.block_pixels == 4;
  const uint32_t at_once = channels == 1 && !pairs ? 1 : core.pixels;
  // A 1x1 convolution with stride 1 reads its pixels directly from x.
  const bool in_place = row == g.in_c && (g.kernel_h | g.kernel_w | g.stride_h | g.stride_w) == 1;
  // Interleaving writes words from the start of the scratch. The bytes are gathered at its end, so
  // that each byte is read before a word overwrites it.
  const auto pair_rows = static_cast<uint32_t>(abi::scalar_pair_rows(g));
  int8_t* const gathered = scratch + (pairs ? pair_rows - 2 : 0) * row;
  int8_t* const unpacked = scratch + (pairs ? pair_rows : uint32_t{abi::kScalarPixels}) * row;
  Windows windows(g, x);
  uint32_t left = uint32_t{g.out_h} * g.out_w;
  while (left != 0) {
    const uint32_t pixels = quads && left >= 4 ? 4 : left >= at_once ? at_once : 1;
    ScalarDotProducts* const products = pixels == 4             ? core.quad
                                        : pixels == core.pixels ? core.block
                                                                : core.single;
    const bool words = pairs && pixels != 1;
    const uint32_t part = pixels == 4 ? 2 : pixels;
    for (uint32_t i = 0; i < pixels; i += part) {
      const int8_t* bytes = in_place ? x + i * row : gathered;
      for (uint32_t k = 0; !in_place && k < part; ++k, windows.advance()) {
        windows.gather(gathered + k * row, g.kernel_w);
      }
      if (words) core.interleave(scratch + 4 * i, bytes, bytes + row, row, 4 * (pixels - part));
    }
    const int8_t* const rows = words ? scratch : in_place ? x : gathered;
    ScalarDot dot = {rows, row,      scalar_weights(operands[2], channels),
                     row,  row,      scalar_channels(operands[2]),
                     y,    channels, channels};
    kProducts(products, dot, unpacked);
    if (!full) clamp_all(y, pixels * channels, g.min, g.max);
    x += pixels * row;
    y += pixels * channels;
    left -= pixels;
  }
}

void plain_products(ScalarDotProducts* products, const ScalarDot& block, int8_t* /*unpacked*/) {
  ScalarDot dot = block;
  products(&dot);
}

/// Sign-extends the low half of each byte.
inline uint32_t low_halves(uint32_t pairs) {
  return (((pairs & 0x0F0F0F0FU) ^ 0x08080808U) + 0x78787878U) ^ 0x80808080U;
}

/// Writes two rows of weights, one after the other. `length` is a multiple of 4.
[[gnu::noinline]] void unpack_pair(const int8_t* pairs, int8_t* rows, uint32_t length) {
  const auto* from = reinterpret_cast<const uint32_t*>(pairs);
  auto* low = reinterpret_cast<uint32_t*>(rows);
  auto* high = reinterpret_cast<uint32_t*>(rows + length);
  for (const uint32_t* const end = from + length / 4; from != end;) {
    const uint32_t four = *from++;
    *low++ = low_halves(four);
    *high++ = low_halves(four >> 4);
  }
}

void int4_products(ScalarDotProducts* products, const ScalarDot& block, int8_t* unpacked) {
  ScalarDot rest = block;  // advanced, the loops change a copy
  while (rest.count != 0) {
    // The loops require at least two channels, so five are computed as two and three.
    const uint32_t count = rest.count == 5 ? 2 : rest.count < 4 ? rest.count : 4;
    for (uint32_t c = 0; c < count; c += 2) {
      unpack_pair(rest.w, unpacked + c * rest.length, rest.length);
      rest.w += rest.length;
    }
    ScalarDot dot = rest;
    dot.w = unpacked;
    dot.count = count;
    products(&dot);
    rest.channels += count;
    rest.y += count;
    rest.count -= count;
  }
}

}  // namespace

void run_conv2d_scalar(const ScalarDotFunctions& core, void* const* operands) {
  run_windows<plain_products>(core, operands);
}

void run_conv2d_scalar_int4(const ScalarDotFunctions& core, void* const* operands) {
  run_windows<int4_products>(core, operands);
}

void run_depthwise_scalar(const ScalarTapFunctions& core, void* const* operands) {
  const WindowGeometry& g = window_geometry(operands[1]);
  const uint32_t channels = g.out_c;
  const uint32_t taps = uint32_t{g.kernel_h} * g.kernel_w;
  auto* const scratch = static_cast<int8_t*>(operands[3]);
  auto* y = static_cast<int8_t*>(operands[4]);
  const bool full = is_full_range(g.min, g.max);
  const bool nine = g.kernel_h == 3 && g.kernel_w == 3;
  const bool repeats_channels = g.in_c != channels;
  const bool in_place = nine && core.pair != nullptr && !repeats_channels;
  const bool neighbours = in_place && (g.stride_w | g.dilation_w) == 1;
  const bool quads = nine && core.quad != nullptr && g.block_pixels == 4 && !repeats_channels &&
                     (g.stride_w | g.dilation_w) == 1;
  Windows windows(g, static_cast<const int8_t*>(operands[0]));
  uint32_t left = uint32_t{g.out_h} * g.out_w;
  while (left != 0) {
    const bool quad = quads && windows.left_in_row() >= 4;
    const uint32_t pixels = quad ? 4 : neighbours && windows.left_in_row() > 1 ? 2 : 1;
    const uint32_t columns = g.kernel_w + pixels - 1;
    ScalarTaps taken = {
        scratch, columns * channels,           scalar_weights(operands[2], channels),
        taps,    scalar_channels(operands[2]), y,
        channels};
    if ((in_place || quad) && windows.is_inside(static_cast<int32_t>(columns))) {
      taken.x = windows.first();
      taken.x_row = windows.image_row();
    } else {
      int8_t* const gathered = scratch + (repeats_channels ? taps * channels : 0);
      windows.gather(gathered, static_cast<int32_t>(columns));
      if (repeats_channels) repeat_channels(scratch, gathered, taps * g.in_c, channels / g.in_c);
    }
    (quad ? core.quad : pixels == 2 ? core.pair : nine ? core.nine : core.any)(&taken);
    if (!full) clamp_all(y, pixels * channels, g.min, g.max);
    y += pixels * channels;
    left -= pixels;
    for (uint32_t i = 0; i < pixels; ++i) windows.advance();
  }
}

void run_linear_scalar(const ScalarDotFunctions& core, void* const* operands) {
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[3]);
  const uint32_t row = scalar_row(g.in_features);
  const bool full = is_full_range(g.min, g.max);
  const bool blocks = row == g.in_features && g.out_features != 1 && core.interleave == nullptr;
  const uint32_t at_once = blocks ? core.pixels : 1;
  uint32_t left = g.rows;
  while (left != 0) {
    const uint32_t rows = left >= at_once ? at_once : 1;
    ScalarDot dot = {x,   g.in_features,  scalar_weights(operands[2], g.out_features),
                     row, g.in_features,  scalar_channels(operands[2]),
                     y,   g.out_features, g.out_features};
    (rows == core.pixels ? core.block : core.single)(&dot);
    if (!full) clamp_all(y, rows * g.out_features, g.min, g.max);
    x += rows * g.in_features;
    y += rows * g.out_features;
    left -= rows;
  }
}

}  // namespace thimble::kernels
