// SPDX-License-Identifier: Apache-2.0
#pragma once
// The portable bodies of add and mul, which accept every valid call. Faster variants of the stock
// operators run them for calls that their own loops do not support.

#include "abi/params/arithmetic.h"
#include "kernels/args/elementwise.h"

namespace thimble::kernels {

void add_rows(Binary& binary, const abi::AddParams& params);
void mul_rows(Binary& binary, const abi::MulParams& params);

}  // namespace thimble::kernels
