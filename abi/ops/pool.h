#pragma once
#define THIMBLE_OPS "abi/ops/pool.def"
#include "abi/ops/constants.def"
