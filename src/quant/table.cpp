#include "quant/table.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "quant/fast/stable_math.h"

namespace thimble::quant {
namespace {

using ir::OpKind;

double apply(const ir::Op& op, double a, double b) {
  switch (op.kind) {
    case OpKind::add:
      return a + b;
    case OpKind::clamp:
      return std::clamp(a, op.number("min"), op.number("max"));
    case OpKind::mul:
      return a * b;
    case OpKind::sigmoid:
      return stable_sigmoid(a);
    case OpKind::sub:
      return a - b;
    default:
      assert(op.kind == OpKind::tanh);
      return stable_tanh(a);
  }
}

}  // namespace

ElementFunction::ElementFunction(const ir::Graph& graph, const Pins& pins, ir::ValueId source,
                                 ir::ValueId value)
    : pins_(pins), value_(value) {
  // Backwards: which operators are between source and value. Forwards: their order.
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
    assert(constant != nullptr && constant->data<float>().size() == 1);
    constants_.emplace_back(static_cast<double>(constant->data<float>()[0]));
    steps_.push_back({nullptr, {0, 0}});
    return place[id] = constants_.size() - 1;
  };
  bool inside = graph.is_input(source);
  for (const ir::Op& op : graph.ops()) {
    if (op.output == source) {
      inside = true;
    } else if (inside && needed[static_cast<size_t>(op.output)]) {
      const size_t a = place_of(op.inputs[0]);
      const size_t b = op.inputs.size() > 1 ? place_of(op.inputs[1]) : a;
      constants_.emplace_back();
      steps_.push_back({&op, {a, b}});
      place[op.output] = constants_.size() - 1;
    }
  }
  result_ = place.at(value);
}

double ElementFunction::rounded(const Step& step, double value) const {
  if (pins_.empty()) return value;
  const float single = static_cast<float>(value);
  const Params* pin = step.op->output == value_ ? nullptr : pins_.find(step.op->output);
  return static_cast<double>(pin == nullptr ? single : pin->real_single(pin->code_single(single)));
}

double ElementFunction::operator()(double x) const {
  std::vector<double> results(constants_.size(), x);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    results[i + 1] =
        step.op == nullptr
            ? *constants_[i + 1]
            : rounded(step, apply(*step.op, results[step.operands[0]], results[step.operands[1]]));
  }
  return results[result_];
}

}  // namespace thimble::quant
