// SPDX-License-Identifier: Apache-2.0
#pragma once
// Size of the runtime's arrays after the arena (runtime/exec/model.h). Not included: thimble_model,
// and DelegateBackend::persistent_bytes, which depends on the linked driver. The arrays consist of
// one kernel pointer per row of the operator table (not per instruction); one data pointer per
// graph input, if any graph input is read from a caller's buffer; and kDelegateWords + 1 words per
// delegate.
#include <cstddef>

namespace thimble::abi {

/// Pointer-sized words of DelegateSlot::data. A slot has one more word, the pointer to its backend.
inline constexpr size_t kDelegateWords = 15;

/// Returns the size of the arrays in bytes. `pointer_bytes` is 4 on every Cortex-M.
constexpr size_t runtime_bytes(size_t operators, size_t inputs, bool all_inputs_planned,
                               size_t delegates = 0, size_t pointer_bytes = 4) {
  const size_t words = operators + (all_inputs_planned ? 0 : inputs);
  return (words + delegates * (kDelegateWords + 1)) * pointer_bytes;
}

}  // namespace thimble::abi
