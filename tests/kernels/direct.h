// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compares the kernel of a direct operator with the reference evaluator. A direct operator's call
// has the arguments of the IR operator, so one comparison covers all of them.

#include <optional>
#include <vector>

#include "ir/op.h"
#include "ir/tensor.h"
#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

struct Operand {
  ir::Tensor tensor;
  bool constant = false;
  Order order = {};  // empty: contiguous
};

ir::Tensor random_tensor(Random& random, ir::DType dtype, const ir::Shape& shape);
ir::Tensor random_i32(Random& random, const ir::Shape& shape, int32_t low, int32_t high);

/// Checks that every element of the kernel's result, written in `order`, equals the evaluator's.
/// An operand without a value is absent.
void expect_direct(ir::OpKind kind, const ir::Attrs& attrs,
                   const std::vector<std::optional<Operand>>& operands, const Order& order = {});

}  // namespace thimble::kernels::test
