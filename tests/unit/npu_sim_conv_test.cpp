// SPDX-License-Identifier: Apache-2.0
// CONV and DEPTHWISE. The test encodes weights itself (uncompressed slices, one after another), in
// the order in which the multipliers read them, and compares results with the plain definition. The
// fast paths are compared with the general ones.

#include <algorithm>
#include <array>
#include <random>

#include "npu_stream.h"

namespace thimble::ethos_u::test {
namespace {

struct Layer {
  const char* name;
  const Config* config;
  Map in, out;
  uint32_t kernel_h = 1, kernel_w = 1, stride = 1, dilation = 1, pad = 0;
  bool depthwise = false, part_kernel = false, wide = false;
  uint32_t block_depth = 16;
  uint32_t upscale = 0;
};

struct Weights {
  Values values;  // [out][h][w][in]
  Values bias;
  std::vector<uint32_t> multiplier;
  std::vector<uint32_t> shift;
};

/// A bit stream, lowest bit first.
class Bits {
 public:
  std::vector<uint8_t> bytes;
  void put(uint32_t value, uint32_t width) {
    for (uint32_t i = 0; i < width; ++i, ++count_) {
      if (count_ % 8 == 0) bytes.push_back(0);
      bytes.back() = static_cast<uint8_t>(bytes.back() | (value >> i & 1) << count_ % 8);
    }
  }

