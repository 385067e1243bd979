// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graph: values (typed, single assignment) and operators in execution order.
//
// Operators are created only by Graph::add, which checks the operator against its row of ops.def
// and computes the type of the result: an ill-formed operator cannot be built. Each operator has
// exactly one result. Constants are values without a producer that carry data. States are values
// without a producer that persist from one run to the next: an operator that reads a state reads
// the content that the previous run left.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_names.h"
#include "ir/op.h"
#include "ir/tensor.h"
#include "ir/type.h"

namespace thimble::ir {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  // an absent optional operand
/// Position of a value in a vector that has an entry per value.
[[nodiscard]] constexpr size_t index_of(ValueId id) {
  return static_cast<size_t>(id);
}

/// Source location of an operator in the user's model. Carried from the .pt2 to every message.
struct Source {
  std::string file;    // "kws.py"
  int line = 0;        // 0 = unknown
  std::string text;    // the line itself
  std::string module;  // "features.3.conv"
  std::string target;  // "aten.conv2d.default"
  std::string node;    // name of the node in the export: "conv2d_1"

  bool operator==(const Source&) const = default;
  /// Returns `kws.py:31`, or the module path, or "".
  [[nodiscard]] std::string where() const;
};

/// Returns the error with `kws.py:31: conv2d: ` before its message.
[[nodiscard]] Error located(const Source& source, OpKind kind, const Error& error);

struct Value {
  std::string name;  // unique in the graph
  Type type;
  TensorPtr constant;  // set for constants only
};

struct Op {
  OpKind kind{};
  std::vector<ValueId> inputs;  // kNoValue where an optional operand is absent
  ValueId output = kNoValue;
  Attrs attrs;
  Source source;

  /// Returns an attribute of the row; valid until the attributes change.
  template <typename T>
  [[nodiscard]] const T& get(AttrKey<T> key) const {
    return std::get<T>(attr_value(kind, attrs, key.id));
  }
};

/// Memory that survives a run. Operators read `value`; it holds the content of `next` after the
/// run.
struct State {
  ValueId value = kNoValue;
  TensorPtr initial;        // content before the first run and after a reset
  ValueId next = kNoValue;  // same element type, shape and quantization; may be equal to `value`
};

class Graph {
 public:
  std::string name = "forward";

  ValueId add_input(std::string name, Type type);
  ValueId add_constant(std::string name, TensorPtr tensor, std::optional<Quant> quant = {});
  /// Adds a state. Its content does not change until set_next() sets its next value.
  ValueId add_state(std::string name, TensorPtr initial, std::optional<Quant> quant = {});
  void set_next(size_t state, ValueId next) { states_[state].next = next; }
  void add_output(ValueId value) { outputs_.push_back(value); }

  /// Checks operands and attributes against the row and the type rule, then appends the operator.
  /// An error names the check that failed and is located by `source`. `dim_order` and `quant` of
  /// the result are taken from `result` if given. (Data movement keeps the operand's quant anyway.)
  struct ResultHint {
    std::string name;
    std::optional<DimOrder> dim_order;
    std::optional<Quant> quant;
  };
  Result<ValueId> add(OpKind kind, std::vector<ValueId> inputs, Attrs attrs, Source source = {},
                      ResultHint result = {});

  [[nodiscard]] const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  [[nodiscard]] Value& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  [[nodiscard]] const Type& type(ValueId id) const { return value(id).type; }
  [[nodiscard]] size_t value_count() const { return values_.size(); }
  [[nodiscard]] const std::vector<Op>& ops() const { return ops_; }
  [[nodiscard]] std::vector<Op>& ops() { return ops_; }
  [[nodiscard]] const std::vector<ValueId>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<ValueId>& outputs() const { return outputs_; }
  [[nodiscard]] std::vector<ValueId>& outputs() { return outputs_; }
  [[nodiscard]] const std::vector<State>& states() const { return states_; }
  /// Returns the values that a run must compute: the outputs, then the next value of each state.
  [[nodiscard]] std::vector<ValueId> results() const;
  [[nodiscard]] bool is_input(ValueId id) const;
  [[nodiscard]] bool is_state(ValueId id) const;
  /// Returns the index of the producing operator of each value; -1 for inputs, states, constants.
  [[nodiscard]] std::vector<int> producers() const;
  /// Returns the indices of the consuming operators of each value, in execution order. An operator
  /// that reads a value twice is listed twice.
  [[nodiscard]] std::vector<std::vector<int>> consumers() const;

 private:
  std::vector<Value> values_;
  std::vector<Op> ops_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<State> states_;
  UniqueNames names_;  // of the values
};

/// Passes rewrite by copying. A Rewriter traverses the old graph and builds the new one: no pass
/// edits operators in place, and every operator is checked again by Graph::add.
class Rewriter {
 public:
  /// Copies and maps inputs and states. `from` must outlive the rewriter.
  explicit Rewriter(const Graph& from);
  explicit Rewriter(const Graph&&) = delete;

  Graph& to() { return to_; }
  [[nodiscard]] const Graph& from() const { return from_; }
  /// Returns the new value that replaces an old one (constants are copied at their first use).
  ValueId map(ValueId old_value);
  [[nodiscard]] std::vector<ValueId> map(std::span<const ValueId> old_values);
  void set(ValueId old_value, ValueId new_value);
  /// Copies the operator unchanged, with mapped operands.
  Status copy(const Op& op);
  /// Maps the outputs and the next values of the states, and returns the new graph.
  Graph finish();
  /// Maps only the next values of the states, for callers that map the outputs themselves.
  void finish_states();

 private:
  friend Graph remove_unused(const Graph& graph);
  /// Copies only the states of `from` whose values are in `keep`.
  Rewriter(const Graph& from, const std::vector<bool>& keep);

  const Graph& from_;
  Graph to_;
  std::vector<ValueId> mapped_;
};

}  // namespace thimble::ir
