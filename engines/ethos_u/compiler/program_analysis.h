// SPDX-License-Identifier: Apache-2.0
#pragma once
// Properties of a program that the scheduler computes before any decision.

#include <vector>

#include "engines/ethos_u/compiler/cost.h"
#include "engines/ethos_u/compiler/plan.h"
#include "memory/lifetime.h"

namespace thimble::engine::ethos_u {

struct TensorUse {
  std::vector<int> writers, readers;  // operations, ascending
  memory::Lifetime life;              // in operations; `last` is op_count() for an output
  bool whole = false;  // every operand is the whole tensor with its strides: rows can be split
  Format format = Format::kNhwc;
  int64_t bytes = 0;  // of all rows, aligned
};

struct ProgramAnalysis {
  const NpuProgram* program = nullptr;
  std::vector<TensorUse> tensors;
  std::vector<OpShape> shapes;
  /// For an elementwise operation: the operand's tensor that its OFM may overwrite, or -1.
  std::vector<int> in_place;

  [[nodiscard]] const NpuOp& op(int index) const {
    return program->ops[static_cast<size_t>(index)];
  }
  [[nodiscard]] const TensorUse& use(int tensor) const {
    return tensors[static_cast<size_t>(tensor)];
  }
  [[nodiscard]] int op_count() const { return static_cast<int>(program->ops.size()); }
  /// Returns the aligned size in bytes of a rolling buffer with `rows` rows of a tensor.
  [[nodiscard]] int64_t rolling_buffer_bytes(int tensor, int64_t rows) const;
};
[[nodiscard]] ProgramAnalysis analyse(const NpuProgram& program);

/// Returns true if the operation can compute some rows of its OFM from some rows of its operands.
[[nodiscard]] bool can_split_rows(const NpuOp& op);

}  // namespace thimble::engine::ethos_u
