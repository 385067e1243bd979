// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of one position. A decoder gets the position of its token as an int64 input, adds to
// it, converts it to float and computes the angles of rotary embeddings from it. A position that a
// tensor of N elements is indexed with has N possible values, because PyTorch refuses all others. A
// function of it is therefore a table with one row per position, and a `gather` of that row.
// Devices need no integer arithmetic for it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "import/builder.h"

namespace thimble::import_pt2 {

// Limit of the positions of a table, of which a graph may need many.
inline constexpr int64_t kPositionsMax = int64_t{1} << 14;

/// By name of an integer graph input: the smallest number of elements that it selects from.
using PositionCounts = std::map<std::string, int64_t>;

/// The rows of a value that depends on one position only.
struct PositionTable {
  ir::ValueId position = ir::kNoValue;  // the graph input, which has one element
  int64_t rows = 0;
  ir::Tensor values;  // [rows, shape of the value...]
};

/// Records that a tensor of `size` elements is indexed with `index`. PyTorch must refuse all
/// positions below 0 and above size - 1. Has no effect if `index` is not the elements of a graph
/// input.
void note_position(const Builder& builder, ir::ValueId index, int64_t size, PositionCounts& counts);

/// Returns the table of an integer value that is computed from one position with a known count of
/// at most kPositionsMax. Returns nothing for other values, and for a table of more than
/// Builder::known_elements_max().
[[nodiscard]] std::optional<PositionTable> table_of(const Builder& builder, ir::ValueId value,
                                                    const PositionCounts& counts);

/// Adds the `gather` of the table's row at run time. `shape` is the shape of the value.
[[nodiscard]] Result<ir::ValueId> row_of_table(Builder& builder, const PositionTable& table,
                                               const ir::Shape& shape, const ir::Source& source,
                                               const std::string& name);

}  // namespace thimble::import_pt2
