// SPDX-License-Identifier: Apache-2.0
// ELEMENTWISE: every mode on small feature maps, compared with its definition in 64-bit integers.

#include <algorithm>
#include <array>

#include "npu_stream.h"

namespace thimble::ethos_u::test {
namespace {

using Mode = ElementwiseMode;

int64_t saturate(int64_t value, const Map& map) {
  const int64_t low = map.is_signed ? -(int64_t{1} << (map.bits - 1)) : 0;
  const int64_t high = (int64_t{1} << (map.bits - (map.is_signed ? 1 : 0))) - 1;
  return std::clamp(value, low, high);
}

/// gemmlowp's multiplication: a rounded doubling high multiply, then a rounding right shift.
int64_t by_multiplier(int64_t value, int64_t multiplier, int shift) {
  const int64_t product = value * multiplier;
  const int64_t high = (product + (int64_t{1} << 30)) >> 31;  // half up
  if (shift == 0) return high;
  const int64_t half = int64_t{1} << (shift - 1);
  return (high < 0 ? -((-high + half) >> shift) : (high + half) >> shift);
}

Stream base(const Map& a, const Map& b, const Map& out, const Config& config) {
  Stream s;
  s.ifm(a).ifm2(b).ofm(out).scale(1, 0);
  if (config.generation == Generation::kU85) {
    s.pair(Reg1::IFM_SCALE, 0, 1).pair(Reg1::IFM2_SCALE, 0, 1);
    if (out.bits > 16) s.set(Reg0::ACTIVATION, 1U << 12);
  } else {
    s.pair(Reg1::OPA_SCALE, 0, 1).set(Reg1::OPB_SCALE, 1);
  }
  return s;
}

int64_t low32(int64_t value) {
  return static_cast<int32_t>(static_cast<uint64_t>(value));
}

int64_t defined(Mode mode, int64_t a, int64_t b) {
  const auto bits = [](int64_t v) { return static_cast<uint32_t>(v); };
  switch (mode) {
    case Mode::kMul:
      return a * b;
    case Mode::kAdd:
      return a + b;
    case Mode::kSub:
      return a - b;
    case Mode::kMin:
      return std::min(a, b);
    case Mode::kMax:
      return std::max(a, b);
    case Mode::kAbs:
      return std::abs(a);
    case Mode::kClz: {
      int64_t n = 0;
      while (n < 32 && (bits(a) >> (31 - n) & 1) == 0) ++n;
      return n;
    }
    case Mode::kShr:
      return b == 0 ? a : (a + (int64_t{1} << (b - 1))) >> b;
    case Mode::kShl:
      return low32(static_cast<int64_t>(static_cast<uint64_t>(a) << b));
    case Mode::kLsr:
      return low32(bits(a) >> b);
    case Mode::kDiv:
      return b == 0 ? 0 : a / b;
    case Mode::kCmpEq:
      return a == b ? -1 : 0;
    case Mode::kCmpNe:
      return a != b ? -1 : 0;
    case Mode::kCmpGe:
      return a >= b ? -1 : 0;
    case Mode::kCmpGt:
      return a > b ? -1 : 0;
    case Mode::kAnd:
      return a & b;
    case Mode::kOr:
      return a | b;
    case Mode::kXor:
      return a ^ b;
    case Mode::kNot:
      return ~a;
    case Mode::kAndNot:
      return a & ~b;
    case Mode::kLrelu:
      return a;
  }
  return 0;
}

bool only85(Mode mode) {
  return mode >= Mode::kLsr;
}

TEST(SimElementwise, EveryModeOfThirtyTwoBits) {
  const Map a{.h = 2, .w = 3, .c = 5, .bits = 32},
      b{.h = 2, .w = 3, .c = 5, .bits = 32, .base = 512};
  const Map out{.h = 2, .w = 3, .c = 5, .bits = 32, .base = 1024};
  const std::array<Mode, 20> modes = {
      Mode::kMul,   Mode::kAdd, Mode::kSub, Mode::kMin, Mode::kMax,   Mode::kAbs,   Mode::kClz,
      Mode::kShr,   Mode::kShl, Mode::kLsr, Mode::kDiv, Mode::kCmpEq, Mode::kCmpNe, Mode::kCmpGe,
      Mode::kCmpGt, Mode::kAnd, Mode::kOr,  Mode::kXor, Mode::kNot,   Mode::kAndNot};
  for (const Config* config : {&u55(), &u85()}) {
    const bool new_one = config->generation == Generation::kU85;
    for (const Mode mode : modes) {
      if (only85(mode) && !new_one) continue;
      Machine machine(*config);
      Values first, second;
      for (int64_t i = 0; i < 30; ++i) {
        first.push_back((i - 11) * (mode == Mode::kMul ? 997 : 70000001));
        second.push_back(i % 4 == 3 ? first.back() : i % 32);
      }
      if (mode == Mode::kShr || mode == Mode::kShl || mode == Mode::kLsr) {
        for (size_t i = 0; i < 30; ++i) second[i] = static_cast<int64_t>(i % 31);
      }
      machine.fill(a, first);
      machine.fill(b, second);
      Stream s = base(a, b, out, *config);
      const uint32_t natural = new_one ? 0 : 2U << 14;
      s.set(Reg0::OFM_PRECISION, 1 | 2U << 1 | 1U << 8 | natural);
      s.scale(1, 0, new_one ? 1U << 13 : 0);
      machine.expect_run_ok(s.op(Operation::ELEMENTWISE, mode).stop());
      const Values got = machine.values(out);
      for (size_t i = 0; i < 30; ++i) {
        EXPECT_EQ(got[i], low32(defined(mode, first[i], second[i])))
            << config->name << " mode " << static_cast<int>(mode) << ": " << first[i] << ", "
            << second[i];
      }
    }
  }
}

TEST(SimElementwise, Int32ProductIsShiftedOnly) {
  const Map a{.h = 1, .w = 1, .c = 4, .bits = 32},
      b{.h = 1, .w = 1, .c = 4, .bits = 32, .base = 64};
  const Map out{.h = 1, .w = 1, .c = 4, .bits = 32, .base = 128};
  Machine machine(u55());
  const Values first = {1 << 30, -(1 << 30), 123456789, -123456789};
  const Values second = {(1LL << 31) - 1, 1 << 30, 987654321, 987654321};
  machine.fill(a, first);
  machine.fill(b, second);
  machine.expect_run_ok(
      base(a, b, out, u55()).scale(1U << 30, 31).op(Operation::ELEMENTWISE, Mode::kMul).stop());
  for (uint32_t i = 0; i < 4; ++i) {
    EXPECT_EQ(machine.get(out, 0, 0, i), by_multiplier(first[i], second[i], 0));
  }
}

TEST(SimElementwise, SumsOfThe55WithOneScaledOperand) {
  // Scales of Vela for 0.02 and 0.05: the smaller one is relative to twice the larger.
  const Map a{.h = 2, .w = 8, .c = 16, .zero = -3},
      b{.h = 2, .w = 8, .c = 16, .base = 512, .zero = 7};
  const Map out{.h = 2, .w = 8, .c = 16, .base = 1024, .zero = 4};
  const int64_t small = 1717986918;  // 0.8 * 2^31; 0.02 / (2 * 0.05) = 0.8 / 4
  const int64_t of_output = 1503238554;
  for (const bool sub : {false, true}) {
    for (const uint32_t mode : {1U, 2U}) {  // operand A or operand B is scaled
      for (const bool second_first : {false, true}) {
        Machine machine(u55());
        const Values x = machine.values(a), y = machine.values(b);
        Stream s;
        s.ifm(a, mode << 8).ifm2(b).ofm(out);
        s.set(Reg0::IFM2_BROADCAST, second_first ? 1U << 6 : 0);
        s.pair(Reg1::OPA_SCALE, 33 - 20, static_cast<uint32_t>(small)).set(Reg1::OPB_SCALE, 0);
        s.scale(static_cast<uint32_t>(of_output), 31 + 19);
        machine.expect_run_ok(s.op(Operation::ELEMENTWISE, sub ? Mode::kSub : Mode::kAdd).stop());
        const Values got = machine.values(out);
        for (size_t i = 0; i < got.size(); ++i) {
          int64_t first = x[i] + 3, second = y[i] - 7;
          if (second_first) std::swap(first, second);
          const auto scaled = [&](int64_t v) { return by_multiplier(v * (1 << 20), small, 2); };
          const auto halved = [](int64_t v) { return v * (1 << 19); };
          first = mode == 1 ? scaled(first) : halved(first);
          second = mode == 2 ? scaled(second) : halved(second);
          const int64_t sum = by_multiplier(sub ? first - second : first + second, of_output, 19);
          EXPECT_EQ(got[i], saturate(sum + 4, out)) << i;
        }
      }
    }
  }
}

TEST(SimElementwise, SumsOfThe55WithPlainScales) {
  const Map a{.h = 1, .w = 4, .c = 16}, b{.h = 1, .w = 4, .c = 16, .base = 512};
  const Map out{.h = 1, .w = 4, .c = 16, .bits = 16, .base = 1024};
  Machine machine(u65());
  const Values x = machine.values(a), y = machine.values(b);
  Stream s = base(a, b, out, u65());
  s.pair(Reg1::OPA_SCALE, 0, 3).set(Reg1::OPB_SCALE, 5);
  machine.expect_run_ok(s.op(Operation::ELEMENTWISE, Mode::kAdd).stop());
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(machine.get(out, 0, i / 16, i % 16), x[i] * 3 + y[i] * 5);
  }
}

TEST(SimElementwise, SumsOfThe85WithTwoScales) {
  const Map a{.h = 2, .w = 8, .c = 16, .zero = -3},
      b{.h = 2, .w = 8, .c = 16, .base = 512, .zero = 7};
  const Map out{.h = 2, .w = 8, .c = 16, .base = 1024, .zero = 4};
  const int64_t first_scale = 1717986918, second_scale = 1 << 30;
  Machine machine(u85());
  const Values x = machine.values(a), y = machine.values(b);
  Stream s = base(a, b, out, u85());
  s.pair(Reg1::IFM_SCALE, 13 | 20U << 6, static_cast<uint32_t>(first_scale));
  s.pair(Reg1::IFM2_SCALE, 11 | 20U << 6, static_cast<uint32_t>(second_scale));
  s.scale(1503238554, 31 + 19);
  machine.expect_run_ok(s.op(Operation::ELEMENTWISE, Mode::kAdd).stop());
  const Values got = machine.values(out);
  for (size_t i = 0; i < got.size(); ++i) {
    const int64_t sum = by_multiplier((x[i] + 3) * (1 << 20), first_scale, 2) +
                        by_multiplier((y[i] - 7) * (1 << 20), second_scale, 0);
    EXPECT_EQ(got[i], saturate(by_multiplier(sum, 1503238554, 19) + 4, out)) << i;
  }
}

TEST(SimElementwise, LeakyRelu) {
  const Map in{.h = 1, .w = 16, .c = 16}, out{.h = 1, .w = 16, .c = 16, .base = 512};
  const int64_t alpha = 1717986918, one = 1 << 30;
  for (const Config* config : {&u55(), &u85()}) {
    Machine machine(*config);
    const Values x = machine.values(in);
    Stream s = base(in, in, out, *config);
    if (config->generation == Generation::kU85) {
      s.pair(Reg1::IFM_SCALE, 30, static_cast<uint32_t>(one));
      s.pair(Reg1::IFM2_SCALE, 33, static_cast<uint32_t>(alpha));
    } else {
      s.scale(static_cast<uint32_t>(alpha), 33);
    }
    machine.expect_run_ok(s.op(Operation::ELEMENTWISE, Mode::kLrelu).stop());
    const Values got = machine.values(out);
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i], x[i] < 0 ? by_multiplier(x[i], alpha, 2) : x[i]);
    }
  }
}

