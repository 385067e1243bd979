// SPDX-License-Identifier: Apache-2.0
#include "quant/table.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "quant/element.h"

namespace thimble::quant {
namespace {

/// Returns the element of a float or bool constant with one element.
double scalar(const ir::Tensor& tensor) {
  if (tensor.dtype == ir::DType::kBool) return tensor.data<uint8_t>()[0] != 0 ? 1 : 0;
  return static_cast<double>(tensor.data<float>()[0]);
}

}  // namespace

ElementFunction::ElementFunction(const ir::Graph& graph, const Pins& pins, ir::ValueId source,
                                 ir::ValueId value)
    : pins_(pins), value_(value) {
  // The backward loop finds the operators between source and value; the forward loop orders them.
  std::vector<bool> needed(graph.value_count(), false);
  needed[static_cast<size_t>(value)] = true;
  for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op) {
    if (!needed[static_cast<size_t>(op->output)] || op->output == source) continue;
    for (const ir::ValueId id : op->inputs) needed[static_cast<size_t>(id)] = id != source;
  }
  std::map<ir::ValueId, size_t> place = {{source, 0}};
  constants_.emplace_back();
  const auto place_of = [&](ir::ValueId id) {
    const auto known = place.find(id);
    if (known != place.end()) return known->second;
    const auto& constant = graph.value(id).constant;
    assert(constant != nullptr && ir::element_count(constant->shape) == 1);
    constants_.emplace_back(scalar(*constant));
    steps_.push_back({nullptr, {0, 0, 0}});
    return place[id] = constants_.size() - 1;
  };
  bool inside = graph.is_input(source) || graph.is_state(source);
  for (const ir::Op& op : graph.ops()) {
    if (op.output == source) {
      inside = true;
    } else if (inside && needed[static_cast<size_t>(op.output)]) {
      Step step{&op, {}};
      for (size_t i = 0; i < op.inputs.size(); ++i) step.operands[i] = place_of(op.inputs[i]);
      constants_.emplace_back();
      steps_.push_back(step);
      place[op.output] = constants_.size() - 1;
    }
  }
  result_ = place.at(value);
}

double ElementFunction::rounded(const Step& step, double value) const {
  if (pins_.empty()) return value;
  const float single = static_cast<float>(value);
  const Params* pin = step.op->output == value_ ? nullptr : pins_.find(step.op->output);
  return static_cast<double>(pin == nullptr ? single : pin->real_f32(pin->code_f32(single)));
}

double ElementFunction::operator()(double x) const {
  std::vector<double> results(constants_.size(), x);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const auto& [a, b, c] = step.operands;
    results[i + 1] =
        step.op == nullptr
            ? *constants_[i + 1]
            : rounded(step, element_value(*step.op, results[a], results[b], results[c]));
  }
  return results[result_];
}

}  // namespace thimble::quant
