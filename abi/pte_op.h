#pragma once
// The type of an operator's id, for code that does not need the table.

#include <cstdint>

namespace thimble::abi {

/// The rows of pte_ops.def; pte_ops.h defines the enumerators.
enum class PteOp : uint16_t;

struct PteOpInfo {
  const char* id;
  const char* name;       // "cortex_m::quantized_add.out"
  const char* arguments;  // letters, the out tensor last
};

}  // namespace thimble::abi
