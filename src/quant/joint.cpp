// SPDX-License-Identifier: Apache-2.0
#include "quant/joint.h"

#include <algorithm>
#include <cmath>

#include "ir/op_traits.h"
#include "quant/masked.h"
#include "quant/plan.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::ValueId;

/// Returns true if the operator has weights whose names are part of the key. A constant operand of
/// any other operator may be computed in another method, so its name is not part of the key.
bool has_weights(ir::OpKind kind) {
  const ir::OpCategory category = ir::category_of(kind);
  return category == ir::OpCategory::kConv || category == ir::OpCategory::kConvTranspose ||
         category == ir::OpCategory::kLinear || category == ir::OpCategory::kNorm ||
         category == ir::OpCategory::kRecurrent;
}

/// Returns the key of each value without the number of equal ones before it; empty for constants.
std::vector<std::string> keys_of(const Graph& graph) {
  std::vector<std::string> keys(graph.value_count());
  const auto name = [&](ValueId id) { return graph.value(id).name; };
  for (const ValueId id : graph.inputs()) keys[ir::index_of(id)] = "input " + name(id);
  for (const ir::State& state : graph.states()) {
    keys[ir::index_of(state.value)] = "state " + name(state.value);
  }
  for (const ir::Op& op : graph.ops()) {
    std::string key = fmt::format("{} {} {}:{} {}", ir::op_name(op.kind), op.source.target,
                                  op.source.file, op.source.line, op.source.text);
    for (const ValueId input : op.inputs) {
      if (input == ir::kNoValue || graph.value(input).constant == nullptr) continue;
      if (has_weights(op.kind)) key += " " + name(input);
    }
    keys[ir::index_of(op.output)] = std::move(key);
  }
  return keys;
}

/// A constant that an operator reads, itself or rows of it.
struct ReadConstant {
  std::string key;
  ValueId constant = ir::kNoValue;
};

/// Returns the constants by operator and operand, in order. One method may read rows of a table at
/// its position where another one, whose positions are constant, reads these rows alone.
std::vector<ReadConstant> constants_of(const Graph& graph, const std::vector<std::string>& keys) {
  const std::vector<int> producers = graph.producers();
  std::vector<ReadConstant> found;
  for (const ir::Op& op : graph.ops()) {
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      ValueId at = op.inputs[i];
      while (at != ir::kNoValue && producers[ir::index_of(at)] >= 0) {
        const ir::Op& producer = graph.ops()[static_cast<size_t>(producers[ir::index_of(at)])];
        at = shares_params(producer.kind) ? producer.inputs[0] : ir::kNoValue;
      }
      if (at == ir::kNoValue || graph.value(at).constant == nullptr) continue;
      if (graph.type(at).dtype != ir::DType::kF32) continue;
      found.push_back({fmt::format("operand {} of {}", i, keys[ir::index_of(op.output)]), at});
    }
  }
  return found;
}

/// Returns the range of the elements above `mask_limit`, a number of mask_limits().
Histogram range_of(const ir::Tensor& constant, double mask_limit) {
  Histogram range;
  for (const float element : constant.data<float>()) {
    const auto value = static_cast<double>(element);
    if (std::isfinite(value) && !(value <= mask_limit)) range.include(value);
  }
  return range;
}

}  // namespace

void JointCalibration::add(const Graph& graph, const Observations& seen) {
  Method method;
  const std::vector<std::string> keys = keys_of(graph);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].empty()) continue;
    method.values[keys[i]].push_back({seen.histograms[i], seen.channel_means[i]});
  }
  const std::vector<double> limits = mask_limits(graph);
  for (const ReadConstant& each : constants_of(graph, keys)) {
    const Histogram range =
        range_of(*graph.value(each.constant).constant, limits[ir::index_of(each.constant)]);
    method.values[each.key].push_back({range, {}});
  }
  methods_.push_back(std::move(method));
}

bool JointCalibration::has_counterparts(const std::string& key, size_t count) const {
  return std::ranges::all_of(methods_, [&](const Method& method) {
    const auto found = method.values.find(key);
    return found == method.values.end() || found->second.size() == count;
  });
}

void JointCalibration::apply(const Graph& graph, Observations* seen) const {
  const std::vector<std::string> keys = keys_of(graph);
  std::map<std::string, size_t> counts, numbers;
  for (const std::string& key : keys) ++counts[key];
  for (size_t i = 0; i < keys.size(); ++i) {
    const size_t number = numbers[keys[i]]++;
    if (keys[i].empty() || !has_counterparts(keys[i], counts[keys[i]])) continue;
    Histogram range;
    const std::vector<double>* means = nullptr;
    for (const Method& method : methods_) {
      const auto found = method.values.find(keys[i]);
      if (found == method.values.end()) continue;
      const Observed& observed = found->second[number];
      range.merge(observed.range);
      if (means == nullptr && !observed.channel_means.empty()) means = &observed.channel_means;
    }
    seen->histograms[i] = std::move(range);
    if (means != nullptr && means->size() == seen->channel_means[i].size()) {
      seen->channel_means[i] = *means;
    }
  }
  counts.clear();
  numbers.clear();
  const std::vector<ReadConstant> constants = constants_of(graph, keys);
  for (const ReadConstant& each : constants) ++counts[each.key];
  for (const ReadConstant& each : constants) {
    const size_t number = numbers[each.key]++;
    if (!has_counterparts(each.key, counts[each.key])) continue;
    for (const Method& method : methods_) {
      const auto found = method.values.find(each.key);
      if (found == method.values.end()) continue;
      seen->histograms[ir::index_of(each.constant)].merge(found->second[number].range);
    }
  }
}

}  // namespace thimble::quant
