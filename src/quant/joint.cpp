#include "quant/joint.h"

#include <algorithm>

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::ValueId;

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
      if (graph.type(input).shape.size() > 1) key += " " + name(input);
    }
    keys[ir::index_of(op.output)] = std::move(key);
  }
  return keys;
}

}  // namespace

void JointCalibration::add(const Graph& graph, const Observations& seen) {
  Method method;
  const std::vector<std::string> keys = keys_of(graph);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].empty()) continue;
    method.values[keys[i]].push_back({seen.histograms[i], seen.channel_means[i]});
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
}

}  // namespace thimble::quant
