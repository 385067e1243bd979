#pragma once
// Operators as functions of one code: a table of 256.

#include <array>
#include <optional>

#include "ir/graph.h"

namespace thimble::engine::neutron {

using Table = std::array<int8_t, 256>;  // of code - 128

/// Of a `lut` or a `rescale` of int8: what it does to each code of its operand.
[[nodiscard]] std::optional<Table> table_of(const ir::Graph& region, const ir::Op& op);

/// The operand of which the operator computes code by code what the table says: of those above, of
/// a sum, product or choice with one constant number, of a convolution of one tap that has one
/// weight and one scale for all channels. The result has that operand's shape.
struct CodeFunction {
  Table table{};
  ir::ValueId operand = ir::kNoValue;
};
[[nodiscard]] std::optional<CodeFunction> code_function(const ir::Graph& region, const ir::Op& op);

/// Of a sum, product or choice whose operands are both functions of one code (identity: the code
/// itself), what the result is for it.
[[nodiscard]] std::optional<Table> table_of_pair(const ir::Graph& region, const ir::Op& op,
                                                 const Table& first, const Table& second);
[[nodiscard]] Table identity_table();

/// The first table, then the second.
[[nodiscard]] Table composed(const Table& first, const Table& second);

}  // namespace thimble::engine::neutron
