#pragma once
#define THIMBLE_OPS "abi/ops/reduction.def"
#include "abi/ops/constants.def"
