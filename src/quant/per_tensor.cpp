// SPDX-License-Identifier: Apache-2.0
// A weight scale per channel costs 5 bytes per output channel, and ExecuTorch's linear has no such
// form, so one scale is chosen wherever it costs little accuracy. Two ways to know what it costs:
//
// - A trial lowers the graph with one scale for this linear alone and measures the outputs. That is
//   exact, but runs the network once per linear: 31 s of CPU for a Swin of 0.6 M parameters, 2.4 s
//   with the estimate. Trials are made if all of them together cost at most kTrialWork.
// - Otherwise the cost is estimated from one run of the network: noise.h.

#include "quant/per_tensor.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/cancel.h"
#include "ir/op_cost.h"
#include "quant/noise.h"
#include "quant/parallel.h"
#include "quant/quality.h"
#include "quant/simulate.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;

constexpr int64_t kTrialWork = 1'000'000'000;  // of all trials, in MACs: some tenths of a second

/// Returns the cost of one run: MACs, or elements of results.
int64_t work_of(const Graph& graph) {
  int64_t work = 1;
  for (const Op& op : graph.ops()) {
    work += std::max(ir::macs_of(graph, op), graph.type(op.output).elements());
  }
  return work;
}

class Trials {
 public:
  Trials(const Graph& graph, const Plan& plan, const Decisions& decisions, const Samples& samples,
         const IoTypes& io, const QualityRequest& request)
      : graph_(graph),
        plan_(plan),
        decisions_(decisions),
        samples_(samples),
        io_(io),
        request_(request) {}

  /// Returns the SQNR of each output if these linears have one weight scale.
  Result<std::vector<double>> output_db(std::set<size_t> per_tensor) {
    THIMBLE_CHECK(check_cancelled());
    Decisions decisions = decisions_;
    decisions.per_tensor = std::move(per_tensor);
    THIMBLE_TRY(const LoweredGraph lowered, lower(graph_, plan_, decisions, io_));
    return measure_quality(graph_, lowered, samples_, request_).output_db;
  }

  /// Returns the largest SQNR loss of any output if only these linears have one weight scale.
  Result<double> loss(const std::set<size_t>& linears) {
    if (per_channel_db_.empty()) {
      THIMBLE_TRY(per_channel_db_, output_db({}));
    }
    THIMBLE_TRY(const std::vector<double> db, output_db(linears));
    double worst = 0;
    for (size_t i = 0; i < db.size(); ++i) worst = std::max(worst, per_channel_db_[i] - db[i]);
    return worst;
  }

 private:
  const Graph& graph_;
  const Plan& plan_;
  const Decisions& decisions_;
  const Samples& samples_;
  const IoTypes& io_;
  QualityRequest request_;
  std::vector<double> per_channel_db_;
};

/// Returns the linears whose weights can have one scale. Linears with equal weights, such as the
/// unrolled steps of a loop, form one candidate, so that they continue to share one constant.
std::vector<std::set<size_t>> candidates(const Graph& graph, const Plan& plan,
                                         const Decisions& decisions) {
  std::vector<std::set<size_t>> found;
  const auto weights_at = [&](size_t i) -> const ir::Tensor& {
    return *graph.value(graph.ops()[i].inputs[1]).constant;
  };
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (plan.ops[i].wide) continue;  // the 16-bit kernels have a multiplier per channel
    if (decisions.int4.contains(op.output)) continue;  // as have weights of 4 bits
    if (op.kind != ir::OpKind::linear || plan.pins.constants.contains(op.inputs[1])) continue;
    const auto weights =
        weights_of(graph, op, plan.ops[i].result, plan, decisions, /*per_channel=*/false);
    if (!weights.ok()) continue;
    const auto alike = std::find_if(found.begin(), found.end(), [&](const auto& group) {
      const ir::Tensor& other = weights_at(*group.begin());
      return other.shape == weights_at(i).shape && other.bytes == weights_at(i).bytes;
    });
    if (alike != found.end()) {
      alike->insert(i);
    } else {
      found.push_back({i});
    }
  }
  return found;
}

}  // namespace

int64_t per_tensor_samples(const Graph& float_graph, int64_t available) {
  constexpr int64_t kWork = 1'200'000'000, kFewest = 4, kMost = 64;
  return std::min(available, std::clamp(kWork / work_of(float_graph), kFewest, kMost));
}

Result<std::set<size_t>> close_per_tensor_linears(const Graph& float_graph, const Plan& plan,
                                                  const Decisions& decisions,
                                                  const LoweredGraph& per_channel,
                                                  const Samples& samples, const IoTypes& io,
                                                  int threads, double tolerance_db) {
  const auto all = candidates(float_graph, plan, decisions);
  if (all.empty()) return std::set<size_t>{};
  const int64_t work = work_of(float_graph);
  const QualityRequest request{per_tensor_samples(float_graph, samples.count()), threads};
  const auto trials = static_cast<int64_t>(all.size()) + 1;
  std::set<size_t> close;
  const auto keep_close = [&](auto&& loss_of) -> Status {
    for (const std::set<size_t>& alike : all) {
      THIMBLE_TRY(const double loss, loss_of(alike));
      if (loss <= tolerance_db) close.insert(alike.begin(), alike.end());
    }
    return ok();
  };
  if (work <= kTrialWork / trials / request.samples) {
    Trials exact(float_graph, plan, decisions, samples, io, request);
    THIMBLE_CHECK(keep_close([&](const std::set<size_t>& alike) { return exact.loss(alike); }));
    return close;
  }
  THIMBLE_TRY(
      const NoiseEstimate estimate,
      NoiseEstimate::measure({float_graph, plan, decisions, per_channel}, all, samples, request));
  THIMBLE_CHECK(keep_close(
      [&](const std::set<size_t>& alike) -> Result<double> { return estimate.loss_db(alike); }));
  return close;
}

}  // namespace thimble::quant
