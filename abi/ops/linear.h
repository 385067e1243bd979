#pragma once
#define THIMBLE_OPS "abi/ops/linear.def"
#include "abi/ops/constants.def"