TEST(SimElementwise, Broadcasts) {
  for (const Config* config : {&u55(), &u85()}) {
    const bool new_one = config->generation == Generation::kU85;
    for (uint32_t axes = 0; axes < 8; ++axes) {
      const Map a{.h = 2, .w = 3, .c = 70};
      const Map b{.h = (axes & 1) != 0 ? 1U : 2U,
                  .w = (axes & 2) != 0 ? 1U : 3U,
                  .c = (axes & 4) != 0 ? 1U : 70U,
                  .base = 512};
      const Map out{.h = 2, .w = 3, .c = 70, .bits = 16, .base = 1024};
      for (const bool swapped : {false, true}) {
        if (swapped && !new_one) continue;
        Machine machine(*config);
        const Values x = machine.values(a), y = machine.values(b);
        Stream s = swapped ? base(b, a, out, *config) : base(a, b, out, *config);
        s.set(swapped ? Reg0::IFM_BROADCAST : Reg0::IFM2_BROADCAST, axes);
        machine.expect_run_ok(s.op(Operation::ELEMENTWISE, Mode::kSub).stop());
        for (uint32_t i = 0; i < 420; ++i) {
          const uint32_t h = b.h == 1 ? 0 : i / 210, w = b.w == 1 ? 0 : i / 70 % 3;
          const int64_t other = y[(h * b.w + w) * b.c + (b.c == 1 ? 0 : i % 70)];
          EXPECT_EQ(machine.get(out, i / 210, i / 70 % 3, i % 70),
                    swapped ? other - x[i] : x[i] - other)
              << config->name << " axes " << axes;
        }
      }
    }
  }
}

