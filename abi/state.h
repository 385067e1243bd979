#pragma once
// RAM that the runtime needs for a program besides its arena: known when the file is written.
// One kernel pointer per row of the operator table (not per instruction) and, if any graph input is
// read from the caller's buffer, one data pointer per graph input; for each delegate a few words.
#include <cstddef>

namespace thimble::abi {

/// What the runtime keeps for a delegate, in words of a pointer, besides one that names it.
inline constexpr size_t kDelegateWords = 15;

/// `pointer_bytes` is 4 on every Cortex-M.
constexpr size_t state_bytes(size_t operators, size_t inputs, bool all_inputs_planned,
                             size_t delegates = 0, size_t pointer_bytes = 4) {
  const size_t words = operators + (all_inputs_planned ? 0 : inputs);
  return (words + delegates * (kDelegateWords + 1)) * pointer_bytes;
}

}  // namespace thimble::abi
