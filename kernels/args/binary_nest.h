#pragma once
// Check of packed operators on two int8 tensors element by element: a, b, constant, y.

#include "kernels/args/nest.h"

namespace thimble::kernels {

Status check_binary_nest(const Call& call, const abi::Nest& nest);
/// Of mul_nest: a, b, MulNest constant, y.
Status check_mul_nest(const Call& call);

}  // namespace thimble::kernels
