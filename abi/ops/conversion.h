#pragma once
#define THIMBLE_OPS "abi/ops/conversion.def"
#include "abi/ops/constants.def"
