#pragma once
#define THIMBLE_OPS "abi/ops/stock.def"
#include "abi/ops/constants.def"
