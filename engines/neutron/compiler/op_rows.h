// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rows of ops.def as tables, for limits.h and for the list of supported operators.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "engines/neutron/compiler/limits.h"
#include "interchange/table_function.h"
#include "ir/graph.h"

namespace thimble::engine::neutron {

/// An operator with its graph; the quantities of ops.def are functions of it.
struct OpInGraph {
  const ir::Graph& graph;
  const ir::Op& op;
  [[nodiscard]] const ir::Type& x() const { return graph.type(op.inputs[0]); }
  [[nodiscard]] const ir::Type& y() const { return graph.type(op.output); }
  [[nodiscard]] const ir::Shape& shape(size_t i) const { return graph.type(op.inputs[i]).shape; }
  [[nodiscard]] bool is_computed(size_t i) const {
    return op.inputs[i] != ir::kNoValue && graph.value(op.inputs[i]).constant == nullptr;
  }
  /// Returns entry `i` of an attribute [height, width].
  [[nodiscard]] int64_t side(ir::AttrKey<std::vector<int64_t>> key, size_t i) const {
    return op.get(key)[i];
  }
};

/// Column `op` of the following rows: an operator, or kAnyOp.
inline constexpr ir::OpKind kAnyOp = ir::OpKind::kCount;

/// Returns true if a row with column `op` is for this operator.
constexpr bool is_for(ir::OpKind op, ir::OpKind kind) {
  return op == kind || op == kAnyOp;
}

struct LimitRow {
  ir::OpKind op;
  uint8_t variants;
  std::string_view name;
  int64_t (*quantity)(const OpInGraph&);
  int64_t lowest, highest;
};

struct ZeroRow {
  ir::OpKind op;
  uint8_t variants;
  std::string_view message;
  int64_t (*quantity)(const OpInGraph&);
};

struct ChoiceRow {
  ir::OpKind op;
  uint8_t variants;
  std::string_view name;
  int64_t (*quantity)(const OpInGraph&);
  std::initializer_list<int64_t> values;
};

/// Column `traits` of NEUTRON_SUPPORTED: a set of these.
inline constexpr uint8_t kNoTraits = 0, kTableOnResult = 1, kAnyOrder = 2, kAnyOrderIfKeepdim = 4;

struct SupportedRow {
  ir::OpKind op;
  uint8_t variants;
  uint8_t traits;
};

struct RefusalRow {
  ir::OpKind op;
  uint8_t variants;
  std::string_view reason;
};

struct FunctionRow {
  interchange::Function::Kind kind;
  uint8_t variants;
  std::string_view builtin, names;
};

struct FixedRow {
  interchange::Function::Kind kind;
  double scale;
  int32_t zero_point;
};

/// Returns true if the operator is supported and its row has the trait.
[[nodiscard]] bool has_trait(ir::OpKind kind, uint8_t trait);
[[nodiscard]] std::span<const SupportedRow> supported_rows();
[[nodiscard]] std::span<const RefusalRow> refusal_rows();
[[nodiscard]] std::span<const LimitRow> limit_rows();
[[nodiscard]] std::span<const ZeroRow> zero_rows();
[[nodiscard]] std::span<const ChoiceRow> choice_rows();
[[nodiscard]] std::span<const FunctionRow> function_rows();
[[nodiscard]] std::span<const FixedRow> fixed_rows();

/// Returns the range as text: "4", "at least 4" or "1 to 4".
[[nodiscard]] std::string range_text(int64_t lowest, int64_t highest);
/// Returns the names of the functions that a `lut` may compute: "abs, clamp, hardtanh, relu, ..."
[[nodiscard]] std::string functions_text(Variant variant);

}  // namespace thimble::engine::neutron
