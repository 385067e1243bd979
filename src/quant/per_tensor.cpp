#include "quant/per_tensor.h"

#include <algorithm>
#include <vector>

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;

/// Returns the number of samples per trial. A trial runs the whole model, so small models use more
/// samples.
int64_t trial_samples(const Graph& graph, int64_t available) {
  constexpr int64_t kMacs = 1'200'000'000, kFewest = 4, kMost = 64;
  int64_t macs = 1;
  for (const Op& op : graph.ops()) {
    if (op.kind != ir::OpKind::conv2d && op.kind != ir::OpKind::linear) continue;
    const ir::Type& weights = graph.type(op.inputs[1]);
    macs += graph.type(op.output).elements() * (weights.elements() / weights.shape[0]);
  }
  return std::min(available, std::clamp(kMacs / macs, kFewest, kMost));
}

class Trials {
 public:
  Trials(const Graph& graph, const Plan& plan, const Decisions& decisions, const Samples& samples,
         Io io, int threads)
      : graph_(graph),
        plan_(plan),
        decisions_(decisions),
        samples_(samples),
        io_(io),
        request_{trial_samples(graph, samples.count()), threads} {}

  /// Returns the SQNR of each output if these linears have one weight scale.
  Result<std::vector<double>> output_db(std::set<size_t> per_tensor) {
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
  Io io_;
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

Result<std::set<size_t>> close_per_tensor_linears(const Graph& float_graph, const Plan& plan,
                                                  const Decisions& decisions,
                                                  const Samples& samples, Io io, int threads,
                                                  double tolerance_db) {
  const auto all = candidates(float_graph, plan, decisions);
  if (all.empty()) return std::set<size_t>{};
  Trials trials(float_graph, plan, decisions, samples, io, threads);
  std::set<size_t> close;
  for (const std::set<size_t>& alike : all) {
    THIMBLE_TRY(const double loss, trials.loss(alike));
    if (loss <= tolerance_db) close.insert(alike.begin(), alike.end());
  }
  return close;
}

}  // namespace thimble::quant
