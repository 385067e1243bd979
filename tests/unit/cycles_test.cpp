// SPDX-License-Identifier: Apache-2.0
// The cycle models: instructions of the manuals' own examples, blocks counted by hand, and loops
// whose cycles llvm-mca 19 states.

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cycles/core_timing.h"
#include "cycles/counted_blocks.h"

namespace thimble::cycles {
namespace {

Bytes bytes_of(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  Bytes bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return bytes;
}
std::vector<Insn> insns_of(std::string_view hex) {
  return decode(0, bytes_of(hex));
}

/// Cycles of a sequence from a standing start.
int64_t once(std::string_view core, std::string_view hex) {
  return core_timing(core)->cycles({}, insns_of(hex));
}
/// Cycles of one iteration of a loop.
int64_t repeated(std::string_view core, std::string_view hex) {
  const std::vector<Insn> block = insns_of(hex);
  std::vector<Insn> before = block;
  before.insert(before.end(), block.begin(), block.end());
  return core_timing(core)->cycles(before, block);
}

constexpr Registers r(int number) {
  return Registers{1} << number;
}
constexpr Registers q(int number) {
  return Registers{15} << (32 + 4 * number);
}

// Cortex-M4 TRM, DDI 0439D 3.3.3 and Cortex-M3 TRM, DDI 0337I 3.3.2: the optimized examples.
TEST(SequentialCores, ExamplesOfTheManuals) {
  for (const char* core : {"m3", "m4"}) {
    EXPECT_EQ(once(core, "08681168"), 3) << "ldr r0,[r1]; ldr r1,[r2]";
    EXPECT_EQ(once(core, "51f802005861"), 3) << "ldr r0,[r1,r2]; str r0,[r3,#20]";
    EXPECT_EQ(once(core, "51f8050011685a68"), 4) << "ldr r0,[r1,r5]; ldr r1,[r2]; ldr r2,[r3,#4]";
    EXPECT_EQ(once(core, "11680868"), 4) << "ldr r1,[r2]; ldr r0,[r1]: not pipelined";
    EXPECT_EQ(once(core, "091d0868"), 4) << "adds r1,r1,#4; ldr r0,[r1]: one cycle for the address";
    EXPECT_EQ(once(core, "1ec8d0e90045"), 8) << "ldmia r0!,{r1-r4}; ldrd r4,r5,[r0]";
    EXPECT_EQ(once(core, "002808bf0121"), 2) << "cmp r0,#0; it eq; moveq r1,#1: IT is folded";
  }
}

TEST(SequentialCores, Products) {
  constexpr std::string_view kProducts = "01fb020081fb0203";  // mla; smull
  EXPECT_EQ(once("m4", kProducts), 2);
  EXPECT_EQ(once("m3", kProducts), 6);
  // sdiv r0,r1,r2; vmla.f32 s0,s1,s2; vldr s3,[r0]
  EXPECT_EQ(once("m4", "91fbf2f000ee810ad0ed001a"), 7 + 3 + 2);
}

// The inner loops with the largest shares of the networks of benchmarks/cycles, added up by hand
// from the tables of the manuals. An instruction that a sum does not name takes 1 cycle. No sum has
// the refill of a taken branch.
//
// Cortex-M0+ TRM, DDI 0484C 3.3.
TEST(SequentialCores, LoopsOfCortexM0Plus) {
  // kernels/v6m/scalar_dot.cpp, PAIR: ldm of two 3, ldrsb 2, muls 1, ldrsb 2, muls 1, and 6 others.
  EXPECT_EQ(repeated("m0plus", "06c8a3575943ab575a4389180a14574109b288440236"), 15);
  // Nine taps of a depthwise convolution: ldr 2, movs 1, nine times (two ldrsb 4, muls 1, adds 1),
  // eight times add 1.
  constexpr std::string_view kTap = "29563a5651435b18";
  std::string taps = "33680020";
  for (int i = 0; i < 9; ++i) taps += std::string(kTap) + (i < 8 ? "4044" : "");
  EXPECT_EQ(once("m0plus", taps), 2 + 1 + 9 * (4 + 2) + 8);
  // Requantization: four loads of 2 cycles, and 23 others.
  EXPECT_EQ(once("m0plus",
                 "40464104090cc013b388f4880a465a43120c614389184343c91861440914c217604340188018"
                 "b268f36870448018184141b2814202d0"),
            4 * 2 + 23);
}

// Cortex-M3 TRM, DDI 0337I 3.3.1 and 3.3.3. An mla takes 2 cycles; a load that follows a load takes
// 1.
TEST(SequentialCores, LoopsOfCortexM3) {
  // Two ldrsb 2 + 1, mla 2, subs 1.
  EXPECT_EQ(once("m3", "10f9014b11f9015b04fb0522013b"), 6);
  // A convolution of three channels and two pixels: ldrsb 2 + 1 + 1, two mla 4, and two times
  // (ldrsb 2, two mla 4).
  EXPECT_EQ(repeated("m3",
                     "18f901bb19f901cb16f907e00efb0b110efb0c4416f917e00efb0b220efb0c5516f901eb0efb"
                     "0b000efb0c33"),
            8 + 2 * 6);
  // A channel of a depthwise convolution. First tap: ldr 2, two ldrsb 1 + 1, mla 2. Eight taps: two
  // ldrsb 2 + 1, mla 2. Requantization: ldr 2, smull 4, two ldr 2, and 10 others.
  EXPECT_EQ(repeated("m3",
                     "106814f901b017f901c00bfb0c0014f911b017f911c00bfb0c0014f901bb17f901cb0bfb0c00"
                     "15f901b018f901c00bfb0c0015f911b018f911c00bfb0c0015f901bb18f901cb0bfb0c0016f9"
                     "01b019f901c00bfb0c0016f911b019f911c00bfb0c0016f901bb19f901cb0bfb0c004fea4000"
                     "d2f804c080fb0cbc90681beb0b0b4ceb0000d2f80cb000ebec7040fa0bf000f3070003f8010b"
                     "02f110025345afd1"),
            6 + 8 * 5 + (2 + 4 + 2 * 2 + 10));
  // Requantization of one result: smull 4 and 6 others; strb with an offset in a register 2.
  EXPECT_EQ(once("m3", "4fea400080fb0a9c19eb09094ceb0b0000ebec7040fa0ef000f3070007f80810"),
            4 + 6 + 2);
}

// Cortex-M4 TRM, DDI 0439D 3.3.1 and 3.3.3: ldm of n registers 1 + n, ldrd 3, not pipelined. The
// Cortex-M33 executes the same kernels and has the same rows: Arm publishes no cycles of its
// instructions (Cortex-M33 TRM, 100230, 1.4.1, states a limited dual issue of 16-bit instructions,
// which the rows do not have).
TEST(SequentialCores, LoopsOfCortexM4AndM33) {
  // Two post-indexed ldr 2 + 1, four sxtb16 and two smlad 1 each, subs 1.
  EXPECT_EQ(once("m4", "50f8044b51f8045b2ffa84f62ffa94f42ffa85f72ffa95f526fb072224fb0522013b"), 10);
  // A convolution, eight products of three channels and two pixels: ldrd 3, two times (ldm of three
  // 4, sxtb16 1, six smlad 6).
  EXPECT_EQ(repeated("m4",
                     "f1e802bcb0e800072ffa8bfe28fb0e2228fb0b5529fb0e3329fb0b662afb0e442afb0b77b0e8"
                     "00072ffa8cfe28fb0e2228fb0c5529fb0e3329fb0c662afb0e442afb0c77"),
            3 + 2 * (4 + 1 + 6));
  // A linear operator, four rows and four columns: ldr 2, ldm of four 5, six sxtb16 and eight
  // smlad.
  EXPECT_EQ(repeated("m4",
                     "50f804abb1e8c0032ffa8afb2ffa9afa2ffa86fe2bfb0e222bfb06332ffa87fe2bfb0e442bfb"
                     "07552ffa88fe2afb0e222afb08332ffa89fe2afb0e442afb0955"),
            2 + 5 + 6 + 8);
  // Two taps of four channels of a depthwise convolution: two times (two sxtb16, four smla), ldr 2,
  // ldrd 3, cmp, bne.
  EXPECT_EQ(repeated("m4",
                     "2ffa99fb2ffa89f919fb034419fb33661bfb0e551bfb3e775af802a0f1e8023e2ffa9afb2ffa"
                     "8afa1afb03441afb33661bfb0e551bfb3e776045cbd1"),
            2 * 6 + 2 + 3 + 2);
  // Requantization of four channels: two ldm of four 10, two ldr 2 + 1, str with an offset in a
  // register 2, ldr 2, and 22 others.
  EXPECT_EQ(repeated("m4",
                     "b1e8000f039bddf804e054fb18f455fb19f556fb1af657fb1bf7b1e8000f04ebe47405ebe575"
                     "06ebe67607ebe77754fb183455fb193556fb1a3657fb1b3704f3070405f3070506f3070607f3"
                     "070765f30f2466f3174467f31f644ef80240ddf808e00432724595d1"),
            10 + 3 + 2 + 2 + 22);
}

// Cortex-M0+ TRM, DDI 0484C 3.3.
TEST(SequentialCores, SmallCores) {
  // ldr r0,[r1]; str r0,[r2]; muls r0,r1,r0; ldmia r3!,{r4-r7}
  EXPECT_EQ(once("m0plus", "086810604843f0cb"), 2 + 2 + 1 + 5);
  // push {r4,r5,lr}; pop {r4,r5,pc}, without the branch
  EXPECT_EQ(once("m0plus", "30b530bd"), 4 + 5);
}

// The numbers are those of llvm-mca 19 (benchmarks/cycles compares all hot blocks).
TEST(ScoreboardCores, LoopsOfLlvmMca) {
  // smlad r0,r1,r2,r0 twice: the sum is forwarded
  EXPECT_EQ(repeated("m7", "21fb020021fb0200"), 2);
  // ldr r0,[r1]; adds r0,r0,#1; adds r2,r0,#1
  EXPECT_EQ(repeated("m7", "0868401c421c"), 2);
  // vldrb.u8 q0,[r0],#16; vmlava.s8 r2,q0,q1; vldrb.u8 q2,[r1],#16; vmlava.s8 r4,q2,q1
  constexpr std::string_view kProducts = "b0ec101ef0ee222fb1ec105ef4ee224f";
  EXPECT_EQ(repeated("m55", kProducts), 4) << "loads and products overlap";
  EXPECT_EQ(repeated("m85", kProducts), 8);
  EXPECT_EQ(repeated("m55", "b0ec101eb1ec105e"), 4) << "two loads use one unit";
  EXPECT_EQ(repeated("m55", "20ef420824ef4248"), 4) << "two vadd use one unit";
}

TEST(ScoreboardCores, PairsOfCortexM55AreNarrow) {
  EXPECT_EQ(repeated("m55", "0120d118"), 1) << "movs r0,#1; adds r1,r2,r3";
  EXPECT_EQ(repeated("m55", "4ff0010002eb0301"), 2) << "mov.w r0,#1; add.w r1,r2,r3";
}

TEST(ScoreboardCores, GathersTakeACycleForEachElement) {
  EXPECT_EQ(repeated("m55", "90fc020f"), 4) << "vldrb.u32 q0,[r0,q1]";
}

TEST(Decoder, KindsAndRegisters) {
  const std::vector<Insn> insns = insns_of("b0ec101ef0ee222f");
  ASSERT_EQ(insns.size(), 2U);
  EXPECT_EQ(insns[0].kind, InsnKind::v_load);
  EXPECT_EQ(insns[0].writes, q(0));
  EXPECT_EQ(insns[0].updates, r(0));
  EXPECT_EQ(insns[1].kind, InsnKind::v_sum);
  EXPECT_EQ(insns[1].writes, r(2));
  EXPECT_EQ(insns[1].accumulator, r(2));
  EXPECT_EQ(insns[1].reads, q(0) | q(1));
}

TEST(Decoder, HeliumKinds) {
  // vpst; vmovt q0,q1; vcmp.s32 gt,q0,r1; vidup.u32 q0,r0,#1; vaddva.s32 r0,q1;
  // vrmlaldavha.s32 r0,r1,q0,q1; vmaxv.s8 r0,q1
  const std::vector<Insn> insns =
      insns_of("71fe4d0f22ef520121fe611f21ee6e0ff9ee220f80ee220fe2ee020f");
  constexpr InsnKind kKinds[] = {InsnKind::v_predicate, InsnKind::v_logic, InsnKind::v_compare,
                                 InsnKind::v_count,     InsnKind::v_sum,   InsnKind::v_sum,
                                 InsnKind::v_extreme};
  ASSERT_EQ(insns.size(), std::size(kKinds));
  for (size_t i = 0; i < insns.size(); ++i) {
    EXPECT_EQ(kind_name(insns[i].kind), kind_name(kKinds[i])) << i;
  }
}

TEST(Decoder, ConditionalInstructionsReadTheFlags) {
  const std::vector<Insn> insns = insns_of("002808bf0121");  // cmp r0,#0; it eq; moveq r1,#1
  ASSERT_EQ(insns.size(), 3U);
  EXPECT_EQ(insns[0].writes, kFlags);
  EXPECT_EQ(insns[1].reads, 0U) << "IT itself needs no flags";
  EXPECT_EQ(insns[2].reads, kFlags);
  EXPECT_EQ(insns[2].writes, r(1)) << "no flags inside an IT block";
}

TEST(Decoder, EndsInTheMiddleOfAnInstruction) {
  EXPECT_EQ(insns_of("51f8").size(), 1U);
  EXPECT_EQ(insns_of("51").size(), 0U);
}

// A loop of two instructions that is entered once and repeated nine times.
TEST(CountedBlocks, CountsAreMultipliedWithCycles) {
  // adds r0,r0,#1; bne back
  const Result<CountedBlocks> counted = parse_counted_blocks(
      "total 0 1 20\n"
      "block 1 100 401cfdd1\n"
      "edge op 0 0 1 1\n"
      "edge op 0 1 1 9\n",
      "counts");
  ASSERT_TRUE(counted.ok());
  const Scope op = {"op", 0};
  EXPECT_EQ(scope_cycles(*counted, "m4").at(op), 2 + 9 * (2 + 2));
  EXPECT_EQ(scope_cycles(*counted, "m0plus").at(op), 2 + 9 * (2 + 1));
  EXPECT_TRUE(scope_cycles(*counted, "m9").empty());
}

TEST(CountedBlocks, BadLinesAreErrors) {
  for (const char* text : {"block 2 100 401c\n", "block 1 100 40\nedge op 0 0 2 1\n",
                           "block 1 zz 401c\n", "edge op 0 0\n", "block 1 100 4\n"}) {
    const Result<CountedBlocks> counted = parse_counted_blocks(text, "counts");
    ASSERT_FALSE(counted.ok()) << text;
    EXPECT_NE(counted.error().message.find("counts:"), std::string::npos);
  }
}

}  // namespace
}  // namespace thimble::cycles
