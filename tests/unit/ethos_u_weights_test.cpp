// SPDX-License-Identifier: Apache-2.0
// The weight encoder of the Ethos-U, compared with the simulator's decoder, which shares no code.

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "engines/ethos_u/compiler/weights/weights.h"
#include "engines/ethos_u/sim/weights.h"

namespace thimble::engine::ethos_u {
namespace {

namespace sim = thimble::ethos_u::sim;
using thimble::ethos_u::Config;
using thimble::ethos_u::Generation;
using thimble::ethos_u::kConfigs;
using thimble::ethos_u::kMicroblocks;
using thimble::ethos_u::Microblock;
using thimble::ethos_u::MicroblockRow;
using thimble::ethos_u::Operation;

enum class Kind { kDepthFirst, kPartKernel, kDepthwise };
enum class Fill { kUniform, kSmall, kSparse, kFew };

struct Layer {
  const MicroblockRow* row = nullptr;
  Kind kind = Kind::kDepthFirst;
  int64_t out = 8, kernel_h = 1, kernel_w = 1, in = 8;
  int64_t block = 16;
  int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int ifm_bits = 8;
  bool fast = false, sparse = false;
  std::vector<int64_t> starts = {0};
};

std::string text(const Layer& layer) {
  std::string words = layer.row->config;
  for (const int64_t number :
       {int64_t{layer.row->block.height}, int64_t{layer.row->block.width},
        static_cast<int64_t>(layer.kind), layer.out, layer.kernel_h, layer.kernel_w, layer.in,
        layer.block, layer.stride_h, layer.stride_w, layer.dilation_h, layer.dilation_w,
        int64_t{layer.ifm_bits}, int64_t{layer.fast}, int64_t{layer.sparse}}) {
    words += " " + std::to_string(number);
  }
  return words;
}

/// Sets two of every four weights along the depth to zero.
void make_two_of_four_sparse(Weights* weights) {
  const auto in = static_cast<size_t>(weights->in);
  for (size_t i = 0; i < weights->values.size(); ++i) {
    if (i % in % 4 >= 2) weights->values[i] = 0;
    if (weights->values[i] < -127 || weights->values[i] > 127) weights->values[i] /= 3;
  }
}

Weights draw(const Layer& layer, Fill fill, std::mt19937* random) {
  Weights weights;
  weights.out = layer.out;
  weights.kernel_h = layer.kernel_h;
  weights.kernel_w = layer.kernel_w;
  weights.in = layer.kind == Kind::kDepthwise ? 1 : layer.in;
  const auto count = static_cast<size_t>(layer.out * layer.kernel_h * layer.kernel_w * weights.in);
  for (size_t i = 0; i < count; ++i) {
    const auto word = (*random)();
    int value = 0;
    switch (fill) {
      case Fill::kUniform:
        value = static_cast<int>(word % 511) - 255;
        break;
      case Fill::kSmall:
        value = static_cast<int>(word % 5 + word / 8 % 5) - 4;
        break;
      case Fill::kSparse:
        value = word % 8 == 0 ? static_cast<int>(word / 8 % 255) - 127 : 0;
        break;
      case Fill::kFew:
        value = static_cast<int>(word % 3) * 40 - 17;
        break;
    }
    weights.values.push_back(static_cast<int16_t>(value));
  }
  if (layer.sparse) make_two_of_four_sparse(&weights);
  for (int64_t i = 0; i < layer.out; ++i) {
    weights.bias.push_back(static_cast<int32_t>((*random)()) / 2);
  }
  return weights;
}

Requantize scales(int64_t channels, std::mt19937* random) {
  Requantize requantize;
  for (int64_t i = 0; i < channels; ++i) {
    requantize.multiplier.push_back(static_cast<int32_t>((*random)() >> 1));
    requantize.shift.push_back(static_cast<int32_t>((*random)() % 64));
  }
  return requantize;
}

const Config& config_of(const Layer& layer) {
  return *thimble::ethos_u::find_config(layer.row->config);
}

WeightOptions options_of(const Layer& layer) {
  WeightOptions options;
  options.config = &config_of(layer);
  options.depthwise = layer.kind == Kind::kDepthwise;
  options.part_kernel_first = layer.kind == Kind::kPartKernel;
  options.block_depth = layer.block;
  options.microblock_depth = layer.row->block.depth;
  options.stride_h = layer.stride_h;
  options.stride_w = layer.stride_w;
  options.dilation_h = layer.dilation_h;
  options.dilation_w = layer.dilation_w;
  options.ifm_bits = layer.ifm_bits;
  options.fast = layer.fast;
  options.sparse = layer.sparse;
  return options;
}

Microblock microblock_of(const MicroblockRow& row) {
  if (row.block.height == 1) {
    return row.block.width == 1   ? Microblock::k1x1
           : row.block.width == 2 ? Microblock::k1x2
                                  : Microblock::k1x4;
  }
  if (row.block.height == 4) return Microblock::k4x4;
  return row.block.width == 2 ? Microblock::k2x2 : Microblock::k2x4;
}

sim::KernelOperation operation_of(const Layer& layer, int64_t channels) {
  sim::KernelOperation operation;
  operation.code = layer.kind == Kind::kDepthwise ? Operation::DEPTHWISE : Operation::CONV;
  operation.ofm.depth = static_cast<uint32_t>(channels);
  operation.ifm.depth = static_cast<uint32_t>(layer.kind == Kind::kDepthwise ? channels : layer.in);
  operation.ifm.bits = static_cast<uint8_t>(layer.ifm_bits);
  operation.kernel.height = static_cast<uint32_t>(layer.kernel_h);
  operation.kernel.width = static_cast<uint32_t>(layer.kernel_w);
  operation.kernel.stride_y = static_cast<uint8_t>(layer.stride_h);
  operation.kernel.stride_x = static_cast<uint8_t>(layer.stride_w);
  operation.kernel.dilation_y = static_cast<uint8_t>(layer.dilation_h);
  operation.kernel.dilation_x = static_cast<uint8_t>(layer.dilation_w);
  operation.kernel.part_kernel_first = layer.kind == Kind::kPartKernel;
  operation.block_depth = static_cast<uint32_t>(layer.block);
  operation.microblock = microblock_of(*layer.row);
  operation.cores = config_of(layer).cores;
  operation.fast_weights = layer.fast;
  operation.sparse = layer.sparse;
  return operation;
}

sim::Bytes view(const EncodedWeights& encoded, const ByteRange& range) {
  return {reinterpret_cast<const uint8_t*>(encoded.bytes.data()) + range.offset,
          static_cast<uint64_t>(range.length)};
}

/// Decodes a slice and compares it with its channels.
void check_slice(const Layer& layer, const Weights& weights, const Requantize& requantize,
                 const EncodedWeights& encoded, const WeightSlice& slice) {
  const sim::KernelOperation operation = operation_of(layer, slice.channels);
  sim::Bytes streams[4], records[2];
  for (size_t core = 0; core < 4; ++core) streams[core] = view(encoded, slice.weights[core]);
  for (size_t core = 0; core < 2; ++core) records[core] = view(encoded, slice.scales[core]);
  sim::WeightDecoder decoder;
  ASSERT_EQ(decoder.begin(config_of(layer), operation, streams), sim::WeightStatus::kOk);
  const size_t channel_size = weights.values.size() / static_cast<size_t>(weights.out);
  std::vector<int16_t> dense(static_cast<size_t>(sim::block_elements(operation)));
  while (decoder.channel() < slice.channels) {
    const auto first = static_cast<size_t>(slice.channel) + decoder.channel();
    std::fill(dense.begin(), dense.end(), int16_t{999});
    const sim::WeightStatus status = decoder.next(dense.data(), dense.size());
    ASSERT_EQ(status, sim::WeightStatus::kOk) << sim::to_text(status) << ": " << text(layer);
    const size_t end = static_cast<size_t>(slice.channel) + decoder.channel();
    ASSERT_EQ(std::memcmp(dense.data(), weights.values.data() + first * channel_size,
                          (end - first) * channel_size * sizeof(int16_t)),
              0)
        << text(layer);
  }
  EXPECT_EQ(decoder.finish(), sim::WeightStatus::kOk) << text(layer);
  for (uint32_t channel = 0; channel < slice.channels; ++channel) {
    const auto at = static_cast<size_t>(slice.channel + channel);
    sim::ScaleRecord record;
    ASSERT_EQ(sim::scale_record(config_of(layer), operation, records, channel, &record),
              sim::WeightStatus::kOk);
    EXPECT_EQ(record.bias, weights.bias[at]);
    EXPECT_EQ(record.multiplier, static_cast<uint32_t>(requantize.multiplier[at]));
    EXPECT_EQ(record.shift, requantize.shift[at]);
  }
}

void check_layout(const EncodedWeights& encoded) {
  int64_t end = 0;
  for (const WeightSlice& slice : encoded.slices) {
    EXPECT_EQ(slice.all.offset, end);
    end += slice.all.length;
    for (const ByteRange& range : slice.weights) {
      EXPECT_EQ(range.offset % 16, 0);
      EXPECT_EQ(range.length % 16, 0);
      EXPECT_TRUE(range.length == 0 || range.offset >= slice.all.offset);
      EXPECT_LE(range.offset + range.length, end);
    }
    for (const ByteRange& range : slice.scales) EXPECT_EQ(range.offset % 16, 0);
  }
  EXPECT_EQ(end, static_cast<int64_t>(encoded.bytes.size()));
}

void round_trip(const Layer& layer, Fill fill, std::mt19937* random) {
  const Weights weights = draw(layer, fill, random);
  const Requantize requantize = scales(layer.out, random);
  const Result<EncodedWeights> encoded =
      encode(weights, requantize, options_of(layer), layer.starts);
  ASSERT_TRUE(encoded.ok()) << encoded.error().message << ": " << text(layer);
  ASSERT_EQ(encoded->slices.size(), layer.starts.size());
  check_layout(*encoded);
  for (const WeightSlice& slice : encoded->slices) {
    check_slice(layer, weights, requantize, *encoded, slice);
  }
}

bool legal(const Layer& layer) {
  const bool u85 = config_of(layer).generation == Generation::kU85;
  if ((layer.fast || layer.sparse) && (!u85 || layer.kind == Kind::kDepthwise)) return false;
  return layer.kind != Kind::kDepthwise || layer.in == 1;
}

/// Every configuration and micro-block.
class EveryMicroblock : public testing::TestWithParam<size_t> {
 protected:
  Layer layer() const {
    Layer layer;
    layer.row = &kMicroblocks[GetParam()];
    return layer;
  }
  std::mt19937 random_{static_cast<uint32_t>(7 + GetParam())};
};

TEST_P(EveryMicroblock, SmallShapes) {
  Layer layer = this->layer();
  for (const Kind kind : {Kind::kDepthFirst, Kind::kPartKernel, Kind::kDepthwise}) {
    for (const int64_t out : {1, 8, 33}) {
      for (const int64_t in : {1, 16, 37}) {
        for (const int64_t height : {1, 3}) {
          for (const int64_t width : {1, 2}) {
            for (const int bits : {8, 16}) {
              layer.kind = kind;
              layer.out = out;
              layer.in = in;
              layer.kernel_h = height;
              layer.kernel_w = width;
              layer.ifm_bits = bits;
              if (legal(layer)) round_trip(layer, Fill::kUniform, &random_);
            }
          }
        }
      }
    }
  }
}

TEST_P(EveryMicroblock, StridesAndDilations) {
  Layer layer = this->layer();
  layer.out = 20;
  for (int variant = 0; variant < 3 * 9 * 4; ++variant) {
    layer.kind = static_cast<Kind>(variant % 3);
    layer.in = layer.kind == Kind::kDepthwise ? 1 : 20;
    layer.stride_h = 1 + variant / 3 % 3;
    layer.stride_w = 1 + variant / 9 % 3;
    layer.dilation_h = 1 + variant / 27 % 2;
    layer.dilation_w = 1 + variant / 54 % 2;
    const int size = (variant / 3 + variant / 27) % 3;
    layer.kernel_h = size == 0 ? 3 : size == 1 ? 9 : 5;
    layer.kernel_w = size == 0 ? 4 : size == 1 ? 2 : 11;
    layer.ifm_bits = variant / 9 % 2 == 0 ? 8 : 16;
    round_trip(layer, Fill::kSmall, &random_);
  }
}

TEST_P(EveryMicroblock, BlocksAndSlices) {
  Layer layer = this->layer();
  layer.in = 40;
  for (const Kind kind : {Kind::kDepthFirst, Kind::kPartKernel}) {
    for (const int64_t block : {16, 32, 48, 128}) {
      layer.kind = kind;
      layer.block = block;
      layer.out = 150;
      layer.starts = {0};
      round_trip(layer, Fill::kSparse, &random_);
      layer.starts = {0, block};
      round_trip(layer, Fill::kSmall, &random_);
      layer.starts.clear();
      for (int64_t at = 0; at < layer.out; at += block) layer.starts.push_back(at);
      round_trip(layer, Fill::kUniform, &random_);
    }
  }
}

TEST_P(EveryMicroblock, FastAndSparse) {
  Layer layer = this->layer();
  if (config_of(layer).generation != Generation::kU85) {
    for (const bool sparse : {false, true}) {
      layer.fast = !sparse;
      layer.sparse = sparse;
      const auto encoded = encode(draw(layer, Fill::kSparse, &random_), scales(layer.out, &random_),
                                  options_of(layer), layer.starts);
      ASSERT_FALSE(encoded.ok()) << text(layer);
      EXPECT_NE(encoded.error().message.find(sparse ? "not support sparse weights"
                                                    : "not support fast weights"),
                std::string::npos)
          << encoded.error().message;
    }
    return;
  }
  for (int variant = 0; variant < 3 * 2 * 2 * 3; ++variant) {
    layer.sparse = variant % 3 != 0;
    layer.fast = variant % 3 != 1;
    layer.kind = variant / 3 % 2 == 0 ? Kind::kDepthFirst : Kind::kPartKernel;
    layer.ifm_bits = variant / 6 % 2 == 0 ? 8 : 16;
    layer.out = 40;
    layer.in = 140;
    layer.kernel_h = variant / 12 == 2 ? 3 : 1;
    layer.kernel_w = variant / 12 == 1 ? 3 : 1;
    round_trip(layer, Fill::kSmall, &random_);
    round_trip(layer, Fill::kFew, &random_);
    layer.sparse = true;  // fewer than 256 distinct values
    round_trip(layer, Fill::kUniform, &random_);
  }
}

TEST_P(EveryMicroblock, LargeLayersBySeed) {
  Layer layer = this->layer();
  for (int i = 0; i < 3; ++i) {
    const auto pick = [this](int64_t low, int64_t high) {
      return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
    };
    layer.kind = static_cast<Kind>(i % 3);
    layer.out = pick(60, 200);
    layer.in = layer.kind == Kind::kDepthwise ? 1 : pick(30, 200);
    layer.kernel_h = pick(1, 3);
    layer.kernel_w = pick(1, 3);
    layer.block = 16 * pick(1, 8);
    round_trip(layer, static_cast<Fill>((static_cast<size_t>(i) + GetParam()) % 4), &random_);
  }
}

INSTANTIATE_TEST_SUITE_P(EthosU, EveryMicroblock,
                         testing::Range<size_t>(0, std::size(kMicroblocks)),
                         [](const testing::TestParamInfo<size_t>& info) {
                           const MicroblockRow& row = kMicroblocks[info.param];
                           std::string name = row.config;
                           std::erase(name, '-');
                           return name + "_" + std::to_string(row.block.height) + "x" +
                                  std::to_string(row.block.width);
                         });

TEST(EthosUWeights, NumberOfCoresSelectsStreams) {
  std::mt19937 random(3);
  Layer layer;
  layer.row = &kMicroblocks[5];
  ASSERT_STREQ(layer.row->config, "ethos-u65-512");
  const Weights weights = draw(layer, Fill::kUniform, &random);
  WeightOptions options = options_of(layer);
  const Requantize requantize = scales(layer.out, &random);
  options.cores = 1;
  const auto one = encode(weights, requantize, options);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->weight_streams, 1);
  EXPECT_EQ(one->slices[0].weights[1].length, 0);
  options.cores = 0;
  const auto two = encode(weights, requantize, options);
  ASSERT_TRUE(two.ok());
  EXPECT_EQ(two->scale_streams, 2);
  EXPECT_GT(two->slices[0].weights[1].length, 0);
}

TEST(EthosUWeights, WideRecords) {
  std::mt19937 random(3);
  Layer layer;
  layer.row = &kMicroblocks[6];
  ASSERT_STREQ(layer.row->config, "ethos-u85-128");
  Weights weights = draw(layer, Fill::kUniform, &random);
  Requantize requantize = {.multiplier = {32767}, .shift = {17}};
  weights.bias[1] = -(int64_t{1} << 47);
  weights.bias[2] = (int64_t{1} << 47) - 1;
  WeightOptions options = options_of(layer);
  EXPECT_FALSE(encode(weights, requantize, options).ok());
  options.wide_accumulator = true;
  const auto encoded = encode(weights, requantize, options);
  ASSERT_TRUE(encoded.ok()) << encoded.error().message;
  sim::KernelOperation operation = operation_of(layer, layer.out);
  operation.accumulator = 1;
  const sim::Bytes records = view(*encoded, encoded->slices[0].scales[0]);
  for (uint32_t channel = 0; channel < 8; ++channel) {
    sim::ScaleRecord record;
    ASSERT_EQ(sim::scale_record(config_of(layer), operation, &records, channel, &record),
              sim::WeightStatus::kOk);
    EXPECT_EQ(record.bias, weights.bias[channel]);
    EXPECT_EQ(record.multiplier, 32767U);
    EXPECT_EQ(record.shift, 17);
  }
  requantize.multiplier = {32768};
  EXPECT_FALSE(encode(weights, requantize, options).ok());
}

TEST(EthosUWeights, EstimatedSizeIsCloseToEncodedSize) {
  std::mt19937 random(5);
  for (const MicroblockRow& row : kMicroblocks) {
    for (const Fill fill : {Fill::kUniform, Fill::kSmall, Fill::kSparse}) {
      Layer layer;
      layer.row = &row;
      layer.out = 96;
      layer.in = 128;
      layer.block = 32;
      const Weights weights = draw(layer, fill, &random);
      const Requantize requantize = scales(layer.out, &random);
      WeightEncoder encoder(weights, requantize);
      const std::vector<int64_t> starts = {0, 32};
      const auto encoded = encoder.encode(options_of(layer), starts);
      ASSERT_TRUE(encoded.ok());
      const auto estimate = encoder.estimate(options_of(layer), 32, 64);
      ASSERT_TRUE(estimate.ok());
      const WeightSlice& slice = encoded->slices[1];
      EXPECT_EQ(estimate->symbols, slice.symbols);
      EXPECT_EQ(estimate->zeros, slice.zeros);
      EXPECT_EQ(estimate->decode_cycles, slice.decode_cycles);
      EXPECT_EQ(estimate->scales[0].length, slice.scales[0].length);
      EXPECT_NEAR(static_cast<double>(estimate->all.length), static_cast<double>(slice.all.length),
                  0.05 * static_cast<double>(slice.all.length) + 64);
    }
  }
}

TEST(EthosUWeights, EncodedSlicesAreCached) {
  std::mt19937 random(6);
  Layer layer;
  layer.row = &kMicroblocks[2];
  layer.out = 64;
  const Weights weights = draw(layer, Fill::kUniform, &random);
  const Requantize requantize = scales(layer.out, &random);
  WeightEncoder encoder(weights, requantize);
  const std::vector<int64_t> halves = {0, 32}, thirds = {0, 32, 48};
  const auto a = encoder.encode(options_of(layer), halves);
  EXPECT_EQ(encoder.encoded_slices(), 2U);
  const auto b = encoder.encode(options_of(layer), thirds);
  EXPECT_EQ(encoder.encoded_slices(), 4U) << "channels 0 to 31 were encoded before";
  const auto again = encoder.encode(options_of(layer), thirds);
  EXPECT_EQ(encoder.encoded_slices(), 4U);
  ASSERT_TRUE(a.ok() && b.ok() && again.ok());
  EXPECT_EQ(again->bytes, b->bytes);
  WeightOptions other = options_of(layer);
  other.ifm_bits = 16;
  ASSERT_TRUE(encoder.encode(other, halves).ok());
  EXPECT_EQ(encoder.encoded_slices(), 6U) << "other options need other bytes";
  ASSERT_EQ(b->slices.size(), 3U);
  EXPECT_EQ(a->slices[0].all.length, b->slices[0].all.length);
  EXPECT_EQ(
      std::memcmp(a->bytes.data(), b->bytes.data(), static_cast<size_t>(a->slices[0].all.length)),
      0);
}

TEST(EthosUWeights, Sparsity) {
  Weights weights = {
      .out = 1, .kernel_h = 1, .kernel_w = 1, .in = 6, .values = {1, 2, 0, 0, 5, 6}, .bias = {0}};
  EXPECT_TRUE(is_sparse(weights));
  weights.values[2] = 1;
  EXPECT_FALSE(is_sparse(weights));
  weights.values = {128, 0, 0, 0, 0, 0};
  EXPECT_FALSE(is_sparse(weights));
  EXPECT_GT(fast_rate(weights), 0);
  weights = {.out = 1, .kernel_h = 1, .kernel_w = 1, .in = 300, .values = {}, .bias = {0}};
  for (int i = 0; i < 300; ++i) weights.values.push_back(static_cast<int16_t>(i - 150));
  EXPECT_EQ(fast_rate(weights), 0);
}

TEST(EthosUWeights, RefusesInvalidWeights) {
  std::mt19937 random(8);
  Layer layer;
  layer.row = &kMicroblocks[2];
  const Weights weights = draw(layer, Fill::kUniform, &random);
  const Requantize requantize = scales(layer.out, &random);
  const WeightOptions good = options_of(layer);
  const auto refused = [&](const Weights& w, const Requantize& r, const WeightOptions& o,
                           std::vector<int64_t> starts = {0}) {
    return !encode(w, r, o, starts).ok();
  };
  EXPECT_FALSE(refused(weights, requantize, good));
  EXPECT_TRUE(refused(weights, requantize, good, {1}));
  EXPECT_TRUE(refused(weights, requantize, good, {0, 3}));
  WeightOptions options = good;
  options.fast = true;
  EXPECT_TRUE(refused(weights, requantize, options));
  options = good;
  options.dilation_h = 3;
  EXPECT_TRUE(refused(weights, requantize, options));
  options = good;
  options.microblock_depth = 5;
  EXPECT_TRUE(refused(weights, requantize, options));
  options = good;
  options.depthwise = true;
  EXPECT_TRUE(refused(weights, requantize, options));
  Weights bad = weights;
  bad.values.pop_back();
  EXPECT_TRUE(refused(bad, requantize, good));
  bad = weights;
  bad.bias[0] = int64_t{1} << 39;
  EXPECT_TRUE(refused(bad, requantize, good));
  Requantize scale = requantize;
  scale.shift[0] = 64;
  EXPECT_TRUE(refused(weights, scale, good));
  scale.shift.resize(2);
  EXPECT_TRUE(refused(weights, scale, good));
}

}  // namespace
}  // namespace thimble::engine::ethos_u
