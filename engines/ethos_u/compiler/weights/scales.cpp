// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/weights/scales.h"

#include <algorithm>

#include "engines/ethos_u/compiler/weights/order.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::Generation;

constexpr int64_t kRecord = 10;

struct Layout {
  int bias_bytes, multiplier_bytes;
  int64_t multiplier_end;  // first value that does not fit
};

Layout layout_of(const WeightOptions& options) {
  if (options.config->generation != Generation::kU85) return {5, 4, int64_t{1} << 31};
  if (options.wide_accumulator) return {6, 2, int64_t{1} << 15};
  return {4, 4, int64_t{1} << 31};
}

template <typename T>
T of_channel(const std::vector<T>& values, int64_t channel) {
  return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

void put(int64_t value, int bytes, std::byte* to) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i) & 0xFF);
}

/// Rounds up to whole microblocks, at least sixteen records (U85).
int64_t padded_u85(const WeightOptions& options, int64_t channels) {
  const int64_t unit = (options.microblock_depth + 15) / 16 * 16;
  return (channels + unit - 1) / unit * unit;
}

}  // namespace

Status check_scales(const Weights& weights, const Requantize& requantize,
                    const WeightOptions& options) {
  const auto channels = static_cast<size_t>(weights.out);
  const auto fits = [channels](size_t count) { return count == 1 || count == channels; };
  if (!fits(requantize.multiplier.size()) || !fits(requantize.shift.size()) ||
      weights.bias.size() != channels) {
    return bad_input("{} multipliers, {} shifts and {} biases for {} channels",
                     requantize.multiplier.size(), requantize.shift.size(), weights.bias.size(),
                     channels);
  }
  const Layout layout = layout_of(options);
  const int64_t bias_end = int64_t{1} << (8 * layout.bias_bytes - 1);
  for (int64_t channel = 0; channel < weights.out; ++channel) {
    const int64_t bias = weights.bias[static_cast<size_t>(channel)];
    const int64_t multiplier = of_channel(requantize.multiplier, channel);
    const int64_t shift = of_channel(requantize.shift, channel);
    if (bias < -bias_end || bias >= bias_end) {
      return bad_input("the bias {} of channel {} needs more than {} bits", bias, channel,
                       8 * layout.bias_bytes);
    }
    if (multiplier < 0 || multiplier >= layout.multiplier_end || shift < 0 || shift > 63) {
      return bad_input("channel {} cannot be scaled by {} * 2^-{}", channel, multiplier, shift);
    }
  }
  return ok();
}

int64_t scale_bytes(const WeightOptions& options, int64_t channels, int core) {
  if (options.config->generation == Generation::kU85) {
    return core == 0 ? kRecord * padded_u85(options, channels) : 0;
  }
  const int cores = order_cores(options);
  return kRecord * ((channels + cores - 1 - core) / cores);
}

std::vector<std::byte> scale_records(const Weights& weights, const Requantize& requantize,
                                     const WeightOptions& options, int64_t channel,
                                     int64_t channels, int core) {
  std::vector<std::byte> bytes(static_cast<size_t>(scale_bytes(options, channels, core)));
  const bool u85 = options.config->generation == Generation::kU85;
  if (u85 && core > 0) return bytes;
  const Layout layout = layout_of(options);
  const int cores = u85 ? 1 : order_cores(options);
  std::byte* record = bytes.data();
  for (int64_t at = channel + core; at < channel + channels; at += cores) {
    put(weights.bias[static_cast<size_t>(at)], layout.bias_bytes, record);
    put(of_channel(requantize.multiplier, at), layout.multiplier_bytes, record + layout.bias_bytes);
    put(of_channel(requantize.shift, at), 1, record + layout.bias_bytes + layout.multiplier_bytes);
    record += kRecord;
  }
  return bytes;
}

}  // namespace thimble::engine::ethos_u
