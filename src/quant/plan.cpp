// SPDX-License-Identifier: Apache-2.0
#include "quant/plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/op_traits.h"
#include "numerics/spectrum.h"
#include "passes/uses.h"
#include "quant/rules/rules.h"
#include "quant/split_table.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;
using passes::Uses;

bool is_constant(const Graph& graph, ValueId id) {
  return graph.value(id).constant != nullptr;
}
bool is_scalar_constant(const Graph& graph, ValueId id) {
  return is_constant(graph, id) && graph.type(id).elements() == 1;
}

bool is_finite(const Graph& graph, ValueId id) {
  if (id == ir::kNoValue || !is_constant(graph, id)) return true;
  if (graph.type(id).dtype != ir::DType::kF32) return true;
  const auto elements = graph.value(id).constant->data<float>();
  return std::ranges::all_of(elements, [](float element) { return std::isfinite(element); });
}

/// Returns true for operators whose constants may be -inf, as in attention masks.
bool allows_infinite_constants(OpKind kind) {
  return kind == OpKind::add || kind == OpKind::where || shares_params(kind) || joins_params(kind);
}

/// Returns one line for the error message: `kws.py:31   self.act(x)   in module act`.
std::string refused_line(const Op& op, const std::string& reason) {
  const std::string target =
      op.source.target.empty() ? std::string(ir::op_name(op.kind)) : op.source.target;
  std::string line = fmt::format("\n  {:<14} {}", op.source.where(), op.source.text);
  if (!op.source.module.empty()) line += fmt::format("   in module {}", op.source.module);
  return fmt::format("{}: {} has no int8 form: {}", line, target, reason);
}

/// Returns true for an operator that the options keep in float32.
bool stays_float(const Graph& graph, const Op& op, const PlanPreferences& preferences) {
  return preferences.keep_float && graph.type(op.output).dtype == ir::DType::kF32 &&
         preferences.keep_float(graph, op);
}

/// Returns true for an operator that only moves float32 elements.
bool moves_floats(const Graph& graph, const Op& op) {
  return ir::only_moves(op.kind) && graph.type(op.output).dtype == ir::DType::kF32;
}

/// By operator: stays in float32. An operator that only moves elements does so too if float32
/// operators or float inputs produce all its operands, and only float32 operators read its result.
std::vector<bool> float_ops(const Graph& graph, const PlanPreferences& preferences) {
  std::vector<bool> stays(graph.ops().size(), false);
  if (!preferences.keep_float) return stays;
  const Uses uses(graph);
  const std::vector<int> producers = graph.producers();
  std::vector<bool> moves(stays.size(), false);
  for (size_t i = 0; i < stays.size(); ++i) {
    const Op& op = graph.ops()[i];
    stays[i] = stays_float(graph, op, preferences);
    const bool next = std::ranges::any_of(
        graph.states(), [&](const ir::State& state) { return state.next == op.output; });
    moves[i] = !stays[i] && moves_floats(graph, op) && !uses.is_output(op.output) && !next &&
               !uses.readers(op.output).empty();
  }
  const std::set<ValueId> inputs(graph.inputs().begin(), graph.inputs().end());
  const auto is_float = [&](int op) {
    return stays[static_cast<size_t>(op)] || moves[static_cast<size_t>(op)];
  };
  // An operator without readers is only observed.
  const auto reads_float = [&](int op) {
    const ValueId result = graph.ops()[static_cast<size_t>(op)].output;
    return is_float(op) || (uses.readers(result).empty() && !uses.is_output(result));
  };
  const auto real_operand = [&](ValueId id) {
    if (id == ir::kNoValue || is_constant(graph, id)) return true;
    if (graph.type(id).dtype != ir::DType::kF32) return true;
    const int producer = producers[ir::index_of(id)];
    if (producer >= 0) return is_float(producer);
    return inputs.contains(id) && preferences.io.of(graph.value(id).name) == Io::kFloat;
  };
  // A chain of movements is decided as a whole: one that is quantized quantizes its neighbors.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < stays.size(); ++i) {
      if (!moves[i]) continue;
      const Op& op = graph.ops()[i];
      if (std::ranges::all_of(op.inputs, real_operand) &&
          std::ranges::all_of(uses.readers(op.output), reads_float)) {
        continue;
      }
      moves[i] = false;
      changed = true;
    }
  }
  for (size_t i = 0; i < stays.size(); ++i) stays[i] = stays[i] || moves[i];
  return stays;
}

Status check_all(const Graph& graph, const PlanPreferences& preferences) {
  std::string lines;
  for (const ir::State& state : graph.states()) {
    const ir::Value& value = graph.value(state.value);
    if (value.type.dtype == ir::DType::kF32) continue;
    lines += fmt::format("\n  state {} is {}; only float32 state can be quantized", value.name,
                         ir::type_text(value.type.dtype, value.type.shape));
  }
  for (const Op& op : graph.ops()) {
    if (stays_float(graph, op, preferences)) continue;
    const std::string reason = refusal_reason(graph, op);
    if (!reason.empty()) lines += refused_line(op, reason);
  }
  if (lines.empty()) return ok();
  return unsupported("not everything can be int8{}", lines);
}

