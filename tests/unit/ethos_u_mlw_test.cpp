// SPDX-License-Identifier: Apache-2.0
// Streams of weights: what the encoder writes, the decoder of the simulator reads.

#include <random>

#include <gtest/gtest.h>

#include "engines/ethos_u/compiler/weights/mlw.h"
#include "engines/ethos_u/sim/mlw_stream.h"

namespace thimble::engine::ethos_u {
namespace {

namespace sim = thimble::ethos_u::sim;

std::vector<int16_t> decode_mlw(const std::vector<std::byte>& bytes, size_t count) {
  sim::MlwStream stream;
  stream.begin({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  std::vector<int16_t> weights;
  for (size_t i = 0; i < count; ++i) {
    int32_t weight = 0;
    const sim::WeightStatus status = stream.next(&weight);
    EXPECT_EQ(status, sim::WeightStatus::kOk) << sim::to_text(status) << " at " << i;
    if (status != sim::WeightStatus::kOk) break;
    weights.push_back(static_cast<int16_t>(weight));
  }
  EXPECT_EQ(stream.finish(), sim::WeightStatus::kOk);
  return weights;
}

void mlw_round_trip(const std::vector<int16_t>& weights, size_t most_bytes) {
  const std::vector<std::byte> bytes = encode_mlw(weights);
  EXPECT_EQ(decode_mlw(bytes, weights.size()), weights);
  EXPECT_LE(bytes.size(), most_bytes);
}

/// The second argument is an upper bound in bytes: an encoder that misses the structure exceeds it.
TEST(EthosUMlw, FindsStructure) {
  std::mt19937 random(11);
  std::vector<int16_t> weights(50000, 0);
  mlw_round_trip(weights, 800);  // runs of zeros
  weights.assign(40000, 255);
  mlw_round_trip(weights, 5100);  // one bit each
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = i % 2 == 0 ? -255 : 77;
  mlw_round_trip(weights, 5100);  // uncompressed indices of a palette with two entries
  for (auto& weight : weights)
    weight = static_cast<int16_t>(static_cast<int>(random() % 32) * 8 - 128);
  mlw_round_trip(weights, 25100);  // indices of a palette with 32 entries
  for (auto& weight : weights)
    weight = static_cast<int16_t>(static_cast<int>(random() % 511) - 255);
  mlw_round_trip(weights, 45200);  // nine bits each
  for (size_t i = 0; i < weights.size(); ++i) {
    weights[i] = i / 64 % 2 == 0 ? static_cast<int16_t>(static_cast<int>(random() % 128) - 64) : 0;
  }
  mlw_round_trip(weights, 24700);  // half of the weights are padding
  for (size_t i = 0; i < weights.size(); ++i) {
    const int width = i < 20000 ? 8 : 200;
    weights[i] =
        static_cast<int16_t>(static_cast<int>(random() % static_cast<unsigned>(width)) - width / 2);
  }
  mlw_round_trip(weights, 27800);  // two different distributions
}

TEST(EthosUMlw, UnusualStreams) {
  std::mt19937 random(12);
  for (size_t size = 1; size <= 70; ++size) {
    for (int zeros = 0; zeros < 4; ++zeros) {
      std::vector<int16_t> weights;
      for (size_t i = 0; i < size; ++i) {
        const bool zero = random() % 4 < static_cast<unsigned>(zeros);
        weights.push_back(zero ? int16_t{0}
                               : static_cast<int16_t>(static_cast<int>(random() % 511) - 255));
      }
      mlw_round_trip(weights, 48 + size * 2);
    }
  }
  for (int i = 0; i < 60; ++i) {  // random sections of different structure
    std::vector<int16_t> weights;
    while (weights.size() < 6000) {
      const size_t length = random() % 700;
      const int spread = 1 + static_cast<int>(random() % 255);
      const auto zeros = random() % 10;
      for (size_t j = 0; j < length; ++j) {
        const int value =
            static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread;
        weights.push_back(static_cast<int16_t>(random() % 9 < zeros ? 0 : value));
      }
    }
    mlw_round_trip(weights, weights.size() * 9 / 8 + 64);
  }
}

TEST(EthosUMlw, LongStreamsAreCutIntoSlices) {
  std::mt19937 random(13);
  std::vector<int16_t> weights;
  for (size_t i = 0; i < 300000; ++i) {
    weights.push_back(random() % 3 == 0 ? static_cast<int16_t>(static_cast<int>(random() % 9) - 4)
                                        : int16_t{0});
  }
  mlw_round_trip(weights, 85000);
  for (auto& weight : weights) weight = static_cast<int16_t>(weight + 3);
  mlw_round_trip(weights, 90000);
}

}  // namespace
}  // namespace thimble::engine::ethos_u
