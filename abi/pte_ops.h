// SPDX-License-Identifier: Apache-2.0
#pragma once
// An enum and a table with the rows of pte_ops.def.

#include "abi/pte_op.h"

namespace thimble::abi {

enum class PteOp : uint16_t {
#define THIMBLE_PTE_OP(id, number, name, type, bits, packing, arguments) id,
#include "abi/pte_ops.def"
#undef THIMBLE_PTE_OP
  kCount
};

inline constexpr PteOpInfo kPteOps[] = {
#define THIMBLE_PTE_OP(id, number, name, type, bits, packing, arguments) \
  pte_op_info(#id, number, name, OpType::type, bits, Packing::packing, arguments),
#include "abi/pte_ops.def"
#undef THIMBLE_PTE_OP
};

constexpr const PteOpInfo& info(PteOp op) {
  return kPteOps[static_cast<uint16_t>(op)];
}

}  // namespace thimble::abi
