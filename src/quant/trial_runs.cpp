// SPDX-License-Identifier: Apache-2.0
#include "quant/trial_runs.h"

#include <cassert>
#include <map>

#include "base/parallel.h"
#include "quant/parallel.h"
#include "quant/simulate.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::kNoValue;
using ir::Op;
using ir::ValueId;

class Comparison {
 public:
  Comparison(const Graph& graph, const Graph& base)
      : graph_(graph), base_(base), same_(graph.value_count(), kNoValue) {}

  std::vector<ValueId> run() {
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      const ValueId id = graph_.inputs()[i], other = base_.inputs()[i];
      if (has_equal_type(id, other)) same_[ir::index_of(id)] = other;
    }
    std::multimap<ValueId, const Op*> readers;  // operators of the base graph, by any operand
    for (const Op& op : base_.ops()) {
      for (const ValueId id : op.inputs) {
        if (id != kNoValue && base_.value(id).constant == nullptr) readers.emplace(id, &op);
      }
    }
    for (const Op& op : graph_.ops()) {
      for (const ValueId id : op.inputs) {
        if (id == kNoValue || same_[ir::index_of(id)] == kNoValue) continue;
        const auto [first, last] = readers.equal_range(same_[ir::index_of(id)]);
        for (auto reader = first; reader != last; ++reader) {
          if (is_equal(op, *reader->second))
            same_[ir::index_of(op.output)] = reader->second->output;
        }
        break;
      }
    }
    return std::move(same_);
  }

 private:
  [[nodiscard]] bool has_equal_type(ValueId id, ValueId other) const {
    const ir::Type &a = graph_.type(id), &b = base_.type(other);
    return a.dtype == b.dtype && a.shape == b.shape;
  }
  [[nodiscard]] bool is_equal_operand(ValueId id, ValueId other) const {
    if (id == kNoValue || other == kNoValue) return id == other;
    const ir::TensorPtr &a = graph_.value(id).constant, &b = base_.value(other).constant;
    if (a == nullptr || b == nullptr) return a == b && same_[ir::index_of(id)] == other;
    return a == b || *a == *b;
  }
  [[nodiscard]] bool is_equal(const Op& op, const Op& other) const {
    if (op.kind != other.kind || op.inputs.size() != other.inputs.size()) return false;
    if (!(op.attrs == other.attrs) || !has_equal_type(op.output, other.output)) return false;
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      if (!is_equal_operand(op.inputs[i], other.inputs[i])) return false;
    }
    return true;
  }

  const Graph& graph_;
  const Graph& base_;
  std::vector<ValueId> same_;
};

}  // namespace

std::vector<ValueId> equal_values(const Graph& graph, const Graph& base) {
  assert(graph.states().empty() && graph.inputs().size() == base.inputs().size());
  return Comparison(graph, base).run();
}

TrialRuns::TrialRuns(const Graph& base, const Samples& samples, int64_t first, int64_t last,
                     int threads)
    : base_(base), threads_(thread_count(threads, last - first, base)) {
  for (int64_t sample = first; sample < last; ++sample) {
    float_inputs_.push_back(samples.sample(sample));
    inputs_.push_back(integer_inputs(base, float_inputs_.back()));
    engines_.push_back(std::make_unique<FastExecutor>(base, integer_kernels()));
  }
  for (size_t i = 0; i < engines_.size(); ++i) engines_[i]->begin(inputs_[i]);
}

void TrialRuns::advance_to(size_t op) {
  for_each_index(static_cast<int64_t>(engines_.size()), threads_, [&](int64_t sample, int) {
    FastExecutor& engine = *engines_[static_cast<size_t>(sample)];
    while (engine.next() < op && engine.step({})) {
    }
  });
}

RealOutputs TrialRuns::outputs(const Graph& trial) const {
  const std::vector<ValueId> same = equal_values(trial, base_);
  RealOutputs result(trial.outputs().size(), std::vector<std::vector<double>>(engines_.size()));
  for_each_index(static_cast<int64_t>(engines_.size()), threads_, [&](int64_t index, int) {
    const auto sample = static_cast<size_t>(index);
    std::vector<std::pair<ValueId, const ir::Tensor*>> known;
    for (const Op& op : trial.ops()) {
      const ValueId other = same[ir::index_of(op.output)];
      if (other == kNoValue) continue;
      const ir::Tensor* const held = engines_[sample]->held(other);
      if (held != nullptr) known.emplace_back(op.output, held);
    }
    const std::vector<ir::Tensor> inputs = integer_inputs(trial, float_inputs_[sample]);
    FastExecutor engine(trial, integer_kernels());
    engine.begin(inputs, known);
    while (engine.step({})) {
    }
    for (size_t i = 0; i < result.size(); ++i) {
      const ValueId id = trial.outputs()[i];
      result[i][sample] = real_values(engine.value(id), trial.type(id));
    }
  });
  return result;
}

}  // namespace thimble::quant
