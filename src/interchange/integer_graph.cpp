// SPDX-License-Identifier: Apache-2.0
#include "interchange/integer_graph.h"

#include <optional>

#include "interchange/layouts.h"

namespace thimble::interchange {

using ir::OpKind;
using ir::ValueId;

Error refusal(const ir::Op& op, std::string_view format, const std::string& reason) {
  const std::string where = op.source.where();
  return unsupported("{}{}{} cannot be represented in {}: {}", where, where.empty() ? "" : ": ",
                     ir::op_name(op.kind), format, reason);
}

int64_t repetitions(const ir::Graph& graph, const ir::Op& op) {
  const ir::Value& index = graph.value(op.inputs[1]);
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const int64_t size = graph.type(op.inputs[0]).shape[dim];
  if (!index.constant || index.type.shape.size() != 1) return 0;
  const int64_t count = index.type.shape[0];
  if (count % size != 0) return 0;
  const int64_t times = count / size;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t place = index.type.dtype == ir::DType::kI64 ? index.constant->data<int64_t>()[at]
                                                              : index.constant->data<int32_t>()[at];
    if (place != i / times) return 0;
  }
  return times;
}

namespace {

class Extraction {
 public:
  /// `integers`: only the integer part; an operator that computes in float is an error.
  Extraction(const ir::Graph& from, bool integers)
      : from_(from),
        integers_(integers),
        consumers_(from.consumers()),
        producers_(from.producers()),
        mapped_(from.value_count(), ir::kNoValue) {
    source_.graph.name = from.name;
  }

  Result<StatelessGraph> run() {
    for (const ValueId input : from_.inputs()) THIMBLE_CHECK(add_input(input));
    for (const ir::State& state : from_.states()) {
      set(state.value,
          source_.graph.add_input(from_.value(state.value).name, from_.type(state.value)));
    }
    for (const ir::Op& op : from_.ops()) THIMBLE_CHECK(add_op(op));
    for (const ValueId output : from_.outputs()) THIMBLE_CHECK(add_output(output));
    for (const ir::State& state : from_.states()) {
      source_.graph.add_output(map(state.next));
      source_.output_order.push_back(Layouts::io_order(from_.type(state.value)));
    }
    source_.states = from_.states().size();
    return std::move(source_);
  }

 private:
  void set(ValueId old_value, ValueId new_value) {
    mapped_[static_cast<size_t>(old_value)] = new_value;
  }

  ValueId map(ValueId old_value) {
    if (old_value == ir::kNoValue) return ir::kNoValue;
    ValueId& mapped = mapped_[static_cast<size_t>(old_value)];
    const ir::Value& value = from_.value(old_value);
    if (mapped == ir::kNoValue && value.constant) {
      mapped = source_.graph.add_constant(value.name, value.constant, value.type.quant);
    }
    return mapped;
  }

  /// Replaces a float input by the result of the quantize operators that read it. They must all
  /// have the same attributes.
  Status add_input(ValueId input) {
    const ir::Value& value = from_.value(input);
    if (!integers_ || value.type.dtype != ir::DType::kF32) {
      set(input, source_.graph.add_input(value.name, value.type));
      return ok();
    }
    const ir::Op* first = nullptr;
    for (const int index : consumers_[static_cast<size_t>(input)]) {
      const ir::Op& op = from_.ops()[static_cast<size_t>(index)];
      if (op.kind != OpKind::quantize || (first && !(op.attrs == first->attrs))) {
        return unsupported(
            "input {}: a float input with readers other than quantize operators with equal "
            "parameters",
            value.name);
      }
      first = &op;
    }
    if (!first) return unsupported("input {}: a float input that no operator reads", value.name);
    ir::Type type = from_.type(first->output);
    type.dim_order = value.type.dim_order;
    if (!type.quant) {
      type.quant = ir::per_tensor(first->get(ir::attr::scale),
                                  static_cast<int32_t>(first->get(ir::attr::zero_point)));
    }
    const ValueId codes = source_.graph.add_input(value.name, type);
    for (const int index : consumers_[static_cast<size_t>(input)]) {
      set(from_.ops()[static_cast<size_t>(index)].output, codes);
    }
    return ok();
  }

  Status add_op(const ir::Op& op) {
    if (mapped_[static_cast<size_t>(op.output)] != ir::kNoValue) return ok();
    const bool leaves = integers_ && op.kind == OpKind::dequantize && only_output(op.output);
    if (leaves) return ok();
    bool is_float = from_.type(op.output).dtype == ir::DType::kF32;
    for (const ValueId input : op.inputs) {
      is_float = is_float || (input != ir::kNoValue && from_.type(input).dtype == ir::DType::kF32);
    }
    if (integers_ && is_float) return refusal(op, "integers", "it computes in float");
    const bool rounds = ir::has_attr(op.kind, ir::attr::rounding);
    if (rounds && op.get(ir::attr::rounding) == 2) {
      return refusal(op, "LiteRT and TOSA", "it rounds halves to even");
    }
    std::vector<ValueId> inputs;
    for (const ValueId input : op.inputs) inputs.push_back(map(input));
    const ir::Value& value = from_.value(op.output);
    ir::Graph::ResultHint hint{value.name, value.type.dim_order, value.type.quant};
    THIMBLE_TRY(const ValueId made, source_.graph.add(op.kind, std::move(inputs), op.attrs,
                                                      op.source, std::move(hint)));
    set(op.output, made);
    return ok();
  }

  [[nodiscard]] bool only_output(ValueId value) const {
    return consumers_[static_cast<size_t>(value)].empty();
  }

  Status add_output(ValueId output) {
    source_.output_order.push_back(Layouts::io_order(from_.type(output)));
    const int producer = producers_[static_cast<size_t>(output)];
    const ir::Op* op = producer < 0 ? nullptr : &from_.ops()[static_cast<size_t>(producer)];
    if (!integers_ || !op || op->kind != OpKind::dequantize) {
      if (integers_ && from_.type(output).dtype == ir::DType::kF32) {
        return unsupported("output {}: a float output that is not the result of a dequantize",
                           from_.value(output).name);
      }
      source_.graph.add_output(map(output));
      return ok();
    }
    const ValueId codes = map(op->inputs[0]);
    ir::Type& type = source_.graph.value(codes).type;
    if (!type.quant) {
      type.quant = ir::per_tensor(op->get(ir::attr::scale),
                                  static_cast<int32_t>(op->get(ir::attr::zero_point)));
    }
    source_.graph.add_output(codes);
    return ok();
  }

  const ir::Graph& from_;
  bool integers_ = true;
  std::vector<std::vector<int>> consumers_;
  std::vector<int> producers_;
  std::vector<ValueId> mapped_;
  StatelessGraph source_;
};

}  // namespace

Result<StatelessGraph> extract_integer_graph(const ir::Graph& graph) {
  return Extraction(graph, true).run();
}

Result<StatelessGraph> without_states(const ir::Graph& graph) {
  return Extraction(graph, false).run();
}

}  // namespace thimble::interchange
