// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "abi/pte_op.h"

#define THIMBLE_NATIVE_OP THIMBLE_NATIVE_OP_CONSTANT
#include "abi/ops/float.def"
#undef THIMBLE_NATIVE_OP
