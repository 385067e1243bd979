#pragma once
#define THIMBLE_OPS "abi/ops/conv.def"
#include "abi/ops/constants.def"
