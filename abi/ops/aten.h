#pragma once
#define THIMBLE_OPS "abi/ops/aten.def"
#include "abi/ops/constants.def"
