// SPDX-License-Identifier: Apache-2.0
// The runtime's work outside of kernels: counted by hand for small programs.

#include "driver/runtime_work.h"

#include <gtest/gtest.h>

#include <string_view>

#include "abi/kernel_layout.h"
#include "abi/named_data.h"
#include "abi/records.h"
#include "formats/pte/records.h"
#include "formats_pte_sample.h"
#include "kernels/kernels.h"

namespace thimble::driver {
namespace {

namespace pte = formats::pte;
using engine::CallForm;
using engine::RuntimeTerms;

void expect_terms(const RuntimeTerms& terms, const RuntimeTerms& expected) {
#define THIMBLE_RUNTIME_TERM(name) EXPECT_EQ(terms.name, expected.name) << #name;
#include "engine/runtime_terms.def"
#undef THIMBLE_RUNTIME_TERM
}

/// add_program() with a second call, which needs only addresses: an 8-bit lookup table.
pte::Program two_calls() {
  pte::Program program = pte::add_program();
  pte::ExecutionPlan& plan = program.plans[0];
  plan.operators.push_back({"thimble::lut", "packed"});
  plan.chains[0].instructions.emplace_back(pte::KernelCall{1, {0, 1, 3, 3}});
  return program;
}

void add_records(pte::Program* program) {
  abi::ProgramEntry entry = {};
  entry.magic = abi::kProgramEntryMagic;
  entry.entry_version = abi::kEntryVersionHeaderOnly;
  entry.kernel_layout_version = abi::kKernelLayoutVersion;
  entry.arena_bytes = static_cast<uint32_t>(program->plans[0].memory_sizes[1]);
  const auto* data = reinterpret_cast<const std::byte*>(&entry);
  program->named_data.push_back({abi::kProgramEntryKey, 16, Bytes(data, data + sizeof entry)});
  const Status added = pte::add_records(*program);
  ASSERT_TRUE(added.ok()) << added.error().message;
}

TEST(RuntimeWork, CallsFromTheFlatbuffer) {
  const engine::RuntimeWork work = runtime_work(two_calls());
  // aten::add: three tensors of two dimensions, and alpha. lut: three tensors.
  expect_terms(work.of(CallForm::kFlatbuffer), {1, 2, 6, 12, 1, 0});
  expect_terms(work.of(CallForm::kRecords), {});
  expect_terms(work.of(CallForm::kAddresses), {});
}

TEST(RuntimeWork, CallsFromRecords) {
  pte::Program program = two_calls();
  add_records(&program);
  const engine::RuntimeWork work = runtime_work(program);
  expect_terms(work.of(CallForm::kFlatbuffer), {});
  expect_terms(work.of(CallForm::kRecords), {0, 1, 3, 6, 1, 0});
  expect_terms(work.of(CallForm::kAddresses), {1, 1, 3, 6, 0, 0});
}

TEST(RuntimeWork, ListsAndDelegates) {
  pte::Program program = pte::add_program();
  pte::ExecutionPlan& plan = program.plans[0];
  plan.operators.push_back({"aten::flip", "out"});
  plan.values.emplace_back(pte::IntList{{2, 2, 2}});
  plan.chains[0].instructions.emplace_back(pte::KernelCall{1, {0, 4, 3, 3}});
  plan.chains[0].instructions.emplace_back(pte::DelegateCall{0, {0, 3}});
  expect_terms(runtime_work(program).of(CallForm::kFlatbuffer), {1, 3, 5, 10, 2, 3});
}

TEST(RuntimeWork, TheFormOfACallIsThatOfItsKernel) {
  const kernels::KernelTable table = kernels::all_kernels();
  size_t bare = 0;
  for (size_t i = 0; i < table.count; ++i) {
    const kernels::Kernel& kernel = *table.kernels[i];
    const size_t arguments = std::string_view(kernel.arguments).size();
    const abi::PteOpInfo* const op = pte::find_operator(kernel.name, arguments);
    ASSERT_NE(op, nullptr) << kernel.name;
    EXPECT_EQ(engine::needs_addresses_only(*op), kernel.run_bare != nullptr) << kernel.name;
    bare += kernel.run_bare != nullptr ? 1 : 0;
  }
  EXPECT_GT(bare, 0U);
  EXPECT_LT(bare, table.count);
}

}  // namespace
}  // namespace thimble::driver
