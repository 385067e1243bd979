// SPDX-License-Identifier: Apache-2.0
// The weight decoder of the Ethos-U simulator: streams written bit by bit, weight orders listed
// explicitly, and invalid bytes.

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engines/ethos_u/sim/weights.h"

namespace thimble::ethos_u::sim {
namespace {

/// Bits as text, in the order of the stream; integers start with their lowest bit.
class Bits {
 public:
  Bits& put(uint32_t value, int count) {
    for (int i = 0; i < count; ++i) bits_ += (uint64_t{value} >> i & 1U) != 0 ? '1' : '0';
    return *this;
  }
  Bits& text(const std::string& bits) {
    bits_ += bits;
    return *this;
  }
  /// Appends ZDIV, count, WDIV, WTRUNC, NEWPAL.
  Bits& header(uint32_t zdiv, uint32_t count, uint32_t wdiv, uint32_t truncated, uint32_t palette) {
    return put(zdiv, 3).put(count - 1, 15).put(wdiv, 3).put(truncated, 1).put(palette, 1);
  }
  Bits& palette(uint32_t direct, const std::vector<uint32_t>& entries, int bits) {
    put(direct, 5).put(entries.empty() ? 0 : static_cast<uint32_t>(entries.size() - 1), 5);
    put(static_cast<uint32_t>(bits - 2), 3);
    for (const uint32_t entry : entries) put(entry, bits);
    return *this;
  }
  /// Ends the stream and returns it in memory of exactly its size.
  std::vector<uint8_t> end() {
    put(7, 3);
    std::vector<uint8_t> bytes((bits_.size() + 7) / 8, 0);
    for (size_t i = 0; i < bytes.size() * 8; ++i) {
      const bool one = i >= bits_.size() || bits_[i] == '1';
      if (one) bytes[i / 8] = static_cast<uint8_t>(bytes[i / 8] | 1U << (i % 8));
    }
    return bytes;
  }

 private:
  std::string bits_;
};

struct Outcome {
  std::vector<int> weights;
  WeightStatus status = WeightStatus::kOk;
};

Outcome decode(const std::vector<uint8_t>& bytes, size_t count) {
  Outcome outcome;
  MlwStream stream;
  stream.begin({bytes.data(), bytes.size()});
  for (size_t i = 0; i < count && outcome.status == WeightStatus::kOk; ++i) {
    int32_t weight = 0;
    outcome.status = stream.next(&weight);
    if (outcome.status == WeightStatus::kOk) outcome.weights.push_back(weight);
  }
  if (outcome.status == WeightStatus::kOk) outcome.status = stream.finish();
  return outcome;
}

using Ints = std::vector<int>;

TEST(NpuWeights, UncompressedWithoutPalette) {
  Bits bits;
  bits.header(6, 3, 7, 0, 1).palette(0, {}, 4).put(2, 4).put(3, 4).put(15, 4);
  const Outcome outcome = decode(bits.end(), 3);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights, (Ints{1, -1, -7}));
}

TEST(NpuWeights, DirectOffsetAfterPalette) {
  Bits bits;  // three entries use two bits, so index 3 is value 10, which is 5
  bits.header(6, 4, 7, 0, 1).palette(10, {4, 7, 255}, 8);
  bits.put(0, 2).put(1, 2).put(2, 2).put(3, 2);
  const Outcome outcome = decode(bits.end(), 4);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights, (Ints{2, -3, -127, 5}));
}

TEST(NpuWeights, GolombRiceQuotients) {
  // Divisor 1; indices 0, 3, 5, 9 have quotients 0, 1, 2, 4 and remainders 0, 1, 1, 1. First bits
  // of the steps: 0 | 1 | 1 0 | 1 1 0; second bits: 0 | 1 | 1 1.
  Bits bits;
  bits.header(6, 4, 1, 0, 1).palette(0, {}, 2);
  bits.text("0110110").text("00000").text("0111").text("0111");
  const Outcome outcome = decode(bits.end(), 4);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights, (Ints{0, -1, -2, -4}));
}

