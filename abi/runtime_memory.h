#pragma once
// RAM that the runtime needs for a program in addition to its arena. The size is known when the
// file is written: one kernel pointer per row of the operator table (not per instruction); one data
// pointer per graph input, if any graph input is read from a caller's buffer; and
// kDelegateWords + 1 words per delegate.
#include <cstddef>

namespace thimble::abi {

/// Size of the runtime's data for a delegate in pointer-sized words, without its name pointer.
inline constexpr size_t kDelegateWords = 15;

/// Returns the size of this RAM in bytes. `pointer_bytes` is 4 on every Cortex-M.
constexpr size_t runtime_bytes(size_t operators, size_t inputs, bool all_inputs_planned,
                               size_t delegates = 0, size_t pointer_bytes = 4) {
  const size_t words = operators + (all_inputs_planned ? 0 : inputs);
  return (words + delegates * (kDelegateWords + 1)) * pointer_bytes;
}

}  // namespace thimble::abi
