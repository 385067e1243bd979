#pragma once
// A direct operator (abi/pte_ops.def) against the evaluator: one IR operator, run by both.

#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "tests/kernels/invocation.h"

namespace thimble::kernels::test {

/// A tensor of the evaluator for a value of the kernel's, and back; memory in logical order.
ir::Tensor to_ir(const Value& value);
Value from_ir(const ir::Tensor& tensor);

/// The call that a file would hold for this operator: operands, attributes, result.
Invocation direct(abi::PteOp op, ir::OpKind kind, const std::vector<ir::Tensor>& operands,
                  const ir::Attrs& attrs);
/// Runs it, and compares every byte with the evaluator's.
void expect_as_evaluated(abi::PteOp op, ir::OpKind kind, const std::vector<ir::Tensor>& operands,
                         const ir::Attrs& attrs);

}  // namespace thimble::kernels::test