bool may_have_16_bits(Io io) {
  return io == Io::kFloat || io == Io::kInt16;
}

class Planner {
 public:
  Planner(const Graph& graph, Pins pins, const PlanPreferences& preferences)
      : graph_(graph),
        uses_(graph),
        preferences_(preferences),
        float_ops_(float_ops(graph, preferences)) {
    plan_.pins = std::move(pins);
    plan_.sigmoid_scale_from_range =
        preferences.sigmoid_scale_from_range && plan_.pins.params.empty();
    plan_.ops.resize(graph.ops().size());
    plan_.is_quantized.resize(graph.value_count(), false);
    source_.resize(graph.value_count(), ir::kNoValue);
    fused_.resize(graph.value_count(), false);
  }

  Plan run() {
    for (size_t i = 0; i < plan_.ops.size(); ++i) decide(i);
    for (size_t i = plan_.ops.size(); i-- > 0;) drop_inner_table(i);
    if (!preferences_.tables.empty()) split_tables(graph_, preferences_.tables, plan_);
    for (const ValueId id : graph_.inputs()) plan_.is_quantized[static_cast<size_t>(id)] = true;
    for (const ir::State& state : graph_.states()) {
      plan_.is_quantized[static_cast<size_t>(state.value)] = true;
    }
    for (const OpPlan& op : plan_.ops) {
      if (op.role == Role::kLower || op.role == Role::kTable)
        plan_.is_quantized[static_cast<size_t>(op.result)] = true;
      if (op.role == Role::kFloat && is_quantized_after(op.result))
        plan_.is_quantized[static_cast<size_t>(op.result)] = true;
    }
    return std::move(plan_);
  }

 private:
  void decide(size_t index) {
    const Op& op = graph_.ops()[index];
    OpPlan& plan = plan_.ops[index];
    plan.result = op.output;
    if (fused_[static_cast<size_t>(op.output)]) {
      plan.role = Role::kAbsorbed;
      return;
    }
    if (uses_.readers(op.output).empty() && !uses_.is_output(op.output)) {
      plan.role = Role::kObserved;
      return;
    }
    if (float_ops_[index]) {
      plan.role = Role::kFloat;
      return;
    }
    const ValueId source = table_source(op);
    source_[static_cast<size_t>(op.output)] = source;
    // A bool inside a table is an intermediate step. For other readers it has its own operator.
    if (source != ir::kNoValue && graph_.type(op.output).dtype == ir::DType::kF32) {
      plan.role = Role::kTable;
      plan.table_source = source;
      return;
    }
    // Models that PyTorch quantized keep their parameters.
    plan.symmetric =
        preferences_.symmetric_products && op.kind == OpKind::matmul && plan_.pins.empty();
    plan.wide = preferences_.wide_softmax && op.kind == OpKind::softmax &&
                uses_.is_output(op.output) && uses_.readers(op.output).empty() &&
                may_have_16_bits(preferences_.io.of(graph_.value(op.output).name));
    if (!has_trait(op.kind, trait::kClamp)) return;
    for (const Op* next = uses_.only_reader(plan.result);
         next != nullptr && next->kind == OpKind::clamp && takes_over(op, plan, *next) &&
         !stays_float(graph_, *next, preferences_);
         next = uses_.only_reader(plan.result)) {
      const double low = next->get(ir::attr::float_min);
      const double high = next->get(ir::attr::float_max);
      plan.clamp_min = std::clamp(plan.clamp_min, low, high);
      plan.clamp_max = std::clamp(plan.clamp_max, low, high);
      plan.result = next->output;
      fused_[static_cast<size_t>(plan.result)] = true;
    }
  }

  /// Returns true if a result in float32 has a reader that needs it quantized.
  [[nodiscard]] bool is_quantized_after(ValueId result) const {
    const auto& readers = uses_.readers(result);
    const bool read = std::ranges::any_of(readers, [this](int reader) {
      const Role role = plan_.ops[static_cast<size_t>(reader)].role;
      return role != Role::kFloat && role != Role::kObserved;
    });
    const bool next = std::ranges::any_of(
        graph_.states(), [&](const ir::State& state) { return state.next == result; });
    return read || next ||
           (uses_.is_output(result) && preferences_.io.of(graph_.value(result).name) != Io::kFloat);
  }

  /// Returns true if the clamp can be merged into `op`. A value with pinned parameters must be
  /// kept, unless the result of the clamp has the same parameters.
  [[nodiscard]] bool takes_over(const Op& op, const OpPlan& plan, const Op& clamp) const {
    const Params* before = plan_.pins.find(plan.result);
    const Params* after = plan_.pins.find(clamp.output);
    if (before != nullptr) return after != nullptr && *before == *after;
    return after == nullptr || !shares_params(op.kind);
  }

