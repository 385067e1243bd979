// SPDX-License-Identifier: Apache-2.0
#pragma once
// Hand-written streams for the tests of the simulator: registers by name, feature maps as NHWC or
// bricks (NHCWB16), memory with guard bytes around it.

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "engines/ethos_u/sim/machine.h"

namespace thimble::ethos_u::test {

inline const Config& config(const char* name) {
  const Config* found = find_config(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}
inline const Config& u55() {
  return config("ethos-u55-128");
}
inline const Config& u65() {
  return config("ethos-u65-512");
}
inline const Config& u85() {
  return config("ethos-u85-256");
}

/// A feature map. A stride of 0 is replaced by the stride of a dense map.
struct Map {
  uint32_t h = 1, w = 1, c = 1;
  uint32_t bits = 8;
  bool is_signed = true;
  uint64_t base = 0;
  int32_t zero = 0;
  bool bricks = false;
  int64_t stride_y = 0, stride_x = 0;
  uint32_t storage = 0;  // U85 only
  uint32_t region = 1;

  [[nodiscard]] uint32_t elem() const { return bits / 8; }
  [[nodiscard]] int64_t x_stride() const {
    return stride_x != 0 ? stride_x : int64_t{bricks ? 16 : c} * elem();
  }
  [[nodiscard]] int64_t y_stride() const {
    if (stride_y != 0) return stride_y;
    return bricks ? int64_t{(c + 15) / 16} * w * 16 * elem() : x_stride() * w;
  }
  [[nodiscard]] uint32_t precision_log() const {
    return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
  }
  [[nodiscard]] uint64_t at(uint32_t y, uint32_t x, uint32_t channel) const {
    int64_t offset = y * y_stride() + x * x_stride();
    if (bricks) {
      offset += int64_t{channel / 16} * w * 16 * elem() + int64_t{channel % 16} * elem();
    } else {
      offset += int64_t{channel} * elem();
    }
    return base + static_cast<uint64_t>(offset);
  }
};

class Stream {
 public:
  std::vector<uint32_t> words;

  Stream& set(Reg0 code, uint32_t value) {
    words.push_back(word0(static_cast<uint16_t>(code), value));
    return *this;
  }
  Stream& set(Reg1 code, int64_t value) {
    words.push_back(word1(static_cast<uint16_t>(code), static_cast<uint32_t>(value >> 32 & 0xFF)));
    words.push_back(static_cast<uint32_t>(value));
    return *this;
  }
  Stream& pair(Reg1 code, uint32_t parameter, uint32_t payload) {
    words.push_back(word1(static_cast<uint16_t>(code), parameter));
    words.push_back(payload);
    return *this;
  }
  Stream& op(Operation code, uint32_t parameter = 0) {
    words.push_back(word0(static_cast<uint16_t>(code), parameter));
    return *this;
  }
  Stream& op(Operation code, PoolMode mode) { return op(code, static_cast<uint32_t>(mode)); }
  Stream& op(Operation code, ElementwiseMode mode) { return op(code, static_cast<uint32_t>(mode)); }
  Stream& stop() { return op(Operation::STOP, 0xFFFF); }

  Stream& ifm(const Map& map, uint32_t more_precision = 0) {
    tiles(map, Reg0::IFM_WIDTH0_M1, Reg0::IFM_HEIGHT0_M1, Reg0::IFM_HEIGHT1_M1);
    bases(map, Reg1::IFM_BASE0, Reg1::IFM_STRIDE_X, Reg1::IFM_STRIDE_Y, Reg1::IFM_STRIDE_C);
    return set(Reg0::IFM_REGION, map.region)
        .set(Reg0::IFM_DEPTH_M1, map.c - 1)
        .set(Reg0::IFM_ZERO_POINT, static_cast<uint32_t>(map.zero))
        .set(Reg0::IFM_PRECISION, precision(map, 2) | more_precision);
  }
  Stream& ifm2(const Map& map) {
    tiles(map, Reg0::IFM2_WIDTH0_M1, Reg0::IFM2_HEIGHT0_M1, Reg0::IFM2_HEIGHT1_M1);
    bases(map, Reg1::IFM2_BASE0, Reg1::IFM2_STRIDE_X, Reg1::IFM2_STRIDE_Y, Reg1::IFM2_STRIDE_C);
    return set(Reg0::IFM2_REGION, map.region)
        .set(Reg0::IFM2_ZERO_POINT, static_cast<uint32_t>(map.zero))
        .set(Reg0::IFM2_PRECISION, precision(map, 2));
  }
  /// `sizes`: dimensions of the operation; those of the map unless it is transposed.
  Stream& ofm(const Map& map, uint32_t more_precision = 1U << 8) {
    tiles(map, Reg0::OFM_WIDTH0_M1, Reg0::OFM_HEIGHT0_M1, Reg0::OFM_HEIGHT1_M1);
    bases(map, Reg1::OFM_BASE0, Reg1::OFM_STRIDE_X, Reg1::OFM_STRIDE_Y, Reg1::OFM_STRIDE_C);
    ofm_size(map.h, map.w, map.c);
    const int64_t low = map.bits > 16 ? -32768 : map.is_signed ? -(1 << (map.bits - 1)) : 0;
    const int64_t high = map.bits > 16 ? 32767 : (1 << (map.bits - (map.is_signed ? 1 : 0))) - 1;
    return set(Reg0::OFM_REGION, map.region)
        .set(Reg0::OFM_ZERO_POINT, static_cast<uint32_t>(map.zero))
        .set(Reg0::OFM_PRECISION, precision(map, 1) | more_precision)
        .set(Reg0::ACTIVATION, 0)
        .set(Reg0::ACTIVATION_MIN, static_cast<uint32_t>(low) & 0xFFFF)
        .set(Reg0::ACTIVATION_MAX, static_cast<uint32_t>(high) & 0xFFFF);
  }
  Stream& ofm_size(uint32_t h, uint32_t w, uint32_t c) {
    return set(Reg0::OFM_HEIGHT_M1, h - 1)
        .set(Reg0::OFM_WIDTH_M1, w - 1)
        .set(Reg0::OFM_DEPTH_M1, c - 1);
  }
  Stream& scale(uint32_t multiplier, uint32_t shift, uint32_t more = 0) {
    return pair(Reg1::OFM_SCALE, shift | more, multiplier);
  }
  Stream& window(uint32_t h, uint32_t w, uint32_t stride_bits = 0) {
    return set(Reg0::KERNEL_HEIGHT_M1, h - 1)
        .set(Reg0::KERNEL_WIDTH_M1, w - 1)
        .set(Reg0::KERNEL_STRIDE, stride_bits);
  }
  Stream& pads(uint32_t top, uint32_t left, uint32_t bottom, uint32_t right) {
    return set(Reg0::IFM_PAD_TOP, top)
        .set(Reg0::IFM_PAD_LEFT, left)
        .set(Reg0::IFM_PAD_BOTTOM, bottom)
        .set(Reg0::IFM_PAD_RIGHT, right);
  }

 private:
  static uint32_t precision(const Map& map, uint32_t at) {
    return (map.is_signed ? 1U : 0U) | map.precision_log() << at | (map.bricks ? 1U : 0U) << 6 |
           map.storage << 14;
  }
  void tiles(const Map& map, Reg0 width0, Reg0 height0, Reg0 height1) {
    set(width0, map.w - 1).set(height0, map.h - 1).set(height1, map.h - 1);
  }
  void bases(const Map& map, Reg1 base, Reg1 x, Reg1 y, Reg1 c) {
    set(base, static_cast<int64_t>(map.base)).set(x, map.x_stride()).set(y, map.y_stride());
    set(c, map.bricks ? int64_t{map.w} * 16 * map.elem() : map.elem());
  }
};

/// Two regions: 0 is read-only, 1 is the arena. Guard bytes around both must not change.
class Machine {
 public:
  static constexpr size_t kGuard = 64;
  const Config* config;
  std::vector<uint8_t> constants, arena;
  bool slow = false;
  size_t workspace_limit = SIZE_MAX;
  uint64_t max_cost = uint64_t{1} << 32;
  uint64_t max_repeat_cost = 1000;

  explicit Machine(const Config& of, size_t arena_bytes = 4096, size_t constant_bytes = 4096)
      : config(&of), constants(constant_bytes), arena(arena_bytes) {
    for (size_t i = 0; i < arena.size(); ++i) arena[i] = static_cast<uint8_t>(i * 37 + 11);
  }

  sim::Fault run(const Stream& stream) {
    sim::Job job;
    job.config = config;
    job.words = stream.words.data();
    job.word_count = static_cast<uint32_t>(stream.words.size());
    job.slow = slow;
    job.max_cost = max_cost;
    job.max_repeat_cost = max_repeat_cost;
    std::vector<uint8_t> guarded[2] = {guard(constants), guard(arena)};
    job.regions[0] = {guarded[0].data() + kGuard, constants.size(), true};
    job.regions[1] = {guarded[1].data() + kGuard, arena.size(), false};
    size_t bytes = 0;
    sim::Fault fault = sim::workspace_bytes(*config, job.words, job.word_count, &bytes);
    if (!fault.none()) return fault;
    if (bytes > workspace_limit) bytes = workspace_limit;
    std::vector<uint8_t> workspace(bytes);
    job.workspace = workspace.data();
    job.workspace_bytes = bytes;
    fault = sim::run(job);
    check(guarded[0], constants);
    check(guarded[1], arena);
    EXPECT_EQ(std::memcmp(guarded[0].data() + kGuard, constants.data(), constants.size()), 0)
        << "constants changed";
    std::memcpy(arena.data(), guarded[1].data() + kGuard, arena.size());
    return fault;
  }
  void expect_run_ok(const Stream& stream) {
    const sim::Fault fault = run(stream);
    EXPECT_TRUE(fault.none()) << "word " << fault.word << ": " << fault.detail;
  }

  void put(const Map& map, uint32_t y, uint32_t x, uint32_t c, int64_t value) {
    std::memcpy(arena.data() + map.at(y, x, c), &value, map.elem());
  }
  [[nodiscard]] int64_t get(const Map& map, uint32_t y, uint32_t x, uint32_t c) const {
    int64_t value = 0;
    std::memcpy(&value, arena.data() + map.at(y, x, c), map.elem());
    const uint32_t spare = 64 - map.bits;
    if (map.is_signed) return static_cast<int64_t>(static_cast<uint64_t>(value) << spare) >> spare;
    return value;
  }
  /// Writes all elements of a feature map, in the order H, W, C.
  void fill(const Map& map, const std::vector<int64_t>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      const auto n = static_cast<uint32_t>(i);
      put(map, n / map.c / map.w, n / map.c % map.w, n % map.c, values[i]);
    }
  }
  [[nodiscard]] std::vector<int64_t> values(const Map& map) const {
    std::vector<int64_t> all;
    for (uint32_t i = 0; i < map.h * map.w * map.c; ++i) {
      all.push_back(get(map, i / map.c / map.w, i / map.c % map.w, i % map.c));
    }
    return all;
  }

 private:
  static std::vector<uint8_t> guard(const std::vector<uint8_t>& bytes) {
    std::vector<uint8_t> all(bytes.size() + 2 * kGuard, 0xEE);
    std::memcpy(all.data() + kGuard, bytes.data(), bytes.size());
    return all;
  }
  static void check(const std::vector<uint8_t>& guarded, const std::vector<uint8_t>& bytes) {
    for (size_t i = 0; i < kGuard; ++i) {
      ASSERT_EQ(guarded[i], 0xEE) << "a byte before the region changed";
      ASSERT_EQ(guarded[kGuard + bytes.size() + i], 0xEE) << "a byte behind the region changed";
    }
  }
};

using Values = std::vector<int64_t>;

}  // namespace thimble::ethos_u::test
