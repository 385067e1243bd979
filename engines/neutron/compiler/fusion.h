// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds operators that the kernel of another operator computes too.
//
// If the only reader of an operator's result is a function of one int8 value (tables.h), the
// operator's kernel applies that function as a table before it writes. Reshapes and permutes may be
// in between. Several functions are composed into one table, also in patterns like x * sigmoid(x).
// A padding with the zero point that only convolutions read becomes their own padding. Mirror
// paddings, and nearest upsamplings of an image, along two dimensions become one kernel. All
// results stay bit-exact.

#include <optional>
#include <vector>

#include "engines/neutron/compiler/tables.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

struct Fusion {
  /// Another operator's kernel computes it and no other operator reads its result: it gets no
  /// kernel and no location.
  bool absorbed = false;
  /// The producer's kernel computes it; the result has the location of `input`.
  bool in_producer = false;
  std::optional<Table> table;        // applied to the result; includes the operator if `is_table`
  bool is_table = false;             // the operator itself is a function of one int8 value
  int table_op = -1;                 // the operator of the table if it is only one, else -1
  std::vector<int64_t> padding;      // fused padding: top, left, bottom, right
  ir::ValueId input = ir::kNoValue;  // operand after fusion
  ir::Shape input_shape;             // shape of `input` as this operator reads it
  std::vector<int> fused_ops;        // operators that this operator's kernel computes too
};

/// Returns one entry per operator.
[[nodiscard]] std::vector<Fusion> find_fusions(const ir::Graph& subgraph);

/// Returns true for operators that only view the same bytes: reshape, permute, copy.
[[nodiscard]] bool is_view_op(const ir::Op& op);

}  // namespace thimble::engine::neutron
