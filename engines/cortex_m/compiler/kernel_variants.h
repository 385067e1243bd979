// SPDX-License-Identifier: Apache-2.0
#pragma once
// Chooses the kernel variant of each operator if the goal is flash or size: one of the packed calls
// of fast.h, or the general call of select.cpp.
//
// The flash size of a selection is the bytes that operators need in the file, plus the linked code
// of the kernels that at least one operator calls: code that kernels share counts once. A packed
// form that needs its own kernel may cost more than it saves. The search starts with the fastest
// variants. Each step changes one operator, or all operators that call the same kernel; the step
// that saves most bytes per added instruction comes first. A step must save 1 % of file and code
// for each kPercentForPercent % of the network's instructions. A variant with more constants or
// file bytes than the fastest one is never chosen, so neither grows. Instructions and code sizes
// are measured (costs.def, linked/). An operator without measurements is not changed. Tested by
// tests/unit/cortex_m_kernel_variants_test.cpp.

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// The properties by which kernel variants are compared.
struct KernelVariant {
  abi::PteOp kernel{};
  int64_t constant_bytes = 0;
  int64_t argument_bytes = 0;  // approximate size of the arguments in the file's tables
  int64_t scratch_bytes = 0;
  std::optional<int64_t> code_bytes;   // of the kernel; no value: unknown
  std::optional<double> instructions;  // of this call; no value: unknown
  [[nodiscard]] int64_t file_bytes() const { return constant_bytes + argument_bytes; }
};
[[nodiscard]] KernelVariant variant_of(const ir::Graph& graph, const ir::Op& op,
                                       const KernelCall& call, const Core& target);

inline constexpr double kPercentForPercent = 10;
/// Upper bound for the whole network's instructions, as a multiple of the fastest selection.
inline constexpr double kSlowest = 2;

/// Bytes of code that a program with these kernels links, all of which have `code_bytes`.
using CodeBytes = std::function<int64_t(const std::set<abi::PteOp>& kernels)>;

/// Returns the index of the chosen variant for each operator; index 0 is the fastest variant.
/// Without `code_bytes`, kernels share no code: the sum of KernelVariant::code_bytes.
[[nodiscard]] std::vector<size_t> least_flash(std::span<const std::vector<KernelVariant>> ops,
                                              const CodeBytes& code_bytes = {});
/// Returns the variant with the least scratch, and among those the one with the fewest
/// instructions. Returns 0 if no variant has less scratch than the first.
[[nodiscard]] size_t least_scratch(std::span<const KernelVariant> signatures);

}  // namespace thimble::engine::cortex_m
