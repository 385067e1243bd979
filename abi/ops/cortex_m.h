#pragma once
// The rows of cortex_m.def, for kernels.

#include "abi/pte_op.h"

namespace thimble::abi::op_info {

#define THIMBLE_PTE_OP(id, name, arguments) inline constexpr PteOpInfo id{#id, name, arguments};
#include "abi/ops/cortex_m.def"
#undef THIMBLE_PTE_OP

}  // namespace thimble::abi::op_info
