// SPDX-License-Identifier: Apache-2.0
#pragma once
// Check of packed elementwise operators on two int8 tensors: a, b, constant, y.

#include "kernels/args/loop_nest.h"

namespace thimble::kernels {

Status check_binary_nest(const Call& call, const abi::LoopNest& nest);
/// Checks mul_nest: a, b, MulNest constant, y.
Status check_mul_nest(const Call& call);

}  // namespace thimble::kernels
