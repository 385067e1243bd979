// SPDX-License-Identifier: Apache-2.0
// Convolutions: acc = bias[o] + sum of (x - zero point) * w over the taps inside the image.

#include "engines/neutron/model/dot.h"
#include "engines/neutron/model/image.h"

namespace thimble::neutron::model {
namespace {

/// A group of `count` output channels, from `channel` on, of one pixel.
struct Lanes {
  uint32_t channel;
  uint32_t count;
  uint32_t sums[kChannelsTogether];
};

/// Calls `sum(lanes)` for all groups of output channels and writes the results to `pixel`.
template <class Sum>
void for_lanes(const Channels& channels, const View& y, int8_t* pixel, Sum sum) {
  const uint32_t all = y.dims[3];
  for (uint32_t channel = 0; channel < all; channel += kChannelsTogether) {
    Lanes lanes = {
        channel, all - channel < kChannelsTogether ? all - channel : kChannelsTogether, {}};
    for (uint32_t i = 0; i < lanes.count; ++i) lanes.sums[i] = channels.begin(channel + i);
    sum(lanes);
    for (uint32_t i = 0; i < lanes.count; ++i) {
      const uint32_t at = channel + i;
      pixel[static_cast<int32_t>(at) * y.strides[3]] = channels.end(lanes.sums[i], at);
    }
  }
}

/// Returns true if horizontally adjacent taps read contiguous input, like their weights.
bool has_runs(const KernelRecord& record) {
  const View& a = record.operands[0];
  return record.dilation_w == 1 && a.strides[3] == 1 &&
         a.strides[2] == static_cast<int32_t>(a.dims[3]);
}

}  // namespace

void convolution(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const View& a = record.operands[0];
  const uint32_t depth = a.dims[3];
  const uint32_t row = record.kernel_w * depth;  // weights per kernel row
  const uint32_t filter = record.kernel_h * row;
  const auto* const weights = reinterpret_cast<const int8_t*>(args.constants(record.weights));
  const Channels channels(args);
  const bool runs = has_runs(record);
  for_pixels(record.output, [&](uint32_t n, uint32_t h, uint32_t w) {
    const Window window = window_at(args, h, w);
    const Taps& rows = window.rows;
    const Taps& columns = window.columns;
    int8_t* const y = args.y + pixel(record.output, n, h, w);
    for_lanes(channels, record.output, y, [&](Lanes& lanes) {
      const int8_t* const filters = weights + lanes.channel * filter;
      const auto add = [&](int32_t x, uint32_t weight, uint32_t count) {
        dot(args.a + x, a.strides[3], filters + weight, filter, count, record.a_zero_point,
            lanes.count, lanes.sums);
      };
      if (!runs) {
        return for_taps(args, n, window,
                        [&](int32_t x, uint32_t tap) { add(x, tap * depth, depth); });
      }
      for (uint32_t ky = rows.from; ky < rows.to; ++ky) {
        const uint32_t from = rows.position + (ky - rows.from) * record.dilation_h;
        add(pixel(a, n, from, columns.position), ky * row + columns.from * depth,
            (columns.to - columns.from) * depth);
      }
    });
  });
}

void depthwise(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const View& a = record.operands[0];
  const View& y = record.output;
  const uint32_t depth = y.dims[3];
  const auto* const weights = reinterpret_cast<const int8_t*>(args.constants(record.weights));
  const Channels channels(args);
  const auto block = [&](uint32_t n, const Window& window, uint32_t from, uint32_t count,
                         int8_t* to) {
    uint32_t sums[kChannelBlock];
    for (uint32_t i = 0; i < count; ++i) sums[i] = channels.begin(from + i);
    for_taps(args, n, window, [&](int32_t x, uint32_t tap) {
      const int8_t* const values = args.a + x + static_cast<int32_t>(from) * a.strides[3];
      const int8_t* const factors = weights + tap * depth + from;
      const int32_t step = a.strides[3];
      if (step == 1) {
        for (uint32_t i = 0; i < count; ++i) {
          sums[i] += static_cast<uint32_t>((values[i] - record.a_zero_point) * factors[i]);
        }
      } else {
        for (uint32_t i = 0; i < count; ++i) {
          const int32_t value = values[static_cast<int32_t>(i) * step];
          sums[i] += static_cast<uint32_t>((value - record.a_zero_point) * factors[i]);
        }
      }
    });
    for (uint32_t i = 0; i < count; ++i) {
      to[static_cast<int32_t>(from + i) * y.strides[3]] = channels.end(sums[i], from + i);
    }
  };
  for_pixels(y, [&](uint32_t n, uint32_t h, uint32_t w) {
    const Window window = window_at(args, h, w);
    int8_t* const to = args.y + pixel(y, n, h, w);
    for (uint32_t from = 0; from < depth; from += kChannelBlock) {
      block(n, window, from, depth - from < kChannelBlock ? depth - from : kChannelBlock, to);
    }
  });
}

namespace {

/// Taps k for which an input position r with r * stride + k * dilation - pad == output exists.
struct TransposedTaps {
  uint32_t output, size, kernel, stride, dilation, pad;

  /// Calls `each(tap, position)` for every such tap.
  template <class Each>
  void for_each(Each each) const {
    for (uint32_t k = 0; k < kernel; ++k) {
      const uint32_t reached = k * dilation;
      if (output + pad < reached) return;
      const uint32_t scaled = output + pad - reached;
      if (scaled % stride == 0 && scaled / stride < size) each(k, scaled / stride);
    }
  }
};

}  // namespace

void transposed_convolution(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const View& a = record.operands[0];
  const uint32_t depth = a.dims[3];
  const uint32_t filter = uint32_t{record.kernel_h} * record.kernel_w * depth;
  const auto* const weights = reinterpret_cast<const int8_t*>(args.constants(record.weights));
  const Channels channels(args);
  for_pixels(record.output, [&](uint32_t n, uint32_t h, uint32_t w) {
    const TransposedTaps rows = {
        h, a.dims[1], record.kernel_h, record.stride_h, record.dilation_h, record.pad_top};
    const TransposedTaps columns = {
        w, a.dims[2], record.kernel_w, record.stride_w, record.dilation_w, record.pad_left};
    int8_t* const y = args.y + pixel(record.output, n, h, w);
    for_lanes(channels, record.output, y, [&](Lanes& lanes) {
      const int8_t* const filters = weights + lanes.channel * filter;
      rows.for_each([&](uint32_t ky, uint32_t row) {
        columns.for_each([&](uint32_t kx, uint32_t column) {
          dot(args.a + pixel(a, n, row, column), a.strides[3],
              filters + (ky * record.kernel_w + kx) * depth, filter, depth, record.a_zero_point,
              lanes.count, lanes.sums);
        });
      });
    });
  });
}

}  // namespace thimble::neutron::model
