// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "abi/pte_op.h"

#define THIMBLE_PTE_OP THIMBLE_PTE_OP_CONSTANT
#include "abi/ops/aten.def"
#undef THIMBLE_PTE_OP
