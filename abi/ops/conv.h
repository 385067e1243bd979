#pragma once
// The rows of conv.def, for kernels.

#include "abi/pte_op.h"

namespace thimble::abi::op_info {

#define THIMBLE_PTE_OP(id, number, name, type, bits, packing, arguments) \
  inline constexpr PteOpInfo id =                                        \
      pte_op_info(#id, number, name, OpType::type, bits, Packing::packing, arguments);
#include "abi/ops/conv.def"
#undef THIMBLE_PTE_OP

}  // namespace thimble::abi::op_info
