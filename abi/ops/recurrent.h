#pragma once
#include "abi/pte_op.h"

#define THIMBLE_PTE_OP THIMBLE_PTE_OP_CONSTANT
#include "abi/ops/recurrent.def"
#undef THIMBLE_PTE_OP
