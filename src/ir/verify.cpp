// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.h"

#include <set>

#include "ir/infer.h"
#include "ir/row_check.h"

namespace thimble::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.value_count(), false) {}

  Status run() {
    THIMBLE_CHECK(values());
    for (const ValueId id : graph_.inputs()) THIMBLE_CHECK(define(id, "an input"));
    for (const State& state : graph_.states()) THIMBLE_CHECK(define(state.value, "a state"));
    for (const Op& op : graph_.ops()) {
      const Status status = check(op);
      if (!status.ok()) return located(op.source, op.kind, status.error());
    }
    for (const ValueId id : graph_.outputs()) {
      if (!known(id)) return bad_input("output {} does not exist", id);
      if (!defined(id)) return bad_input("output %{} is never defined", graph_.value(id).name);
    }
    for (const State& state : graph_.states()) THIMBLE_CHECK(check_state(state));
    return ok();
  }

 private:
  Status check_state(const State& state) const {
    const Value& value = graph_.value(state.value);
    if (!known(state.next) || !defined(state.next)) {
      return bad_input("the next value of state %{} is never defined", value.name);
    }
    if (state.initial == nullptr || state.initial->dtype != value.type.dtype ||
        state.initial->shape != value.type.shape ||
        state.initial->bytes.size() != value.type.bytes()) {
      return bad_input("state %{} is {}, its initial content is not", value.name,
                       type_text(value.type.dtype, value.type.shape));
    }
    const Value& next = graph_.value(state.next);
    if (next.type.dtype != value.type.dtype || next.type.shape != value.type.shape) {
      return bad_input("state %{} is {}, it becomes %{}, which is {}", value.name,
                       type_text(value.type.dtype, value.type.shape), next.name,
                       type_text(next.type.dtype, next.type.shape));
    }
    if (next.type.quant != value.type.quant) {
      return bad_input("state %{} and %{}, which it becomes, differ in quantization", value.name,
                       next.name);
    }
    return ok();
  }
  bool known(ValueId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.value_count(); }
  bool defined(ValueId id) const { return defined_[static_cast<size_t>(id)]; }

  Status define(ValueId id, std::string_view what) {
    if (!known(id)) return bad_input("{} is value {}, which does not exist", what, id);
    if (defined(id)) return bad_input("%{} is defined twice", graph_.value(id).name);
    defined_[static_cast<size_t>(id)] = true;
    return ok();
  }

  Status values() {
    std::set<std::string_view> names;
    for (ValueId id = 0; known(id); ++id) {
      const Value& value = graph_.value(id);
      if (!names.insert(value.name).second)
        return bad_input("two values are named %{}", value.name);
      const Status status = check_type(value.type);
      if (!status.ok()) return prefixed("%" + value.name, status.error());
      if (value.constant == nullptr) continue;
      THIMBLE_CHECK(define(id, "a constant"));
      const Tensor& data = *value.constant;
      if (data.dtype != value.type.dtype || data.shape != value.type.shape ||
          data.bytes.size() != value.type.bytes()) {
        return bad_input("constant %{} is {}, its data is {} in {} bytes", value.name,
                         type_text(value.type.dtype, value.type.shape),
                         type_text(data.dtype, data.shape), data.bytes.size());
      }
    }
    return ok();
  }

  Status check(const Op& op) {
    THIMBLE_CHECK(check_operands(op.kind, op.inputs));
    std::vector<const Value*> operands;
    for (const ValueId id : op.inputs) {
      if (id != kNoValue && !known(id)) return bad_input("operand {} does not exist", id);
      if (id != kNoValue && !defined(id)) {
        return bad_input("%{} is used before it is defined", graph_.value(id).name);
      }
      operands.push_back(id == kNoValue ? nullptr : &graph_.value(id));
    }
    THIMBLE_TRY(const Attrs attrs, normalized(op.kind, op.attrs));
    if (attrs != op.attrs) return bad_input("attributes are not in their normal form");
    THIMBLE_TRY(const Type inferred, infer_type(op.kind, operands, op));
    THIMBLE_CHECK(define(op.output, "the result"));
    const Value& result = graph_.value(op.output);
    if (inferred.dtype != result.type.dtype || inferred.shape != result.type.shape) {
      return bad_input("the result %{} is {}, expected {}", result.name,
                       type_text(result.type.dtype, result.type.shape),
                       type_text(inferred.dtype, inferred.shape));
    }
    if (inferred.quant && inferred.quant != result.type.quant) {
      return bad_input(
          "the quantization of the result %{} differs from that of its operand or attributes",
          result.name);
    }
    return ok();
  }

  const Graph& graph_;
  std::vector<bool> defined_;
};

}  // namespace

Status verify(const Graph& graph) {
  return Verifier(graph).run();
}

}  // namespace thimble::ir