  /// Returns the value that `id` is an elementwise function of, or `id` itself.
  [[nodiscard]] ValueId root(ValueId id) const {
    const ValueId source = source_[static_cast<size_t>(id)];
    return source == ir::kNoValue ? id : source;
  }

  /// Returns the only value that the result is an elementwise function of, or kNoValue.
  [[nodiscard]] ValueId table_source(const Op& op) const {
    if (!has_trait(op.kind, trait::kTable)) return ir::kNoValue;
    const ir::Type& type = graph_.type(op.output);
    ValueId source = ir::kNoValue;
    for (const ValueId id : op.inputs) {
      if (is_scalar_constant(graph_, id)) continue;
      if (is_constant(graph_, id) || graph_.type(id).shape != type.shape ||
          graph_.type(root(id)).dtype != ir::DType::kF32) {
        return ir::kNoValue;
      }
      if (source != ir::kNoValue && source != root(id)) return ir::kNoValue;
      source = root(id);
    }
    return source;
  }

  /// Merges a table into its readers if all of them are tables. The readers are already decided.
  void drop_inner_table(size_t index) {
    OpPlan& plan = plan_.ops[index];
    const bool candidate = source_[static_cast<size_t>(plan.result)] != ir::kNoValue;
    if (!candidate || uses_.is_output(plan.result)) return;
    const auto& readers = uses_.readers(plan.result);
    const bool inner = std::all_of(readers.begin(), readers.end(), [this](int reader) {
      const OpPlan& reading = plan_.ops[static_cast<size_t>(reader)];
      return source_[static_cast<size_t>(reading.result)] != ir::kNoValue &&
             reading.role != Role::kLower;
    });
    if (inner) plan.role = Role::kAbsorbed;
  }

  const Graph& graph_;
  const Uses uses_;
  const PlanPreferences& preferences_;
  const std::vector<bool> float_ops_;
  Plan plan_;
  std::vector<ValueId> source_;  // by value: the source of its table
  std::vector<bool> fused_;      // by value: result of a clamp that was merged into its producer
};

std::string log_mel_refusal(const Graph& graph, const Op& op) {
  const int64_t n = graph.type(op.inputs[1]).shape[0];
  if (!numerics::is_transform_size(n)) {
    int64_t next = numerics::kTransformMin;
    while (next < n && next < numerics::kTransformMax) next *= 2;
    return fmt::format("n_fft is {}, expected a power of two from {} to {}: n_fft={}{}", n,
                       numerics::kTransformMin, numerics::kTransformMax, next,
                       n < next ? fmt::format(" with win_length={}", n) : "");
  }
  if (!is_constant(graph, op.inputs[2])) return "";  // kConstantEntries
  const auto weights = graph.value(op.inputs[2]).constant->data<float>();
  const bool negative = std::ranges::any_of(weights, [](float weight) { return weight < 0; });
  return negative ? "a filter has a weight below 0" : "";
}

}  // namespace

bool shares_params(OpKind kind) {
  return has_trait(kind, trait::kSharesParams);
}
bool joins_params(OpKind kind) {
  return has_trait(kind, trait::kJoinsParams);
}
bool selects_elements(OpKind kind) {
  return has_trait(kind, trait::kSelects);
}

std::string refusal_reason(const Graph& graph, const Op& op) {
  if (op.kind == OpKind::power_spectrum) {
    return "a power spectrum has an integer form only in log(mel @ power), with a constant filter "
           "bank mel, as torchaudio's MelSpectrogram(power=2) and a logarithm";
  }
  if (rule_of(op.kind) == nullptr) return "it is not a float operator of a prepared graph";
  if (op.kind == OpKind::log_mel) {
    const std::string reason = log_mel_refusal(graph, op);
    if (!reason.empty()) return reason;
  }
  const auto finite = [&](ValueId id) { return is_finite(graph, id); };
  if (!allows_infinite_constants(op.kind) && !std::ranges::all_of(op.inputs, finite)) {
    return "one of its constants is not finite";
  }
  if (has_trait(op.kind, trait::kConstantEntries)) {
    const bool constants = std::all_of(op.inputs.begin() + 1, op.inputs.end(), [&](ValueId id) {
      return id == ir::kNoValue || is_constant(graph, id);
    });
    if (!constants) return "its weights are not constant";
  }
  if (!has_trait(op.kind, trait::kConstantWeights)) return "";
  if (!is_constant(graph, op.inputs[1])) return "its weights are not constant";
  if (op.inputs[2] != ir::kNoValue && !is_constant(graph, op.inputs[2])) {
    return "its bias is not constant";
  }
  return "";
}

PlanPreferences preferences_of(const QuantSpec& spec, const QuantizeOptions& options) {
  return {spec.wide_softmax,
          spec.symmetric_products,
          spec.tables,
          options.io,
          spec.sigmoid_scale_from_range && spec.tables.empty(),
          options.keep_float};
}

Result<Plan> plan(const Graph& graph, Pins pins, const PlanPreferences& preferences) {
  THIMBLE_CHECK(check_all(graph, preferences));
  return Planner(graph, std::move(pins), preferences).run();
}

}  // namespace thimble::quant
