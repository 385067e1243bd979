#pragma once
// Which operators of a region another one's kernel computes along with its own.
//
// A table (`lut`, `rescale` of int8) that is the only reader of a result is applied to that result
// before it is written; a table behind a table becomes one. A padding with the zero point that only
// convolutions read is their own padding. Borders mirrored, or an image resized to the nearest,
// along two dimensions are one kernel. All of it keeps every bit.

#include <array>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::target::neutron {

using Table = std::array<int8_t, 256>;

struct Fusion {
  bool absorbed = false;              // another operator's kernel does it
  std::optional<Table> table;         // behind the result
  ir::ValueId result = ir::kNoValue;  // what the kernel makes then
  std::vector<int64_t> padding;       // in front: top, left, bottom, right
  ir::ValueId input = ir::kNoValue;   // in front of the padding, or of `front`
  int front = -1;                     // an operator whose work this kernel does first
  int table_op = -1;                  // if one operator alone is the table
};

/// By operator.
[[nodiscard]] std::vector<Fusion> find_fusions(const ir::Graph& region);

/// What an operator of one operand does to each code, if nothing else counts.
[[nodiscard]] std::optional<Table> table_of(const ir::Graph& region, const ir::Op& op);

}  // namespace thimble::target::neutron
