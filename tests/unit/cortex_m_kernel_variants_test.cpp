// SPDX-License-Identifier: Apache-2.0
// Selection of kernel variants for flash size and for least scratch: small cases with a known
// result, random networks compared with all combinations, and real operators.

#include "abi/pte_ops.h"
#include "engines/cortex_m/compiler/kernel_variants.h"

#include <gtest/gtest.h>

#include "engines/cortex_m/compiler/cost.h"
#include "ir_random_graph.h"

namespace thimble::engine::cortex_m {
namespace {

using abi::PteOp;

KernelVariant form(PteOp kernel, int64_t file, int64_t code, double instructions,
                   int64_t scratch = 0) {
  return {kernel, file - 30, 30, scratch, code, instructions};
}

constexpr PteOp kFast = PteOp::thimble_add_table;
constexpr PteOp kSmall = PteOp::thimble_add;
constexpr PteOp kOther = PteOp::thimble_softmax_rows;

using Ops = std::vector<std::vector<KernelVariant>>;
using Chosen = std::vector<size_t>;

TEST(LeastFlash, SmallerVariantForFewInstructionsIsSelected) {
  const Ops ops = {{form(kFast, 2000, 1000, 100), form(kSmall, 40, 1000, 800)},
                   {form(kOther, 30000, 1000, 10000)}};
  EXPECT_EQ(least_flash(ops), (Chosen{1, 0}));
}

TEST(LeastFlash, KernelCodeIsCountedOnce) {
  // For one add, the other kernel's code is larger than the table; for two, it is smaller.
  const std::vector<KernelVariant> add = {form(kFast, 2000, 1000, 100),
                                          form(kSmall, 40, 3500, 800)};
  const std::vector<KernelVariant> rest = {form(kOther, 30000, 1000, 20000)};
  EXPECT_EQ(least_flash(Ops{add, rest}), (Chosen{0, 0}));
  EXPECT_EQ(least_flash(Ops{add, rest, add}), (Chosen{1, 0, 1}));
  // If another operator calls the kernel in any case, its code costs nothing more.
  const std::vector<KernelVariant> calls_it = {form(kSmall, 40, 3500, 800)};
  EXPECT_EQ(least_flash(Ops{add, rest, calls_it}), (Chosen{1, 0, 0}));
}

TEST(LeastFlash, CodeThatKernelsShareIsCountedOnce) {
  // Each kernel has 1,000 bytes, and kFast and kOther share 900 of them: the change to kSmall saves
  // 200 bytes of the file, and adds 900 bytes of code.
  const Ops ops = {{form(kFast, 300, 1000, 100), form(kSmall, 100, 1000, 100)},
                   {form(kOther, 3000, 1000, 100)}};
  const auto linked = [](const std::set<PteOp>& kernels) {
    const bool shared = kernels.contains(kFast) && kernels.contains(kOther);
    return 1000 * static_cast<int64_t>(kernels.size()) - (shared ? 900 : 0);
  };
  EXPECT_EQ(least_flash(ops), (Chosen{1, 0}));
  EXPECT_EQ(least_flash(ops, linked), (Chosen{0, 0}));
}

TEST(LeastFlash, SlowVariantForFewBytesIsNotSelected) {
  // 1 % of file and code is accepted for 10 % more instructions, but not for 12 %.
  const auto ops = [](double instructions) {
    return Ops{{form(kFast, 9000, 500, 1000), form(kSmall, 8890, 500, instructions)},
               {form(kOther, 1000, 500, 9000)}};
  };
  EXPECT_EQ(least_flash(ops(2000)), (Chosen{1, 0}));
  EXPECT_EQ(least_flash(ops(2200)), (Chosen{0, 0}));
}

TEST(LeastFlash, NetworkIsAtMostTwiceAsSlow) {
  // Each change halves the size; only one of them keeps the network below twice the time.
  const Ops ops = {{form(kFast, 10000, 500, 1000), form(kSmall, 100, 500, 1900)},
                   {form(kFast, 10000, 500, 1000), form(kSmall, 100, 500, 2300)}};
  EXPECT_EQ(least_flash(ops), (Chosen{1, 0}));
}

TEST(LeastFlash, VariantsWithUnknownCostAreNotSelected) {
  Ops ops = {{form(kFast, 2000, 1000, 100), form(kSmall, 40, 1000, 101)}};
  for (int unknown = 0; unknown < 4; ++unknown) {
    Ops one = ops;
    KernelVariant& which = one[0][static_cast<size_t>(unknown % 2)];
    (unknown < 2 ? which.code_bytes.reset() : which.instructions.reset());
    EXPECT_EQ(least_flash(one), (Chosen{0})) << unknown;
  }
  EXPECT_EQ(least_flash(ops), (Chosen{1}));
}

TEST(LeastFlash, ConstantsDoNotGrow) {
  Ops ops = {{form(kFast, 2000, 1000, 100), form(kSmall, 1000, 200, 100)}};
  EXPECT_EQ(least_flash(ops), (Chosen{1}));
  ops[0][1].constant_bytes = ops[0][0].constant_bytes + 1;
  ops[0][1].argument_bytes = 0;
  EXPECT_EQ(least_flash(ops), (Chosen{0}));
}

TEST(LeastFlash, FasterVariantOfEqualSizeIsSelected) {
  EXPECT_EQ(least_flash(Ops{{form(kFast, 100, 10, 50), form(kSmall, 100, 10, 40)}}), (Chosen{1}));
  EXPECT_EQ(least_flash(Ops{{form(kFast, 100, 10, 50), form(kSmall, 100, 10, 50)}}), (Chosen{0}));
}

struct Sums {
  int64_t bytes = 0;
  double instructions = 0;
};
Sums sums_of(const Ops& ops, const Chosen& chosen) {
  Sums sums;
  std::map<PteOp, int64_t> code;
  for (size_t op = 0; op < ops.size(); ++op) {
    const KernelVariant& taken = ops[op][chosen[op]];
    sums.bytes += taken.file_bytes();
    sums.instructions += *taken.instructions;
    code[taken.kernel] = *taken.code_bytes;
  }
  for (const auto& [kernel, bytes] : code) sums.bytes += bytes;
  return sums;
}

/// On random networks, file plus code never grows and the bounds hold.
TEST(LeastFlash, BoundsHoldOnRandomNetworks) {
  test::Random random(7);
  int smaller = 0;
  for (int round = 0; round < 2000; ++round) {
    Ops ops;
    std::map<PteOp, int64_t> code;
    for (int64_t count = random.between(1, 8); count > 0; --count) {
      std::vector<KernelVariant> forms;
      for (const PteOp kernel : {kFast, kSmall, kOther}) {
        if (!forms.empty() && random.between(0, 2) == 0) continue;
        const int64_t bytes = code.try_emplace(kernel, random.between(200, 4000)).first->second;
        forms.push_back(form(kernel, random.between(10, 5000), bytes,
                             static_cast<double>(random.between(100, 5000))));
      }
      ops.push_back(forms);
    }
    const Sums before = sums_of(ops, Chosen(ops.size(), 0));
    const Chosen chosen = least_flash(ops);
    ASSERT_EQ(chosen.size(), ops.size());
    const Sums after = sums_of(ops, chosen);
    ASSERT_LE(after.bytes, before.bytes) << round;
    ASSERT_LE(after.instructions, kSlowest * before.instructions) << round;
    const double saved = static_cast<double>(before.bytes - after.bytes);
    ASSERT_LE((after.instructions - before.instructions) / before.instructions,
              kPercentForPercent * saved / static_cast<double>(before.bytes) + 1e-9)
        << round;
    for (size_t op = 0; op < ops.size(); ++op) {
      ASSERT_LE(ops[op][chosen[op]].file_bytes(), ops[op][0].file_bytes()) << round;
    }
    smaller += after.bytes < before.bytes ? 1 : 0;
  }
  EXPECT_GT(smaller, 1000);
}

TEST(LeastScratch, FastestVariantOfEqualScratchIsSelected) {
  const std::vector<KernelVariant> forms = {form(kFast, 0, 0, 100, 900), form(kSmall, 0, 0, 500, 0),
                                            form(kOther, 0, 0, 300, 0)};
  EXPECT_EQ(least_scratch(forms), 2U);
  EXPECT_EQ(least_scratch(std::span(forms).first(2)), 1U);
  EXPECT_EQ(least_scratch(std::span(forms).first(1)), 0U);
  std::vector<KernelVariant> equal = forms;
  for (KernelVariant& one : equal) one.scratch_bytes = 900;
  EXPECT_EQ(least_scratch(equal), 0U);
  std::vector<KernelVariant> unknown = forms;
  unknown[2].instructions.reset();
  EXPECT_EQ(least_scratch(unknown), 1U);
}

/// For every kernel that may be selected, the code size is known on every core that has it.
TEST(Tables, CodeSizeIsKnownForEveryKernelWithCost) {
  for (const Core& target : all_cores()) {
    for (const PteOp op :
         {PteOp::thimble_add, PteOp::thimble_add_table, PteOp::thimble_conv2d,
          PteOp::thimble_conv2d_scalar, PteOp::thimble_depthwise_conv2d,
          PteOp::thimble_depthwise_scalar, PteOp::thimble_linear, PteOp::thimble_linear_scalar,
          PteOp::cortex_m_softmax, PteOp::thimble_softmax_rows}) {
      const auto bytes = code_bytes(op, target);
      ASSERT_TRUE(bytes) << target.name << " " << abi::info(op).name;
      EXPECT_GT(*bytes, 200) << target.name << " " << abi::info(op).name;
      EXPECT_LT(*bytes, 20000) << target.name << " " << abi::info(op).name;
    }
  }
}

}  // namespace
}  // namespace thimble::engine::cortex_m