 private:
  uint32_t count_ = 0;
};

/// Writes slices without palette, zero runs or Golomb codes: nine bits per weight.
std::vector<uint8_t> encode(const Values& order) {
  Bits bits;
  for (size_t at = 0; at < order.size();) {
    const size_t n = std::min<size_t>(order.size() - at, 32768);
    bits.put(6, 3);                              // no zero runs
    bits.put(static_cast<uint32_t>(n - 1), 15);  // number of symbols
    bits.put(7, 3);                              // uncompressed
    bits.put(0, 1);
    bits.put(1, 1);  // new palette: no entries, 9 bits
    bits.put(0, 5);
    bits.put(0, 5);
    bits.put(7, 3);
    for (size_t i = 0; i < n; ++i, ++at) {
      const int64_t w = order[at];
      bits.put(static_cast<uint32_t>(std::abs(w)) << 1 | (w < 0 ? 1U : 0U), 9);
    }
  }
  bits.put(7, 3);  // end of stream
  while (bits.bytes.size() % 16 != 0) bits.bytes.push_back(0xFF);
  return bits.bytes;
}

uint32_t round_up(uint32_t value, uint32_t to) {
  return (value + to - 1) / to * to;
}

/// Returns the weight order of U55 and U65 for core `core` of `cores`.
Values order556(const Layer& layer, const Weights& weights, uint32_t core, uint32_t cores) {
  Values order;
  const uint32_t block = layer.config->macs == 32 ? 4 : 8;
  const uint32_t depth = layer.depthwise ? 1 : layer.in.c;
  const bool wide_in = layer.in.bits == 16;
  const uint32_t of_channels = layer.part_kernel || wide_in ? 16 : 32;
  for (uint32_t oz = 0; oz < layer.out.c; oz += layer.block_depth) {
    const uint32_t all = std::min(layer.block_depth, layer.out.c - oz);
    const uint32_t own = (all + cores - 1 - core) / cores;
    for (uint32_t iz = 0; iz < depth; iz += of_channels) {
      for (uint32_t sy = 0; sy < layer.kernel_h; sy += 8 / layer.dilation) {
        for (uint32_t sx = 0; sx < layer.kernel_w; sx += 8 / layer.dilation) {
          const uint32_t sh = std::min(8 / layer.dilation, layer.kernel_h - sy);
          const uint32_t sw = std::min(8 / layer.dilation, layer.kernel_w - sx);
          const uint32_t step = layer.depthwise ? 4 : !layer.part_kernel ? 1 : wide_in ? 2 : 4;
          const uint32_t taps = round_up(sh * sw, step);
          const uint32_t inner =
              layer.part_kernel ? std::min(of_channels, round_up(depth - iz, 8)) : 8;
          for (uint32_t io = 0; io < inner; io += 8) {
            for (uint32_t ob = 0; ob < own; ob += block) {
              for (uint32_t tap = 0; tap < taps; ++tap) {
                const uint32_t last = layer.part_kernel || layer.depthwise ? 8 : of_channels;
                for (uint32_t ii = 0; ii < last; ii += 8) {
                  for (uint32_t zo = 0; zo < block; ++zo) {
                    for (uint32_t zi = 0; zi < (layer.depthwise ? 1U : 8U); ++zi) {
                      const uint32_t o = oz + (ob + zo) * cores + core, c = iz + io + ii + zi;
                      const bool real = ob + zo < own && c < depth && tap < sh * sw;
                      const uint32_t y = sy + tap / sw, x = sx + tap % sw;
                      order.push_back(
                          real ? weights.values[((o * layer.kernel_h + y) * layer.kernel_w + x) *
                                                    depth +
                                                c]
                               : 0);
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  return order;
}

std::vector<uint8_t> records(const Layer& layer, const Weights& weights, uint32_t core,
                             uint32_t cores) {
  std::vector<uint8_t> bytes;
  for (uint32_t o = core; o < layer.out.c; o += cores) {
    for (uint32_t i = 0; i < 5; ++i) {
      bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(weights.bias[o]) >> 8 * i));
    }
    for (uint32_t i = 0; i < 4; ++i) {
      bytes.push_back(static_cast<uint8_t>(weights.multiplier[o] >> 8 * i));
    }
    bytes.push_back(static_cast<uint8_t>(weights.shift[o]));
  }
  bytes.resize(round_up(static_cast<uint32_t>(bytes.size()), 16));
  return bytes;
}

Weights random_weights(const Layer& layer, std::mt19937& random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  Weights weights;
  const uint32_t each = layer.kernel_h * layer.kernel_w * (layer.depthwise ? 1 : layer.in.c);
  for (uint32_t i = 0; i < each * layer.out.c; ++i) {
    weights.values.push_back(static_cast<int64_t>(random() % 511) - 255);
  }
  for (uint32_t o = 0; o < layer.out.c; ++o) {
    weights.bias.push_back(static_cast<int64_t>(random() % 20001) - 10000);
    weights.multiplier.push_back(layer.wide ? 20000 + below(10000) : (1U << 30) + below(1U << 30));
    weights.shift.push_back((layer.wide ? 22 : 39) + below(2));
  }
  return weights;
}

int64_t scaled(const Layer& layer, int64_t value, uint32_t multiplier, uint32_t shift) {
  const __int128 product = static_cast<__int128>(value) * multiplier;
  if (layer.wide) return static_cast<int64_t>((product + (__int128{1} << (shift - 1))) >> shift);
  const auto high = static_cast<int64_t>((product + (1 << 30)) >> 31);
  const int64_t half = int64_t{1} << (shift - 32);
  const uint32_t rest = shift - 31;
  return high < 0 ? -((-high + half) >> rest) : (high + half) >> rest;
}

int64_t expected(const Layer& layer, const Weights& weights, const Values& input, uint32_t y,
                 uint32_t x, uint32_t o) {
  const uint32_t depth = layer.depthwise ? 1 : layer.in.c;
  const int64_t factor = layer.upscale == 0 ? 1 : 2;
  int64_t sum = weights.bias[o];
  for (uint32_t ky = 0; ky < layer.kernel_h; ++ky) {
    for (uint32_t kx = 0; kx < layer.kernel_w; ++kx) {
      const int64_t fy = int64_t{y} * layer.stride + int64_t{ky} * layer.dilation - layer.pad;
      const int64_t fx = int64_t{x} * layer.stride + int64_t{kx} * layer.dilation - layer.pad;
      if (fy < 0 || fx < 0 || fy >= layer.in.h * factor || fx >= layer.in.w * factor) continue;
      if (layer.upscale == 2 && (fy % 2 != 0 || fx % 2 != 0)) continue;
      for (uint32_t c = 0; c < depth; ++c) {
        const int64_t at =
            ((fy / factor) * layer.in.w + fx / factor) * layer.in.c + (layer.depthwise ? o : c);
        sum += (input[static_cast<size_t>(at)] - layer.in.zero) *
               weights.values[((o * layer.kernel_h + ky) * layer.kernel_w + kx) * depth + c];
      }
    }
  }
  const int64_t value = scaled(layer, sum, weights.multiplier[o], weights.shift[o]);
  const int64_t low = layer.out.is_signed ? -(1 << (layer.out.bits - 1)) : 0;
  return std::clamp(value + layer.out.zero, low, low + (1 << layer.out.bits) - 1);
}

Stream stream_of(const Layer& layer, const std::array<uint32_t, 4>& lengths) {
  Stream s;
  s.ifm(layer.in).ofm(layer.out, layer.wide ? 2U << 14 : 0);
  const uint32_t bit = layer.stride - 1;
  s.window((layer.kernel_h - 1) * layer.dilation + 1, (layer.kernel_w - 1) * layer.dilation + 1,
           bit | bit << 1 | (layer.part_kernel ? 4U : 0U) | (layer.dilation == 2 ? 3U << 3 : 0U));
  const uint32_t factor = layer.upscale == 0 ? 1 : 2;
  const auto after = [&](uint32_t size, uint32_t from, uint32_t kernel) {
    return (size - 1) * layer.stride + (kernel - 1) * layer.dilation + 1 - layer.pad -
           from * factor;
  };
  s.pads(layer.pad, layer.pad, after(layer.out.h, layer.in.h, layer.kernel_h),
         after(layer.out.w, layer.in.w, layer.kernel_w));
  s.set(Reg0::IFM_UPSCALE, layer.upscale).set(Reg0::OFM_BLK_DEPTH_M1, layer.block_depth - 1);
  s.set(Reg0::ACC_FORMAT, layer.wide ? 1 : 0);
  s.set(Reg1::SCALE_BASE, 0).set(Reg1::SCALE_LENGTH, lengths[0]);
  s.set(Reg1::WEIGHT_BASE, 4096).set(Reg1::WEIGHT_LENGTH, lengths[1]);
  if (layer.config->cores == 2) {
    s.set(Reg0::PARALLEL_MODE, 1);
    s.set(Reg1::SCALE1_BASE, 2048).set(Reg1::SCALE1_LENGTH, lengths[2]);
    s.set(Reg1::WEIGHT1_BASE, 4096 + 65536).set(Reg1::WEIGHT1_LENGTH, lengths[3]);
  }
  return s.op(layer.depthwise ? Operation::DEPTHWISE : Operation::CONV).stop();
}

void check(const Layer& layer) {
  std::mt19937 random(static_cast<uint32_t>(layer.in.c * 7 + layer.out.c));
  const Weights weights = random_weights(layer, random);
  Machine machine(*layer.config, 16384, 4096 + 131072);
  for (uint8_t& byte : machine.arena) byte = static_cast<uint8_t>(random());
  std::array<uint32_t, 4> lengths = {};
  for (uint32_t core = 0; core < layer.config->cores; ++core) {
    const std::vector<uint8_t> scale = records(layer, weights, core, layer.config->cores);
    const std::vector<uint8_t> coded = encode(order556(layer, weights, core, layer.config->cores));
    ASSERT_LE(scale.size(), 2048U);
    ASSERT_LE(coded.size(), 65536U);
    std::copy(scale.begin(), scale.end(), machine.constants.begin() + core * 2048);
    std::copy(coded.begin(), coded.end(), machine.constants.begin() + 4096 + core * 65536);
    lengths[core * 2] = static_cast<uint32_t>(scale.size());
    lengths[core * 2 + 1] = static_cast<uint32_t>(coded.size());
  }
  const Values input = machine.values(layer.in);
  const Stream stream = stream_of(layer, lengths);
  machine.expect_run_ok(stream);
  const Values fast = machine.values(layer.out);
  for (uint32_t i = 0; i < fast.size(); ++i) {
    const uint32_t o = i % layer.out.c, x = i / layer.out.c % layer.out.w;
    ASSERT_EQ(fast[i], expected(layer, weights, input, i / layer.out.c / layer.out.w, x, o))
        << layer.name << " element " << i;
  }
  machine.slow = true;
  machine.expect_run_ok(stream);
  EXPECT_EQ(machine.values(layer.out), fast) << layer.name;
}

Map map(uint32_t h, uint32_t w, uint32_t c, int32_t zero, uint64_t base = 0) {
  return {.h = h, .w = w, .c = c, .base = base, .zero = zero};
}

TEST(SimConv, LayersOfU55AndU65) {
  const Config* parts[] = {&config("ethos-u55-32"), &u55(), &config("ethos-u65-256"), &u65()};
  for (const Config* part : parts) {
    check({.name = "1x1", .config = part, .in = map(3, 4, 37, -3), .out = map(3, 4, 21, 5, 8192)});
    check({.name = "3x3",
           .config = part,
           .in = map(5, 6, 9, -128),
           .out = map(5, 6, 40, 0, 8192),
           .kernel_h = 3,
           .kernel_w = 3,
           .pad = 1,
           .block_depth = 24});
    check({.name = "part-kernel, stride 2",
           .config = part,
           .in = map(7, 8, 3, 4),
           .out = map(4, 4, 18, -9, 8192),
           .kernel_h = 3,
           .kernel_w = 3,
           .stride = 2,
           .pad = 1,
           .part_kernel = true});
    check({.name = "dilated",
           .config = part,
           .in = map(7, 7, 5, 0),
           .out = map(7, 7, 9, 0, 8192),
           .kernel_h = 3,
           .kernel_w = 3,
           .dilation = 2,
           .pad = 2});
    check({.name = "9x1",
           .config = part,
           .in = map(12, 3, 4, 1),
           .out = map(4, 3, 8, 0, 8192),
           .kernel_h = 9,
           .part_kernel = true});
    check({.name = "depthwise",
           .config = part,
           .in = map(6, 5, 37, 7),
           .out = map(6, 5, 37, -7, 8192),
           .kernel_h = 3,
           .kernel_w = 3,
           .pad = 1,
           .depthwise = true});
    check({.name = "transposed",
           .config = part,
           .in = map(3, 3, 6, 2),
           .out = map(6, 6, 7, 0, 8192),
           .kernel_h = 3,
           .kernel_w = 3,
           .pad = 1,
           .upscale = 2});
  }
}

TEST(SimConv, SixteenBitsWithWideAccumulators) {
  Map in = map(4, 4, 20, 0), out = map(4, 4, 12, 0, 8192);
  in.bits = out.bits = 16;
  for (const Config* part : {&u55(), &u65()}) {
    check({.name = "int16",
           .config = part,
           .in = in,
           .out = out,
           .kernel_h = 3,
           .kernel_w = 3,
           .pad = 1,
           .wide = true});
  }
}

TEST(SimConv, UnsignedAndBricks) {
  Map in = map(4, 5, 37, 121), out = map(4, 5, 20, 130, 8192);
  in.is_signed = out.is_signed = false;
  check({.name = "uint8", .config = &u55(), .in = in, .out = out});
  in.bricks = out.bricks = true;
  check({.name = "bricks",
         .config = &u55(),
         .in = in,
         .out = out,
         .kernel_h = 3,
         .kernel_w = 3,
         .pad = 1});
}

TEST(SimConv, FeatureMapsAsWeights) {
  const Map in{.h = 1, .w = 3, .c = 70, .zero = 2},
      rows{.h = 1, .w = 9, .c = 70, .base = 512, .zero = -4};
  const Map out{.h = 1, .w = 3, .c = 9, .bits = 32, .base = 2048};
  Machine machine(u85());
  const Values a = machine.values(in), b = machine.values(rows);
  Stream s;
  s.ifm(in).ifm2(rows).ofm(out).scale(1, 0).window(1, 1).set(Reg0::ACTIVATION, 1U << 12);
  machine.expect_run_ok(s.op(Operation::CONV, 1).stop());
  for (uint32_t i = 0; i < 27; ++i) {
    int64_t sum = 0;
    for (uint32_t c = 0; c < 70; ++c) sum += (a[i / 9 * 70 + c] - 2) * (b[i % 9 * 70 + c] + 4);
    EXPECT_EQ(machine.get(out, 0, i / 9, i % 9), sum);
  }
}

}  // namespace
}  // namespace thimble::ethos_u::test
