// SPDX-License-Identifier: Apache-2.0
// Max pool and average pool: over the window's elements inside the image.

#include "engines/neutron/model/image.h"

namespace thimble::neutron::model {
namespace {

/// Pools each block of channels of each pixel: starts with `first`, applies `join(value, element)`
/// for each tap, and finally `end(value, taps)`.
template <class Join, class End>
void pool(const KernelArgs& args, int32_t first, Join join, End end) {
  const View& a = args.record.operands[0];
  const View& y = args.record.output;
  for_pixels(y, [&](uint32_t n, uint32_t h, uint32_t w) {
    const Window window = window_at(args, h, w);
    const int32_t to = pixel(y, n, h, w);
    for (uint32_t from = 0; from < y.dims[3]; from += kChannelBlock) {
      const uint32_t count = y.dims[3] - from < kChannelBlock ? y.dims[3] - from : kChannelBlock;
      int32_t values[kChannelBlock];
      for (uint32_t i = 0; i < count; ++i) values[i] = first;
      for_taps(args, n, window, [&](int32_t x, uint32_t) {
        for (uint32_t i = 0; i < count; ++i) {
          const int32_t at = x + static_cast<int32_t>(from + i) * a.strides[3];
          values[i] = join(values[i], args.a[at]);
        }
      });
      for (uint32_t i = 0; i < count; ++i) {
        args.y[to + static_cast<int32_t>(from + i) * y.strides[3]] = end(values[i], window.taps());
      }
    }
  });
}

}  // namespace

void max_pool(const KernelArgs& args) {
  const OutputStage finish(args);
  pool(
      args, -128, [](int32_t most, int32_t x) { return x > most ? x : most; },
      [=](int32_t most, uint32_t) { return finish.clamp_and_map(most); });
}

/// Rounds to nearest, halves away from zero; padding is not counted.
void average_pool(const KernelArgs& args) {
  const OutputStage finish(args);
  pool(
      args, 0, [](int32_t sum, int32_t x) { return wrapping_add(sum, x); },
      [=](int32_t sum, uint32_t taps) {
        const auto n = static_cast<int32_t>(taps);
        return finish.clamp_and_map(wrapping_add(sum, sum >= 0 ? n / 2 : -(n / 2)) / n);
      });
}

}  // namespace thimble::neutron::model
