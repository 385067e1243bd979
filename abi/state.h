#pragma once
// RAM that the runtime needs for a program besides its arena: known when the file is written.
// One kernel pointer per row of the operator table (not per instruction) and, if any graph input is
// read from the caller's buffer, one data pointer per graph input.
#include <cstddef>

namespace thimble::abi {

/// `pointer_bytes` is 4 on every Cortex-M.
constexpr size_t state_bytes(size_t operators, size_t inputs, bool all_inputs_planned,
                             size_t pointer_bytes = 4) {
  return (operators + (all_inputs_planned ? 0 : inputs)) * pointer_bytes;
}

}  // namespace thimble::abi
