// SPDX-License-Identifier: Apache-2.0
#pragma once
// The runtime's work outside of kernels in one run of a program. A call has one of three forms,
// which cost differently: a kernel that needs only addresses gets them from the records of the
// file; the arguments of all other kernels are decoded from records, or from the tables of a file
// without records (runtime/exec).

#include <array>
#include <cstddef>
#include <cstdint>

#include "abi/pte_op.h"

namespace thimble::engine {

enum class CallForm : uint8_t { kAddresses, kRecords, kFlatbuffer };
inline constexpr size_t kCallForms = 3;
inline constexpr const char* kCallFormNames[kCallForms] = {"addresses", "records", "flatbuffer"};

/// Returns true if the kernels of the operator need only the addresses of their operands: all
/// parameters are in constants. tests/unit/runtime_work_test.cpp compares this with the kernels.
constexpr bool needs_addresses_only(const abi::PteOpInfo& op) {
  return op.key.packing != static_cast<uint8_t>(abi::Packing::kPlain);
}

/// Sums over the calls of one form (engine/runtime_terms.def).
struct RuntimeTerms {
#define THIMBLE_RUNTIME_TERM(name) int64_t name = 0;
#include "engine/runtime_terms.def"
#undef THIMBLE_RUNTIME_TERM
};

struct RuntimeWork {
  std::array<RuntimeTerms, kCallForms> forms;

  [[nodiscard]] RuntimeTerms& of(CallForm form) { return forms[static_cast<size_t>(form)]; }
  [[nodiscard]] const RuntimeTerms& of(CallForm form) const {
    return forms[static_cast<size_t>(form)];
  }
};

}  // namespace thimble::engine
