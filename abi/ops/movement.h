#pragma once
#define THIMBLE_OPS "abi/ops/movement.def"
#include "abi/ops/constants.def"
