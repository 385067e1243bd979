// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators as functions of one int8 value: tables of 256 entries.

#include <array>
#include <optional>

#include "ir/graph.h"

namespace thimble::engine::neutron {

using Table = std::array<int8_t, 256>;  // entry i is for the value i - 128

/// Returns the table of a `lut` or of an int8 `rescale`.
[[nodiscard]] std::optional<Table> table_of(const ir::Graph& subgraph, const ir::Op& op);

/// An operator as a table, with the operand that it is applied to. Such operators are those of
/// table_of(), a sum, product, minimum or maximum with one constant number, and a 1x1 depthwise
/// convolution with one weight and one scale. The result has the operand's shape.
struct Int8Function {
  Table table{};
  ir::ValueId operand = ir::kNoValue;
};
[[nodiscard]] std::optional<Int8Function> int8_function(const ir::Graph& subgraph,
                                                        const ir::Op& op);

/// Returns the table of an operator with two operands (sum, product, minimum, maximum) that are
/// both functions of the same int8 value. The identity table stands for the value itself.
[[nodiscard]] std::optional<Table> table_of_pair(const ir::Graph& subgraph, const ir::Op& op,
                                                 const Table& first, const Table& second);
[[nodiscard]] Table identity_table();

/// Returns the table that applies `first`, then `second`.
[[nodiscard]] Table composed(const Table& first, const Table& second);

}  // namespace thimble::engine::neutron
