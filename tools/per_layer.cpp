// SPDX-License-Identifier: Apache-2.0
#include "tools/per_layer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "emit/decompile.h"
#include "emit/layers.h"
#include "formats/pte/read.h"
#include "ir/op_traits.h"
#include "quant/fast_float.h"
#include "quant/simulate.h"
#include "tools/local_error.h"
#include "tools/quality.h"

namespace thimble::tools {
namespace {

/// A value of the program and the float value of the same name.
struct Pair {
  ir::ValueId real = ir::kNoValue;
  ir::ValueId integer = ir::kNoValue;
  emit::InstructionResult layer;
  std::string kernel;
  ir::Source source;
  bool channels_last = false;  // the dimensions of `integer` are in the order N, H, W, C
};

const std::vector<int64_t> kToChannelsLast = {0, 2, 3, 1}, kFromChannelsLast = {0, 3, 1, 2};

/// Returns true if `shape` has the dimensions of the image `real` in the order N, H, W, C.
bool is_channels_last(const ir::Shape& shape, const ir::Shape& real) {
  if (shape.size() != 4 || real.size() != 4) return false;
  for (size_t i = 0; i < 4; ++i) {
    if (shape[i] != real[static_cast<size_t>(kToChannelsLast[i])]) return false;
  }
  return true;
}

std::map<std::string, const ir::Op*> float_operators(const ir::Graph& graph) {
  std::map<std::string, const ir::Op*> by_name;
  for (const ir::Op& op : graph.ops()) by_name[graph.value(op.output).name] = &op;
  return by_name;
}

/// Removes "_int8": the quantized value of an output is `<name>_int8`, its dequantize is `<name>`.
std::string float_name(std::string name) {
  constexpr std::string_view kSuffix = "_int8";
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

/// Measures local errors: of operators with a quantized result and one scale, all of whose operands
/// are known.
class LocalErrors {
 public:
  LocalErrors(const ir::Graph& graph, const std::vector<Pair>& pairs)
      : graph_(graph), producers_(graph.producers()) {
    for (const Pair& pair : pairs) {
      if (!pair.channels_last) real_of_[pair.integer] = pair.real;
    }
    for (const Pair& pair : pairs) {
      errors_.emplace_back();
      // Such a result is a concatenation or other movement, which has no error of its own.
      if (pair.channels_last) continue;
      const int producer = producers_[ir::index_of(pair.integer)];
      if (producer < 0 || !has_one_scale(pair.integer)) continue;
      const ir::Op& op = graph.ops()[static_cast<size_t>(producer)];
      if (op.kind == ir::OpKind::quantize) continue;
      errors_.back() = std::make_unique<LocalError>(graph, op);
      for (const ir::ValueId id : errors_.back()->operands()) read(id);
    }
  }

  /// Keeps a result of the integer graph that an operator reads.
  void keep(ir::ValueId id, const ir::Tensor& result) {
    if (read_.contains(id)) kept_[id] = result;
  }

  /// An operand is the float value where the float graph has it, also if it was moved since. Else
  /// it is the result that was kept.
  void add(const std::vector<Pair>& pairs, const std::map<ir::ValueId, ir::Tensor>& real) {
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (errors_[i] == nullptr) continue;
      std::vector<ir::Tensor> operands;
      for (const ir::ValueId id : errors_[i]->operands()) operands.push_back(operand(id, real));
      errors_[i]->add(operands, real.at(pairs[i].real));
    }
  }

  [[nodiscard]] const LocalError* of(size_t pair) const { return errors_[pair].get(); }

 private:
  [[nodiscard]] bool has_one_scale(ir::ValueId id) const {
    const auto& quant = graph_.type(id).quant;
    return quant && quant->scale.size() == 1;
  }

  /// Returns true if the float graph has the value.
  [[nodiscard]] bool is_known(ir::ValueId id) const {
    return real_of_.contains(id) && has_one_scale(id);
  }

  /// Registers an operand. One that was moved depends on the operand of the movement. The depth is
  /// that of a chain of movements.
  void read(ir::ValueId id) {
    if (is_known(id) || moves_.contains(id) || read_.contains(id)) return;
    const int producer = producers_[ir::index_of(id)];
    const ir::Op* const op = producer < 0 ? nullptr : &graph_.ops()[static_cast<size_t>(producer)];
    if (op == nullptr || !ir::only_moves(op->kind)) {
      read_.insert(id);
      return;
    }
    const auto [move, added] = moves_.try_emplace(id, graph_, *op);
    for (const ir::ValueId before : move->second.operands()) read(before);
  }

  [[nodiscard]] ir::Tensor operand(ir::ValueId id,
                                   const std::map<ir::ValueId, ir::Tensor>& real) const {
    if (is_known(id)) return quantized_as(real.at(real_of_.at(id)), graph_.type(id));
    const auto move = moves_.find(id);
    if (move == moves_.end()) return kept_.at(id);
    std::vector<ir::Tensor> operands;
    for (const ir::ValueId before : move->second.operands()) {
      operands.push_back(operand(before, real));
    }
    return move->second.run(operands);
  }

  const ir::Graph& graph_;
  const std::vector<int> producers_;
  std::map<ir::ValueId, ir::ValueId> real_of_;
  std::map<ir::ValueId, SingleOp> moves_;            // by result
  std::vector<std::unique_ptr<LocalError>> errors_;  // by pair; may be null
  std::set<ir::ValueId> read_;
  std::map<ir::ValueId, ir::Tensor> kept_;
};

std::vector<Pair> find_pairs(const ir::Graph& graph, const formats::pte::Program& program,
                             const emit::Decompiled& decompiled,
                             const std::vector<emit::InstructionResult>& layers) {
  const auto operators = float_operators(graph);
  const formats::pte::ExecutionPlan& plan = program.plans[0];
  std::vector<Pair> pairs;
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto found = operators.find(float_name(layers[i].name));
    if (found == operators.end() || layers[i].scale == 0) continue;
    const ir::ValueId real = found->second->output;
    const ir::Shape& shape = decompiled.graph.type(decompiled.results[i]).shape;
    const bool channels_last = is_channels_last(shape, graph.type(real).shape);
    if (graph.type(real).shape != shape && !channels_last) continue;
    const auto& call = std::get<formats::pte::KernelCall>(plan.chains[0].instructions[i]);
    const auto& op = plan.operators[static_cast<size_t>(call.op_index)];
    pairs.push_back({real, decompiled.results[i], layers[i], formats::pte::full_name(op),
                     found->second->source, graph.type(real).shape != shape});
  }
  return pairs;
}

}  // namespace

