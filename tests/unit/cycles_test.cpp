// The cycle models: instructions of the manuals' own examples, blocks counted by hand, and loops
// whose cycles llvm-mca 19 states.

#include <gtest/gtest.h>

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

// Inner loops of the kernels, added up by hand from the same tables.
TEST(SequentialCores, InnerLoops) {
  // kernels/v6m/scalar_dot.cpp, PAIR: ldm of two 3, ldrsb 2, muls 1, ldrsb 2, muls 1, adds, asrs,
  // adcs, sxth, add, adds: 1 each (DDI 0484C 3.3).
  EXPECT_EQ(once("m0plus", "06c8a3575943ab575a4389180a14574109b288440236"), 15);
  // Two post-indexed ldr 2 + 1, four sxtb16 and two smlad 1 each, subs 1 (DDI 0439D 3.3.1, 3.3.3).
  constexpr std::string_view kDot =
      "50f8044b51f8045b2ffa84f62ffa94f42ffa85f72ffa95f526fb072224fb0522013b";
  EXPECT_EQ(once("m4", kDot), 10);
  // Armv7-M without DSP: two ldrsb 2 + 1, mla 2 (DDI 0337I 3.3.1), subs 1.
  EXPECT_EQ(once("m3", "10f9014b11f9015b04fb0522013b"), 6);
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
