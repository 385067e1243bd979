#pragma once
#define THIMBLE_OPS "abi/ops/normalization.def"
#include "abi/ops/constants.def"