Result<std::vector<LayerQuality>> layer_quality(const ir::Graph& float_graph, ByteView pte,
                                                const std::string& label,
                                                const driver::Samples& samples, int64_t calls) {
  THIMBLE_TRY(const formats::pte::Program program, formats::pte::read(pte, label));
  THIMBLE_TRY(const auto layers, emit::read_layers(program));
  if (!layers) {
    return bad_input(
        "{}: --per-layer: the file does not name the values of its calls: compile "
        "with --names",
        label);
  }
  THIMBLE_TRY(emit::Decompiled decompiled, emit::decompile_with_results(program));
  const std::vector<Pair> pairs = find_pairs(float_graph, program, decompiled, *layers);
  // The calls of a file have no scales of values.
  for (const Pair& pair : pairs) {
    decompiled.graph.value(pair.integer).type.quant =
        ir::per_tensor(pair.layer.scale, pair.layer.zero_point);
  }
  for (size_t i = 0; i < decompiled.graph.inputs().size(); ++i) {
    if (decompiled.graph.type(decompiled.graph.inputs()[i]).dtype ==
        float_graph.type(float_graph.inputs()[i]).dtype) {
      continue;
    }
    return bad_input("{}: --per-layer: requires a model with float inputs (--io float)", label);
  }
  std::map<ir::ValueId, ir::Tensor> real;
  for (const Pair& pair : pairs) real[pair.real] = {};
  std::multimap<ir::ValueId, size_t> pairs_of;
  for (size_t i = 0; i < pairs.size(); ++i) pairs_of.emplace(pairs[i].integer, i);
  std::vector<Sqnr> sqnr(pairs.size());
  LocalErrors local(decompiled.graph, pairs);
  quant::FastExecutor float_engine(float_graph, quant::float_kernels());
  quant::FastExecutor integer_engine(decompiled.graph, quant::integer_kernels());
  for (int64_t call = 0; call < std::min(calls, driver::call_count(samples, float_graph)); ++call) {
    const std::vector<ir::Tensor> inputs = driver::call_inputs(samples, float_graph, call);
    float_engine.run(inputs, [&](const ir::Op& op, const ir::Tensor& result) {
      if (const auto wanted = real.find(op.output); wanted != real.end()) wanted->second = result;
    });
    for (size_t i = 0; i < inputs.size(); ++i) local.keep(decompiled.graph.inputs()[i], inputs[i]);
    integer_engine.run(inputs, [&](const ir::Op& op, const ir::Tensor& result) {
      local.keep(op.output, result);
      const auto [first, last] = pairs_of.equal_range(op.output);
      for (auto at = first; at != last; ++at) {
        const Pair& pair = pairs[at->second];
        const ir::Tensor ordered =
            pair.channels_last ? ir::permuted(result, kFromChannelsLast) : result;
        sqnr[at->second].add(real.at(pair.real),
                             to_real(ordered, pair.layer.scale, pair.layer.zero_point));
      }
    });
    if (decompiled.graph.states().empty()) local.add(pairs, real);
  }
  std::vector<LayerQuality> result;
  for (size_t i = 0; i < pairs.size(); ++i) {
    result.push_back({float_graph.value(pairs[i].real).name, pairs[i].kernel, pairs[i].source,
                      sqnr[i].decibels(), std::nan(""), ""});
    const LocalError* const error = local.of(i);
    if (error == nullptr || !decompiled.graph.states().empty()) continue;
    result.back().local_db = error->decibels();
    result.back().cause = error->cause();
  }
  return result;
}

}  // namespace thimble::tools
