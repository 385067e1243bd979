#pragma once
// RAM that the runtime needs for a program besides its arena: known when the file is written.
// One kernel pointer per row of the operator table (not per instruction), one data pointer per graph input.
#include <cstddef>
#include <cstdint>

namespace thimble::abi {

/// `pointer_bytes` is 4 on every Cortex-M.
constexpr size_t state_bytes(size_t operators, size_t inputs, size_t pointer_bytes = 4) {
  return ((operators + inputs) * pointer_bytes + 15) / 16 * 16;
}

}  // namespace thimble::abi
