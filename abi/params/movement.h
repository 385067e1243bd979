// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters of operators that move data.

#include "abi/params/list.h"

namespace thimble::abi {

/// gather and gather_elements
struct GatherParams {
  int32_t dim;
};
static_assert(sizeof(GatherParams) == 4);

struct PermuteParams {
  IntTail dims;
};
static_assert(sizeof(PermuteParams) == 4);

}  // namespace thimble::abi
