// SPDX-License-Identifier: Apache-2.0
#include "quant/report_quality.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace thimble::quant {
namespace {

using ir::Op;

/// Returns the index of the operator that adds the largest relative noise; the first one if several
/// add as much.
std::optional<size_t> largest_loss(const LoweredGraph& lowered, const QuantReport& report) {
  std::vector<double> noise(lowered.graph.value_count(), 0);  // relative to the signal
  std::map<ir::ValueId, size_t> places;
  for (size_t i = 0; i < report.ops.size(); ++i) places[report.ops[i].value] = i;
  std::optional<size_t> found;
  double largest = 0;
  for (const Op& op : lowered.graph.ops()) {
    double before = 0;
    for (const ir::ValueId id : op.inputs) {
      if (id != ir::kNoValue) before = std::max(before, noise[ir::index_of(id)]);
    }
    double& after = noise[ir::index_of(op.output)];
    after = before;
    const auto place = places.find(op.output);
    if (place == places.end() || !std::isfinite(report.ops[place->second].sqnr_db)) continue;
    after = std::pow(10, -report.ops[place->second].sqnr_db / 10);
    if (after - before <= largest) continue;
    largest = after - before;
    found = place->second;
  }
  return found;
}

}  // namespace

void report_quality(const LoweredGraph& lowered, const Quality& quality, QuantReport& report) {
  report.output_sqnr_db = quality.output_db;
  report.output_agreement = quality.output_agreement;
  for (size_t i = 0; i < lowered.counterparts.size(); ++i) {
    const Counterpart& pair = lowered.counterparts[i];
    const ir::Op& op = lowered.graph.ops()[pair.integer_op];
    report.ops.push_back(
        {pair.integer, std::string(ir::op_name(op.kind)), op.source, quality.op_db[i]});
    if (!std::isfinite(quality.op_db[i])) continue;
    if (!report.weakest || quality.op_db[i] < report.ops[*report.weakest].sqnr_db) {
      report.weakest = i;
    }
  }
  report.largest_loss = largest_loss(lowered, report);
}

}  // namespace thimble::quant
