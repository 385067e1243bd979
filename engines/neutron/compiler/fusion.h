#pragma once
// Which operators of a region another one's kernel computes along with its own.
//
// A function of one code (tables.h) that is the only reader of a result is applied to that result
// before it is written, through reshapes and permutes in between; several become one table, also
// where one of them meets what it was made of (x * sigmoid(x)). A
// padding with the zero point that only convolutions read is their own padding. Borders mirrored,
// or an image resized to the nearest, along two dimensions are one kernel. All of it keeps every
// bit.

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "engines/neutron/compiler/tables.h"

namespace thimble::engine::neutron {

struct Fusion {
  /// Another operator's kernel does it: a later one, which reads what stood in front of this one.
  bool absorbed = false;
  /// An earlier one does it: what is left is a new name for the operand.
  bool renames = false;
  std::optional<Table> table;        // behind the result; of a table: what it is with those behind
  bool is_table = false;             // the operator itself is a function of one code
  int table_op = -1;                 // the operator that is the table, if it is one alone
  std::vector<int64_t> padding;      // in front: top, left, bottom, right
  ir::ValueId input = ir::kNoValue;  // in front of what is absorbed
  ir::Shape input_shape;             // of `input`, as this operator reads it
  std::vector<int> others;           // operators that this one's kernel does as well
};

/// By operator.
[[nodiscard]] std::vector<Fusion> find_fusions(const ir::Graph& region);

/// Operators that only give bytes another name or shape.
[[nodiscard]] bool only_renames(const ir::Op& op);

}  // namespace thimble::engine::neutron
