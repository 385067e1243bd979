#pragma once
#define THIMBLE_OPS "abi/ops/arithmetic.def"
#include "abi/ops/constants.def"
