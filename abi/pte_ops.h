#pragma once
// An enum and a table with the rows of pte_ops.def.

#include <cstdint>

namespace thimble::abi {

enum class PteOp : uint8_t {
#define THIMBLE_PTE_OP(id, name, arguments) id,
#include "abi/pte_ops.def"
#undef THIMBLE_PTE_OP
  kCount
};

struct PteOpInfo {
  const char* id;
  const char* name;       // "cortex_m::quantized_add.out"
  const char* arguments;  // letters, the out tensor last
};

inline constexpr PteOpInfo kPteOps[] = {
#define THIMBLE_PTE_OP(id, name, arguments) {#id, name, arguments},
#include "abi/pte_ops.def"
#undef THIMBLE_PTE_OP
};

constexpr const PteOpInfo& info(PteOp op) {
  return kPteOps[static_cast<uint8_t>(op)];
}

}  // namespace thimble::abi
