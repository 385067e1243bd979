#pragma once
#define THIMBLE_OPS "abi/ops/decomposed.def"
#include "abi/ops/constants.def"
