#pragma once
// The graph: values (typed, single assignment) and operators in execution order.
//
// Operators are made only through Graph::add, which checks the row of ops.def and computes the
// result's type: an ill-formed operator cannot be built. Operators have one result; an operator
// with several would get a list here.
// Constants are values without a producer that carry data. States are values without a producer
// that live from one run to the next: operators read what the run before left.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
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

/// Where the user wrote it. Carried from the .pt2 to every message.
struct Source {
  std::string file;    // "kws.py"
  int line = 0;        // 0 = unknown
  std::string text;    // the line itself
  std::string module;  // "features.3.conv"
  std::string target;  // "aten.conv2d.default"
  std::string node;    // of the export: "conv2d_1"

  bool operator==(const Source&) const = default;
  /// `kws.py:31`, or the module path, or "".
  [[nodiscard]] std::string where() const;
};

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

  [[nodiscard]] int64_t integer(std::string_view name) const;  // also booleans
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] std::vector<int64_t> integers(std::string_view name) const;
};

/// Memory that survives a run: `value` is read like an input, and holds `next` when the run ends.
struct State {
  ValueId value = kNoValue;
  TensorPtr initial;        // what the first run reads, and the first one after a reset
  ValueId next = kNoValue;  // of the same element type, shape and quantization; may be `value`
};

class Graph {
 public:
  std::string name = "forward";

  ValueId add_input(std::string name, Type type);
  ValueId add_constant(std::string name, TensorPtr tensor, std::optional<Quant> quant = {});
  /// Keeps its content until set_next() says what becomes of it.
  ValueId add_state(std::string name, TensorPtr initial, std::optional<Quant> quant = {});
  void set_next(size_t state, ValueId next) { states_[state].next = next; }
  void add_output(ValueId value) { outputs_.push_back(value); }

  /// Checks operands and attributes against the row and the type rule, appends the operator.
  /// The error says what does not fit, located by `source`. `dim_order` and `quant` of the result
  /// are taken from `result` when given (data movement keeps the operand's quant by itself).
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
  /// What a run has to compute: the outputs, then what each state becomes.
  [[nodiscard]] std::vector<ValueId> results() const;
  [[nodiscard]] bool is_input(ValueId id) const;
  [[nodiscard]] bool is_state(ValueId id) const;
  /// Index of the producing operator, or -1 for inputs, states and constants.
  [[nodiscard]] std::vector<int> producers() const;
  /// Indices of consuming operators by value, in execution order (an operator twice if it reads
  /// twice).
  [[nodiscard]] std::vector<std::vector<int>> consumers() const;

 private:
  std::string unique_name(std::string name);

  std::vector<Value> values_;
  std::vector<Op> ops_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::vector<State> states_;
  std::map<std::string, int> next_suffix_;  // names in use, with the number to try on a clash
};

/// Passes rewrite by copying: a Rewriter walks the old graph and builds the new one, so no pass
/// ever edits operators in place, and every operator passes the factory again.
class Rewriter {
 public:
  /// Inputs and states are copied and mapped at once. `from` must outlive the rewriter.
  explicit Rewriter(const Graph& from);
  explicit Rewriter(const Graph&&) = delete;

  Graph& to() { return to_; }
  [[nodiscard]] const Graph& from() const { return from_; }
  /// The new value that stands for an old one (constants are copied at their first use).
  ValueId map(ValueId old_value);
  [[nodiscard]] std::vector<ValueId> map(std::span<const ValueId> old_values);
  void set(ValueId old_value, ValueId new_value);
  /// Copies the operator as it is, with mapped operands.
  Status copy(const Op& op);
  /// Outputs and the states' next values are mapped, the new graph is handed over.
  Graph finish();
  /// The same for the states alone, for those who map outputs in another way.
  void finish_states();

 private:
  friend Graph remove_unused(const Graph& graph);
  /// With only those states of `from` whose values are kept.
  Rewriter(const Graph& from, const std::vector<bool>& keep);

  const Graph& from_;
  Graph to_;
  std::vector<ValueId> mapped_;
};

}  // namespace thimble::ir