TEST(NpuWeights, TruncatedQuotientsHaveNoTerminator) {
  Bits bits;  // quotients 2, 1, 0, 2
  bits.header(6, 4, 0, 1, 1).palette(2, {}, 2);
  bits.text("110100000000").text("101");
  const Outcome outcome = decode(bits.end(), 4);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights, (Ints{2, -1, 1, 2}));
}

TEST(NpuWeights, RemaindersFollowOneChunkLater) {
  // Thirteen weights with quotient 0. The second chunk has the thirteenth; then follow the
  // remainders of the first twelve, then that of the last.
  Bits bits;
  bits.header(6, 13, 1, 0, 1).palette(2, {}, 2);
  bits.put(0, 12).put(0, 12).text("010101010101").text("1");
  const Outcome outcome = decode(bits.end(), 13);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights, (Ints{1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, -1}));
}

TEST(NpuWeights, QuotientsContinueInNextChunk) {
  // Divisor 0, index 30: fifteen steps of two and one step of zero.
  Bits bits;
  bits.header(6, 1, 0, 0, 1).palette(0, {}, 2);
  bits.text("111111111111").text("111111111111").text("111000000000").text("111");
  const Outcome outcome = decode(bits.end(), 1);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights, (Ints{15}));
}

TEST(NpuWeights, RunsOfZeros) {
  // Runs 2, 0, 5 around the weights 1 and -1 with divisor 1: quotients 1, 0, 2 (10 0 110),
  // remainders 0, 0, 1. The next slice keeps the palette and has no run before its first weight.
  Bits bits;
  bits.header(1, 2, 0, 0, 1).palette(2, {}, 2);
  bits.text("010000000000").text("100110000000").text("0").text("001");
  bits.header(0, 1, 0, 0, 0).put(0, 12).text("111000000000");
  const Outcome outcome = decode(bits.end(), 13);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights, (Ints{0, 0, 1, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0}));
}

TEST(NpuWeights, WeightsWaitForRuns) {
  // Twenty weights with quotient 0 without zeros between them: weights 12, runs 12, weights 8, runs
  // 9. The first run has three quotients: 9 runs are complete, so weights are 3 ahead.
  Bits bits;
  bits.header(0, 20, 0, 0, 1).palette(2, {}, 2);
  bits.put(0, 12).text("111000000000");  // weights 12, runs 9: 3 ahead
  bits.put(0, 12).text("000000000000");  // weights 20, runs 21
  const Outcome outcome = decode(bits.end(), 23);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  Ints expected = {0, 0, 0};
  expected.resize(23, 1);
  EXPECT_EQ(outcome.weights, expected);
}

TEST(NpuWeights, WeightsPauseWhenEightAhead) {
  // The first run has eleven quotients. After two chunks, weights are 23 ahead of the runs. The
  // weights pause after the first chunk until the difference is at most eight.
  Bits bits;
  bits.header(0, 14, 0, 0, 1).palette(2, {}, 2);
  bits.put(0, 12).text("111111111110");  // weights 12, runs 1
  bits.text("000000000000");             // only runs: 13
  bits.put(0, 12).put(0, 0);             // weights 14; runs are ahead and pause
  bits.text("000000000000");             // the last two runs
  const Outcome outcome = decode(bits.end(), 25);
  EXPECT_EQ(outcome.status, WeightStatus::kOk);
  EXPECT_EQ(outcome.weights.size(), 25U);
}

TEST(NpuWeights, RefusesInvalidHeaders) {
  EXPECT_EQ(decode(Bits().header(6, 1, 0, 0, 0).put(0, 20).end(), 1).status,
            WeightStatus::kBadSlice);  // no palette yet
  EXPECT_EQ(decode(Bits().header(4, 1, 0, 0, 1).put(0, 40).end(), 1).status,
            WeightStatus::kBadSlice);  // ZDIV 4
  EXPECT_EQ(decode(Bits().header(6, 1, 6, 0, 1).put(0, 40).end(), 1).status,
            WeightStatus::kBadSlice);  // WDIV 6
  Bits runs;
  runs.header(6, 1, 0, 0, 1).palette(0, {}, 2).put(0, 12).header(0, 1, 0, 0, 0).put(0, 30);
  EXPECT_EQ(decode(runs.end(), 2).status, WeightStatus::kBadSlice);  // runs without a palette
}

