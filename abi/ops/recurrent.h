#pragma once
#define THIMBLE_OPS "abi/ops/recurrent.def"
#include "abi/ops/constants.def"
