// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/weights/weights.h"

#include <algorithm>
#include <bitset>
#include <cmath>

#include "engines/ethos_u/compiler/weights/fast.h"
#include "engines/ethos_u/compiler/weights/mlw.h"
#include "engines/ethos_u/compiler/weights/order.h"
#include "engines/ethos_u/compiler/weights/scales.h"

namespace thimble::engine::ethos_u {
namespace {

using thimble::ethos_u::Generation;

constexpr size_t kSliceAlign = 16;
constexpr int kFewValues = 16, kFastRate = 64, kFastRawRate = 32;

bool u85(const WeightOptions& options) {
  return options.config->generation == Generation::kU85;
}

int64_t aligned(int64_t bytes) {
  constexpr int64_t kUnit = kSliceAlign;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

int weight_streams(const WeightOptions& options) {
  return options.fast ? 1 : order_cores(options);
}

/// Counts of the weights in a slice's streams.
struct Contents {
  int64_t symbols = 0, zeros = 0;
  std::bitset<512> values;

  void add(std::span<const int16_t> weights) {
    symbols += static_cast<int64_t>(weights.size());
    for (const int16_t weight : weights) {
      zeros += weight == 0 ? 1 : 0;
      values.set(static_cast<size_t>(weight + 256));
    }
  }
};

std::vector<int16_t> sequence(const Weights& weights, const WeightOptions& options,
                              const WeightSlice& slice, int stream) {
  return options.fast ? ordered_for_fast(weights, options, slice.channel, slice.channels)
                      : ordered(weights, options, slice.channel, slice.channels, stream);
}

Status check(const Weights& weights, const Requantize& requantize, const WeightOptions& options,
             int64_t channel, int64_t channels) {
  THIMBLE_CHECK(check_order(weights, options));
  if (channel < 0 || channels < 1 || channel + channels > weights.out ||
      channel % options.block_depth != 0) {
    return bad_input("channels {} to {} of {} are not a valid slice for blocks of {}", channel,
                     channel + channels, weights.out, options.block_depth);
  }
  if (options.sparse && !is_sparse(weights)) {
    return bad_input("the weights are not 2:4 sparse");
  }
  return check_scales(weights, requantize, options);
}

}  // namespace

struct WeightEncoder::Coded {
  WeightSlice slice;  // offsets relative to the start of the slice
  std::vector<std::byte> bytes;
};

Result<std::shared_ptr<const WeightEncoder::Coded>> WeightEncoder::slice(const Key& key) {
  const auto found = coded_.find(key);
  if (found != coded_.end()) return found->second;
  THIMBLE_CHECK(check(weights_, requantize_, key.options, key.channel, key.channels));
  auto coded = std::make_shared<Coded>();
  WeightSlice& slice = coded->slice;
  slice.channel = key.channel;
  slice.channels = key.channels;
  std::vector<std::byte>& bytes = coded->bytes;
  const auto append = [&bytes](std::span<const std::byte> more) {
    const ByteRange range = {static_cast<int64_t>(bytes.size()), static_cast<int64_t>(more.size())};
    bytes.insert(bytes.end(), more.begin(), more.end());
    bytes.resize(static_cast<size_t>(aligned(static_cast<int64_t>(bytes.size()))));
    return range;
  };
  Contents contents;
  for (int stream = 0; stream < weight_streams(key.options); ++stream) {
    const auto core = static_cast<size_t>(stream);
    const std::vector<std::byte> scales =
        scale_records(weights_, requantize_, key.options, slice.channel, slice.channels, stream);
    if (!scales.empty()) slice.scales[core] = append(scales);
    const std::vector<int16_t> weights = sequence(weights_, key.options, slice, stream);
    if (weights.empty()) continue;
    contents.add(weights);
    if (!key.options.fast) {
      slice.weights[core] = append(encode_mlw(weights));
      continue;
    }
    const auto fast = encode_fast(weights, key.options.sparse);
    if (!fast) return bad_input("the weights have too many values for the fast format");
    slice.weights[core] = append(*fast);
  }
  slice.all.length = static_cast<int64_t>(bytes.size());
  slice.symbols = contents.symbols;
  slice.zeros = contents.zeros;
  slice.decode_cycles = decode_cycles(key.options, contents.symbols, contents.zeros,
                                      static_cast<int64_t>(contents.values.count()));
  ++encoded_slices_;
  return std::shared_ptr<const Coded>(coded_.emplace(key, std::move(coded)).first->second);
}

Result<EncodedWeights> WeightEncoder::encode(const WeightOptions& options,
                                             std::span<const int64_t> starts) {
  EncodedWeights encoded;
  encoded.weight_streams = weight_streams(options);
  encoded.scale_streams = u85(options) ? 1 : encoded.weight_streams;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t end = i + 1 < starts.size() ? starts[i + 1] : weights_.out;
    if (i == 0 && starts[i] != 0) return bad_input("the first slice begins at {}", starts[i]);
    THIMBLE_TRY(const auto coded, slice({options, starts[i], end - starts[i]}));
    const auto at = static_cast<int64_t>(encoded.bytes.size());
    encoded.bytes.insert(encoded.bytes.end(), coded->bytes.begin(), coded->bytes.end());
    WeightSlice placed = coded->slice;
    placed.all.offset += at;
    for (ByteRange& range : placed.weights) range.offset += range.length > 0 ? at : 0;
    for (ByteRange& range : placed.scales) range.offset += range.length > 0 ? at : 0;
    encoded.slices.push_back(placed);
  }
  return encoded;
}

Result<WeightSlice> WeightEncoder::estimate(const WeightOptions& options, int64_t channel,
                                            int64_t channels) {
  THIMBLE_CHECK(check(weights_, requantize_, options, channel, channels));
  WeightSlice slice;
  slice.channel = channel;
  slice.channels = channels;
  Contents contents;
  int64_t at = 0;
  for (int stream = 0; stream < weight_streams(options); ++stream) {
    const auto core = static_cast<size_t>(stream);
    const int64_t records = scale_bytes(options, channels, stream);
    if (records > 0) slice.scales[core] = {at, records};
    at += aligned(records);
    const std::vector<int16_t> weights = sequence(weights_, options, slice, stream);
    if (weights.empty()) continue;
    contents.add(weights);
    slice.weights[core] = {
        at, options.fast ? fast_bytes(weights, options.sparse) : estimate_mlw(weights)};
    at += aligned(slice.weights[core].length);
  }
  slice.all.length = at;
  slice.symbols = contents.symbols;
  slice.zeros = contents.zeros;
  slice.decode_cycles = decode_cycles(options, contents.symbols, contents.zeros,
                                      static_cast<int64_t>(contents.values.count()));
  return slice;
}

Result<EncodedWeights> encode(const Weights& weights, const Requantize& requantize,
                              const WeightOptions& options, std::span<const int64_t> starts) {
  constexpr std::array<int64_t, 1> kWhole = {0};
  return WeightEncoder(weights, requantize).encode(options, starts.empty() ? kWhole : starts);
}

bool is_sparse(const Weights& weights) {
  const auto in = static_cast<size_t>(weights.in);
  for (size_t row = 0; row < weights.values.size(); row += in) {
    for (size_t i = 0; i < in; i += 4) {
      int used = 0;
      for (size_t j = i; j < std::min(i + 4, in); ++j) {
        const int16_t weight = weights.values[row + j];
        if (weight < -127 || weight > 127) return false;
        used += weight != 0 ? 1 : 0;
      }
      if (used > 2) return false;
    }
  }
  return true;
}

int fast_rate(const Weights& weights) {
  int low = 0, high = 0;
  std::bitset<512> values;
  values.set(256);  // zero padding
  for (const int16_t weight : weights.values) {
    low = std::min<int>(low, weight);
    high = std::max<int>(high, weight);
    values.set(static_cast<size_t>(weight + 256));
  }
  if (values.count() < kFewValues) return kFastRate;
  return values.count() <= 16 || high - low < 256 ? kFastRawRate : 0;
}

double decode_cycles(const WeightOptions& options, int64_t symbols, int64_t zeros,
                     int64_t distinct) {
  if (symbols == 0) return 0;
  const auto count = static_cast<double>(symbols);
  if (options.fast) return count / (distinct < kFewValues ? kFastRate : kFastRawRate);
  const double rate = std::clamp(static_cast<double>(zeros) / count, 0.5, 0.9);
  const double per_core = std::floor(8 + (rate - 0.5) * (32 - 8) / 0.4);
  return count / (per_core * order_cores(options));
}

}  // namespace thimble::engine::ethos_u