TEST(SimElementwise, Scalars) {
  const Map a{.h = 1, .w = 2, .c = 8, .zero = 1},
      out{.h = 1, .w = 2, .c = 8, .bits = 16, .base = 512};
  Machine machine(u55());
  const Values x = machine.values(a);
  Stream old = base(a, Map{.zero = 3}, out, u55());
  old.set(Reg0::IFM2_BROADCAST, 1U << 7 | 1U << 6)
      .set(Reg0::IFM2_SCALAR, static_cast<uint32_t>(-20) & 0xFFFF);
  machine.expect_run_ok(old.op(Operation::ELEMENTWISE, Mode::kSub).stop());
  Machine newer(u85());
  Stream s = base(a, a, out, u85());
  s.ifm(Map{.zero = 3, .storage = 3}).ifm2(a).set(Reg0::IFM_DEPTH_M1, 7);
  s.set(Reg0::IFM_BROADCAST, 8).set(Reg1::OP_SCALAR, static_cast<uint32_t>(-20));
  newer.expect_run_ok(s.op(Operation::ELEMENTWISE, Mode::kSub).stop());
  for (uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(machine.get(out, 0, i / 8, i % 8), -23 - (x[i] - 1));
    EXPECT_EQ(newer.get(out, 0, i / 8, i % 8), -23 - (x[i] - 1));
  }
}

}  // namespace
}  // namespace thimble::ethos_u::test