TEST(NpuWeights, RefusesWrongLengths) {
  Bits bits;
  bits.header(6, 3, 7, 0, 1).palette(0, {}, 4).put(2, 4).put(3, 4).put(15, 4);
  const std::vector<uint8_t> bytes = bits.end();
  EXPECT_EQ(decode(bytes, 2).status, WeightStatus::kTrailing);
  EXPECT_EQ(decode(bytes, 4).status, WeightStatus::kTruncated);
  for (size_t size = 0; size + 1 < bytes.size(); ++size) {
    const std::vector<uint8_t> part(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(decode(part, 3).status, WeightStatus::kTruncated) << size;
  }
}

TEST(NpuWeights, ValuesAboveNineBits) {
  // Index 511: quotient 15 is written as seven steps of two and one of one; remainder 31.
  for (const uint32_t direct : {0U, 1U}) {
    Bits bits;
    bits.header(6, 1, 5, 0, 1).palette(direct, {}, 2);
    bits.text("111111110000").text("11111110").put(31, 5);
    const Outcome outcome = decode(bits.end(), 1);
    if (direct == 0) {
      EXPECT_EQ(outcome.weights, Ints{-255});
    } else {
      EXPECT_EQ(outcome.status, WeightStatus::kBadValue);
    }
  }
}

/// Returns a stream of `weights` with nine bits each.
std::vector<uint8_t> plain_stream(const Ints& weights) {
  Bits bits;
  for (size_t first = 0; first < weights.size(); first += 8) {
    const size_t count = std::min<size_t>(8, weights.size() - first);
    bits.header(6, static_cast<uint32_t>(count), 7, 0, 1).palette(0, {}, 9);
    for (size_t i = first; i < first + count; ++i) {
      const int weight = weights[i];
      bits.put(static_cast<uint32_t>(weight < 0 ? -weight * 2 + 1 : weight * 2), 9);
    }
  }
  return bits.end();
}

KernelOperation convolution(uint32_t out, uint32_t height, uint32_t width, uint32_t in,
                            uint32_t block) {
  KernelOperation operation;
  operation.code = Operation::CONV;
  operation.ofm.depth = out;
  operation.ifm.depth = in;
  operation.kernel.height = height;
  operation.kernel.width = width;
  operation.block_depth = block;
  return operation;
}

/// Returns the weight of channel o, element y, x, input i in the streams of the tests below.
int mark(uint32_t o, uint32_t y, uint32_t x, uint32_t i) {
  return static_cast<int>((o * 67 + y * 29 + x * 13 + i * 5) % 250) + 1;
}

void expect_marks(const char* config_name, const KernelOperation& operation,
                  const std::vector<std::vector<uint8_t>>& streams) {
  const Config* config = find_config(config_name);
  ASSERT_NE(config, nullptr);
  Bytes views[4];
  for (size_t i = 0; i < streams.size(); ++i) views[i] = {streams[i].data(), streams[i].size()};
  WeightDecoder decoder;
  ASSERT_EQ(decoder.begin(*config, operation, views), WeightStatus::kOk);
  const uint32_t in = operation.code == Operation::DEPTHWISE ? 1 : operation.ifm.depth;
  std::vector<int16_t> dense(block_elements(operation));
  while (decoder.channel() < operation.ofm.depth) {
    const uint32_t first = decoder.channel();
    const WeightStatus status = decoder.next(dense.data(), dense.size());
    ASSERT_EQ(status, WeightStatus::kOk) << to_text(status);
    size_t at = 0;
    for (uint32_t o = first; o < decoder.channel(); ++o) {
      for (uint32_t y = 0; y < operation.kernel.height; ++y) {
        for (uint32_t x = 0; x < operation.kernel.width; ++x) {
          for (uint32_t i = 0; i < in; ++i) ASSERT_EQ(dense[at++], mark(o, y, x, i)) << o;
        }
      }
    }
  }
  EXPECT_EQ(decoder.finish(), WeightStatus::kOk);
}

void pad(Ints* stream, size_t count) {
  stream->resize(stream->size() + count, 0);
}

TEST(NpuWeightOrder, DepthFirstOnU55) {
  // One of eight channels, 1x1, nine inputs: blocks of 32 inputs in steps of eight. Each step has
  // all eight channels of the micro-block.
  Ints stream;
  for (uint32_t step = 0; step < 32; step += 8) {
    for (uint32_t o = 0; o < 8; ++o) {
      for (uint32_t i = step; i < step + 8; ++i) {
        stream.push_back(o < 1 && i < 9 ? mark(o, 0, 0, i) : 0);
      }
    }
  }
  expect_marks("ethos-u55-128", convolution(1, 1, 1, 9, 16), {plain_stream(stream)});
}

TEST(NpuWeightOrder, PartKernelOnU55) {
  // 1x3, eight inputs: elements are padded to four.
  Ints stream;
  for (uint32_t x = 0; x < 4; ++x) {
    for (uint32_t o = 0; o < 4; ++o) {
      for (uint32_t i = 0; i < 8; ++i) stream.push_back(x < 3 && o < 2 ? mark(o, 0, x, i) : 0);
    }
  }
  KernelOperation operation = convolution(2, 1, 3, 8, 16);
  operation.kernel.part_kernel_first = true;
  expect_marks("ethos-u55-32", operation, {plain_stream(stream)});
}

TEST(NpuWeightOrder, DepthwiseOnU55) {
  // 3x9 with rows of at most eight: a part of 24 elements, then three elements padded to four.
  Ints stream;
  for (uint32_t e = 0; e < 24; ++e) {
    for (uint32_t o = 0; o < 8; ++o) stream.push_back(mark(o, e / 8, e % 8, 0));
  }
  for (uint32_t e = 0; e < 4; ++e) {
    for (uint32_t o = 0; o < 8; ++o) stream.push_back(e < 3 ? mark(o, e, 8, 0) : 0);
  }
  KernelOperation operation = convolution(8, 3, 9, 8, 8);
  operation.code = Operation::DEPTHWISE;
  expect_marks("ethos-u55-256", operation, {plain_stream(stream)});
}

TEST(NpuWeightOrder, TwoCoresAlternateChannels) {
  // Nineteen channels in blocks of 16: core 0 has 0, 2, ..., 14, 16, 18; core 1 has 1, 3, ...
  std::vector<std::vector<uint8_t>> streams;
  for (uint32_t core = 0; core < 2; ++core) {
    Ints stream;
    for (uint32_t block = 0; block < 32; block += 16) {
      for (uint32_t o = 0; o < 8; ++o) {
        const uint32_t channel = block + o * 2 + core;
        for (uint32_t i = 0; i < 8; ++i) {
          stream.push_back(channel < 19 ? mark(channel, 0, 0, i) : 0);
        }
      }
      pad(&stream, 8 * 24);
    }
    streams.push_back(plain_stream(stream));
  }
  KernelOperation operation = convolution(19, 1, 1, 8, 16);
  operation.cores = 2;
  expect_marks("ethos-u65-512", operation, streams);
}

TEST(NpuWeightOrder, DepthwiseOnU85Alternates) {
  // 2x3, 1x2 micro-blocks of eight: six elements, the second row reversed, padded to ten.
  Ints stream;
  for (const uint32_t x : {0U, 1U, 2U}) {
    for (uint32_t o = 0; o < 8; ++o) stream.push_back(mark(o, 0, x, 0));
  }
  for (const uint32_t x : {2U, 1U, 0U}) {
    for (uint32_t o = 0; o < 8; ++o) stream.push_back(mark(o, 1, x, 0));
  }
  pad(&stream, 4 * 8);
  KernelOperation operation = convolution(8, 2, 3, 8, 16);
  operation.code = Operation::DEPTHWISE;
  operation.microblock = Microblock::k1x2;
  expect_marks("ethos-u85-128", operation, {plain_stream(stream)});
}

TEST(NpuWeightOrder, FourCoresOnU85HaveFourChannelsEach) {
  // Two blocks of 16 channels, 65 inputs: the second block has its input blocks reversed.
  std::vector<std::vector<uint8_t>> streams;
  for (uint32_t core = 0; core < 4; ++core) {
    Ints stream;
    for (uint32_t block = 0; block < 2; ++block) {
      for (uint32_t turn = 0; turn < 2; ++turn) {
        const uint32_t in = block == turn ? 0 : 64;
        for (uint32_t step = 0; step < 64; step += 8) {
          for (uint32_t o = 0; o < 4; ++o) {
            for (uint32_t i = in + step; i < in + step + 8; ++i) {
              stream.push_back(i < 65 ? mark(block * 16 + core * 4 + o, 0, 0, i) : 0);
            }
          }
        }
      }
    }
    streams.push_back(plain_stream(stream));
  }
  KernelOperation operation = convolution(32, 1, 1, 65, 16);
  operation.microblock = Microblock::k2x4;
  expect_marks("ethos-u85-1024", operation, streams);
}

TEST(NpuWeightOrder, PaddingMustBeZero) {
  Ints stream(8 * 32, 0);
  stream[8] = 1;  // weight of channel 1; the operation has one channel
  const std::vector<uint8_t> bytes = plain_stream(stream);
  const Bytes view = {bytes.data(), bytes.size()};
  const KernelOperation operation = convolution(1, 1, 1, 8, 16);
  WeightDecoder decoder;
  int16_t dense[8];
  ASSERT_EQ(decoder.begin(*find_config("ethos-u55-128"), operation, &view), WeightStatus::kOk);
  EXPECT_EQ(decoder.next(dense, 7), WeightStatus::kCapacity);
  EXPECT_EQ(decoder.next(dense, 8), WeightStatus::kBadPadding);
}

TEST(NpuWeightOrder, OperationsWithoutWeights) {
  const Config& u55 = *find_config("ethos-u55-128");
  const Config& u85 = *find_config("ethos-u85-512");
  const Bytes none;
  WeightDecoder decoder;
  KernelOperation operation = convolution(8, 1, 1, 8, 16);
  operation.code = Operation::POOL;
  EXPECT_EQ(decoder.begin(u55, operation, &none), WeightStatus::kBadOperation);
  operation = convolution(8, 1, 1, 8, 16);
  EXPECT_EQ(decoder.begin(u85, operation, &none), WeightStatus::kBadOperation);  // 1x1
  operation.cores = 2;
  EXPECT_EQ(decoder.begin(u55, operation, &none), WeightStatus::kBadOperation);
  operation.cores = 1;
  operation.kernel.dilation_x = 3;
  EXPECT_EQ(decoder.begin(u55, operation, &none), WeightStatus::kBadOperation);
}

TEST(NpuWeights, SparseGroupsAreChecked) {
  const Config& config = *find_config("ethos-u85-128");
  KernelOperation operation = convolution(8, 1, 1, 16, 16);
  operation.microblock = Microblock::k1x2;
  operation.kernel.part_kernel_first = true;
  operation.sparse = true;
  int16_t dense[8 * 16];
  for (const bool good : {true, false}) {
    Ints stream;
    for (int i = 0; i < 8 * 16; ++i) stream.push_back(i % 4 < (good || i < 60 ? 2 : 3) ? 100 : 0);
    pad(&stream, 9 * 8 * 16);
    const std::vector<uint8_t> bytes = plain_stream(stream);
    const Bytes view = {bytes.data(), bytes.size()};
    WeightDecoder decoder;
    ASSERT_EQ(decoder.begin(config, operation, &view), WeightStatus::kOk);
    EXPECT_EQ(decoder.next(dense, 8 * 16), good ? WeightStatus::kOk : WeightStatus::kNotSparse);
  }
}

TEST(NpuWeights, FastFormats) {
  std::vector<uint8_t> bytes(64, 0);
  Bytes view = {bytes.data(), bytes.size()};
  int32_t weight = 0;
  FwdStream stream;
  bytes[0] = 2;                                  // four values
  bytes[14] = static_cast<uint8_t>(5 << 1 | 1);  // -5; nine bits from bit 112
  bytes[15] = static_cast<uint8_t>((200 << 1 & 0x7F) << 1);
  bytes[16] = static_cast<uint8_t>((200 << 1) >> 7);
  bytes[32] = 0b01'00'01'00;
  ASSERT_EQ(stream.begin(view, 0, 1, 1), WeightStatus::kOk);
  for (const int expected : {-5, 200, -5, 200}) {
    ASSERT_EQ(stream.next(&weight), WeightStatus::kOk);
    EXPECT_EQ(weight, expected);
  }
  bytes[0] = 1;      // raw
  bytes[13] = 0xF6;  // offset of -10
  bytes[32] = 0x7F;
  bytes[33] = 0x80;
  ASSERT_EQ(stream.begin(view, 0, 1, 1), WeightStatus::kOk);
  ASSERT_EQ(stream.next(&weight), WeightStatus::kOk);
  EXPECT_EQ(weight, 137);
  ASSERT_EQ(stream.next(&weight), WeightStatus::kOk);
  EXPECT_EQ(weight, -118);
  // Two cores, pieces of three bytes: the second core's weights are bytes 3, 4, 5, 9, ...
  for (uint8_t i = 0; i < 32; ++i) bytes[32U + i] = i;
  ASSERT_EQ(stream.begin(view, 1, 2, 3), WeightStatus::kOk);
  for (const int expected : {3, 4, 5, 9, 10, 11, 15}) {
    ASSERT_EQ(stream.next(&weight), WeightStatus::kOk);
    EXPECT_EQ(weight, expected + 10);
  }
  bytes[0] = 3;
  EXPECT_EQ(stream.begin(view, 0, 1, 1), WeightStatus::kBadSlice);
  bytes[0] = 5;
  EXPECT_EQ(stream.begin(view, 0, 1, 1), WeightStatus::kBadSlice);
  view.size = 31;
  EXPECT_EQ(stream.begin(view, 0, 1, 1), WeightStatus::kTruncated);
  view.size = 32;
  bytes[0] = 0;
  ASSERT_EQ(stream.begin(view, 0, 1, 1), WeightStatus::kOk);
  EXPECT_EQ(stream.next(&weight), WeightStatus::kTruncated);
}

TEST(NpuWeights, ScaleRecords) {
  const uint8_t record[20] = {0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
                              0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x02, 0x03, 0x84, 0xC5};
  Bytes views[2] = {{record, 20}, {record, 20}};
  KernelOperation operation = convolution(8, 1, 1, 8, 16);
  ScaleRecord scale;
  ASSERT_EQ(scale_record(*find_config("ethos-u55-32"), operation, views, 1, &scale),
            WeightStatus::kOk);
  EXPECT_EQ(scale.bias, -2);
  EXPECT_EQ(scale.multiplier, 0x84030201U);
  EXPECT_EQ(scale.shift, 5);
  EXPECT_EQ(scale_record(*find_config("ethos-u55-32"), operation, views, 2, &scale),
            WeightStatus::kTruncated);
  const Config& u85 = *find_config("ethos-u85-2048");
  ASSERT_EQ(scale_record(u85, operation, views, 1, &scale), WeightStatus::kOk);
  EXPECT_EQ(scale.bias, -2);
  EXPECT_EQ(scale.multiplier, 0x030201FFU);
  EXPECT_EQ(scale.shift, 4);
  operation.accumulator = 1;
  ASSERT_EQ(scale_record(u85, operation, views, 1, &scale), WeightStatus::kOk);
  EXPECT_EQ(scale.bias, 0x01FFFFFFFFFE);
  EXPECT_EQ(scale.multiplier, 0x0302U);
  operation.cores = 2;
  ASSERT_EQ(scale_record(*find_config("ethos-u65-512"), operation, views, 3, &scale),
            WeightStatus::kOk);
  EXPECT_EQ(scale.bias, -2);
}

/// Random bytes and damaged streams, in memory of exactly their size, so that a sanitizer detects
/// any access after the end.
TEST(NpuWeights, AnyBytesAreSafe) {
  std::mt19937 random(21);
  const KernelOperation plain = convolution(24, 3, 3, 40, 16);
  for (int round = 0; round < 4000; ++round) {
    const auto number = [&random](uint32_t low, uint32_t high) {
      return low + static_cast<uint32_t>(random()) % (high - low + 1);
    };
    const Config& config = kConfigs[number(0, std::size(kConfigs) - 1)];
    KernelOperation operation = plain;
    operation.code = number(0, 2) == 0 ? Operation::DEPTHWISE : Operation::CONV;
    operation.ofm.depth = number(1, 60);
    operation.ifm.depth = number(1, 60);
    operation.ifm.bits = number(0, 1) == 0 ? 8 : 16;
    operation.kernel.part_kernel_first = number(0, 1) != 0;
    operation.microblock = static_cast<Microblock>(number(0, 7));
    operation.cores = static_cast<uint8_t>(number(0, 4));
    operation.fast_weights = number(0, 3) == 0;
    operation.sparse = number(0, 3) == 0;
    operation.block_depth = number(0, 40);
    Bytes views[4];
    std::unique_ptr<uint8_t[]> memory[4];
    for (int i = 0; i < 4; ++i) {
      const uint32_t size = number(0, 300);
      memory[i] = std::make_unique<uint8_t[]>(size);
      const uint32_t zeros = number(0, 2);
      for (uint32_t j = 0; j < size; ++j) {
        memory[i][j] = static_cast<uint8_t>(number(0, 255) & (zeros == 0 ? 255U : number(0, 255)));
      }
      if (size > 1 && number(0, 1) == 0) memory[i][0] = memory[i][1] = 0;  // gives a long slice
      views[i] = {memory[i].get(), size};
    }
    WeightDecoder decoder;
    if (decoder.begin(config, operation, views) != WeightStatus::kOk) continue;
    std::vector<int16_t> dense(block_elements(operation) + 1, 1234);
    WeightStatus status = WeightStatus::kOk;
    while (status == WeightStatus::kOk && decoder.channel() < operation.ofm.depth) {
      status = decoder.next(dense.data(), dense.size() - 1);
    }
    ASSERT_EQ(dense.back(), 1234);
    if (status == WeightStatus::kOk) status = decoder.finish();
    EXPECT_STRNE(to_text(status), "");
  }
}

TEST(NpuWeights, LongRunsAndManyIndicesAreBounded) {
  // Slices that declare 32,768 indices of two bits and contain fifteen.
  Bits bits;
  for (int i = 0; i < 16; ++i) bits.header(6, 32768, 7, 0, 1).palette(0, {}, 2).put(0, 30);
  EXPECT_EQ(decode(bits.end(), 1U << 20).status, WeightStatus::kTruncated);
  Bits ones;  // a run of zeros without an end
  ones.header(3, 1, 0, 0, 1).palette(2, {}, 2).put(0, 12);
  for (int i = 0; i < 1000; ++i) ones.put(0xFF, 8);
  EXPECT_EQ(decode(ones.end(), 10).status, WeightStatus::kTruncated);
}

TEST(NpuWeights, StatusTextsAreDistinct) {
  std::vector<std::string> texts;
  for (int i = 0; i <= static_cast<int>(WeightStatus::kCapacity); ++i) {
    texts.emplace_back(to_text(static_cast<WeightStatus>(i)));
    for (size_t j = 0; j + 1 < texts.size(); ++j) EXPECT_NE(texts[j], texts.back());
  }
}

}  // namespace
}  // namespace thimble::ethos_u::sim
