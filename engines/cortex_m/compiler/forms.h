#pragma once
// Which of an operator's forms is taken where speed does not come first: one of the packed calls of
// fast.h, or the general one of select.cpp.
//
// For flash the bytes that operators need in the file count, and the code of each kernel that one
// of them calls: a packing that needs a kernel of its own may cost more than it saves. The network
// begins as it is for speed and changes step by step, one operator, or all that call the same
// kernel, the step with most bytes for its instructions first. A step has to save 1 % of file and
// code for each kPercentForPercent % of the network's instructions, and no form that has more
// constants or needs more of the file than speed's is ever taken, so that neither grows.
// Instructions and code are counted ones (costs.def, code.def); what was never counted stays as it
// is. Tested by tests/unit/cortex_m_forms_test.cpp.

#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// What a form is judged by.
struct Form {
  abi::PteOp kernel{};
  int64_t constant_bytes = 0;
  int64_t argument_bytes = 0;  // roughly, what the file says of its arguments
  int64_t scratch_bytes = 0;
  std::optional<int64_t> code_bytes;   // of the kernel; nothing: not known
  std::optional<double> instructions;  // of this call; nothing: not known
  [[nodiscard]] int64_t file_bytes() const { return constant_bytes + argument_bytes; }
};
[[nodiscard]] Form form_of(const ir::Graph& graph, const ir::Op& op, const KernelCall& call,
                           const Core& target);

inline constexpr double kPercentForPercent = 10;
/// The whole network may take so many times as many instructions as for speed.
inline constexpr double kSlowest = 2;

/// Of each operator, which of its forms; the first is the one that speed takes.
[[nodiscard]] std::vector<size_t> least_flash(std::span<const std::vector<Form>> ops);
/// Of those with the least scratch the one with the fewest instructions; the first stays if none
/// has less.
[[nodiscard]] size_t least_scratch(std::span<const Form> forms);

}  // namespace thimble::engine::cortex_m
