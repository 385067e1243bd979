// SPDX-License-Identifier: Apache-2.0
#include "quant/noise.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "quant/fast/convolution.h"
#include "quant/fast_float.h"
#include "quant/parallel.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Op;
using ir::Tensor;
using ir::ValueId;

size_t slot(ValueId id) {
  return static_cast<size_t>(id);
}

/// Rounded weights of a linear with one scale, or with a scale per channel.
struct Rounded {
  ir::TensorPtr codes;
  std::vector<double> scale;
};

/// Writes rounded minus real weights of these outputs, [count][terms].
void weight_errors(const Tensor& real, const Rounded& rounded, int64_t first, int64_t count,
                   float* errors) {
  const auto terms = static_cast<size_t>(real.shape[1]);
  for (size_t o = static_cast<size_t>(first); o < static_cast<size_t>(first + count); ++o) {
    const double scale = rounded.scale[rounded.scale.size() == 1 ? 0 : o];
    const auto w = real.data<float>().subspan(o * terms, terms);
    const auto codes = rounded.codes->data<int8_t>().subspan(o * terms, terms);
    for (size_t i = 0; i < terms; ++i) {
      *errors++ = static_cast<float>(codes[i] * scale - static_cast<double>(w[i]));
    }
  }
}

/// Measures the noise that one weight scale adds to the result of a linear.
class LinearNoise {
 public:
  static Result<LinearNoise> make(const NoiseEstimate::Network& network, size_t op_index) {
    const Op& op = network.graph.ops()[op_index];
    const OpPlan& plan = network.plan.ops[op_index];
    LinearNoise noise;
    noise.real_ = network.graph.value(op.inputs[1]).constant;
    for (const bool per_channel : {false, true}) {
      THIMBLE_TRY(
          const IntegerWeights rounded,
          weights_of(network.graph, op, plan.result, network.plan, network.decisions, per_channel));
      noise.rounded_[per_channel ? 1 : 0] = {rounded.w, rounded.scale};
    }
    noise.outputs_ = noise.real_->shape[0];
    noise.terms_ = noise.real_->shape[1];
    noise.means_ = network.decisions.channel_means[slot(op.inputs[0])];
    noise.clamp_min_ = static_cast<float>(plan.clamp_min);
    noise.clamp_max_ = static_cast<float>(plan.clamp_max);
    return noise;
  }

  /// Returns the sum of squares of the additional noise of `result`, which is before clamps.
  [[nodiscard]] double added(const Tensor& operand, const Tensor& result) const {
    constexpr int64_t kRows = 64, kBlockElements = 1 << 16;
    const int64_t all = ir::element_count(operand.shape) / terms_;
    const int64_t rows = std::min(all, kRows);
    const auto terms = static_cast<size_t>(terms_), outputs = static_cast<size_t>(outputs_);
    std::vector<float> x(static_cast<size_t>(rows) * terms);
    // The errors of all weights would be as large as the weights.
    const int64_t block = std::clamp<int64_t>(kBlockElements / terms_, 1, outputs_);
    std::vector<float> errors(static_cast<size_t>(block * terms_));
    std::vector<float> y(static_cast<size_t>(rows * block));
    std::vector<size_t> from(static_cast<size_t>(rows));
    for (size_t r = 0; r < from.size(); ++r) {
      from[r] = r * static_cast<size_t>(all) / from.size();
      const auto row = operand.data<float>().subspan(from[r] * terms, terms);
      for (size_t i = 0; i < terms; ++i) {
        // The bias compensates for the mean error.
        x[r * terms + i] = row[i] - (means_.empty() ? 0.0F : static_cast<float>(means_[i]));
      }
    }
    double power[2] = {};
    for (size_t form = 0; form < 2; ++form) {
      for (int64_t first = 0; first < outputs_; first += block) {
        const int64_t count = std::min(block, outputs_ - first);
        weight_errors(*real_, rounded_[form], first, count, errors.data());
        multiply_transposed(x.data(), errors.data(), y.data(), rows, terms_, count);
        for (size_t r = 0; r < from.size(); ++r) {
          const auto real = result.data<float>().subspan(
              from[r] * outputs + static_cast<size_t>(first), static_cast<size_t>(count));
          for (size_t o = 0; o < real.size(); ++o) {
            if (real[o] < clamp_min_ || real[o] > clamp_max_) continue;
            const auto error = static_cast<double>(y[r * real.size() + o]);
            power[form] += error * error;
          }
        }
      }
    }
    const double share = static_cast<double>(all) / static_cast<double>(rows);
    return std::max(0.0, power[0] - power[1]) * share;
  }

 private:
  ir::TensorPtr real_;
  Rounded rounded_[2];         // with one scale; with a scale per channel
  std::vector<double> means_;  // of the operand's channels; may be empty
  int64_t outputs_ = 0, terms_ = 0;
  float clamp_min_ = 0, clamp_max_ = 0;
};

/// Operators whose result has the noise of an operand, unchanged.
bool passes_noise(ir::OpKind kind) {
  const ir::OpCategory category = ir::category_of(kind);
  return category == ir::OpCategory::kView || category == ir::OpCategory::kMovement ||
         kind == ir::OpKind::add || kind == ir::OpKind::sub;
}

/// Computes the factors G of noise.h, by value of the float graph.
class Factors {
 public:
  Factors(const NoiseEstimate::Network& network, const std::vector<Sums>& sums)
      : network_(network), factor_(network.graph.value_count(), 0) {
    const auto& pairs = network.per_channel.counterparts;
    sums_.resize(network.graph.value_count());
    for (size_t i = 0; i < pairs.size(); ++i) sums_[slot(pairs[i].real)] = sums[i];
  }

  std::vector<double> run() {
    const Graph& graph = network_.graph;
    for (const ValueId id : graph.results()) factor_[slot(id)] = own(id);
    for (size_t i = graph.ops().size(); i-- > 0;) {
      const OpPlan& plan = network_.plan.ops[i];
      if (plan.role != Role::kLower && plan.role != Role::kTable) continue;
      const double factor = limited(plan.result);
      factor_[slot(plan.result)] = factor;
      if (plan.role == Role::kTable) {
        spread(plan.table_source, graph.ops()[i], plan.result, factor);
        continue;
      }
      for (const ValueId id : graph.ops()[i].inputs) {
        if (id != ir::kNoValue) spread(id, graph.ops()[i], plan.result, factor);
      }
    }
    return std::move(factor_);
  }

 private:
  /// Returns 1/N, or nothing for a value that was not compared.
  [[nodiscard]] std::optional<double> most(ValueId id) const {
    const auto& sums = sums_[slot(id)];
    if (!sums || !(sums->noise > 0)) return std::nullopt;
    return 1 / sums->noise;
  }
  [[nodiscard]] double own(ValueId id) const { return most(id).value_or(0); }
  [[nodiscard]] double limited(ValueId id) const {
    const auto limit = most(id);
    return limit ? std::min(factor_[slot(id)], *limit) : factor_[slot(id)];
  }

  void spread(ValueId operand, const Op& op, ValueId result, double factor) {
    if (network_.graph.value(operand).constant != nullptr || !sums_[slot(operand)]) return;
    factor_[slot(operand)] += factor * gain(operand, op, result);
  }

  /// Returns the ratio of the noise of the result to that of the operand.
  [[nodiscard]] double gain(ValueId operand, const Op& op, ValueId result) const {
    const Graph& graph = network_.graph;
    if (passes_noise(op.kind)) {
      const auto from = static_cast<double>(graph.type(operand).elements());
      return std::max(1.0, static_cast<double>(graph.type(result).elements()) / from);
    }
    const double from = sums_[slot(operand)]->signal();
    if (!sums_[slot(result)] || !(from > 0)) return 0;
    return sums_[slot(result)]->signal() / from;
  }

  const NoiseEstimate::Network& network_;
  std::vector<std::optional<Sums>> sums_;  // by value of the float graph
  std::vector<double> factor_;
};

}  // namespace

Result<NoiseEstimate> NoiseEstimate::measure(const Network& network,
                                             const std::vector<std::set<size_t>>& linears,
                                             const Samples& samples,
                                             const QualityRequest& request) {
  std::map<size_t, LinearNoise> noises;
  for (const std::set<size_t>& alike : linears) {
    for (const size_t op : alike) {
      THIMBLE_TRY(LinearNoise noise, LinearNoise::make(network, op));
      noises.emplace(op, std::move(noise));
    }
  }
  std::vector<int> linear_of(network.graph.value_count(), -1);  // by result, before clamps
  for (const auto& [op, noise] : noises) {
    linear_of[slot(network.graph.ops()[op].output)] = static_cast<int>(op);
  }
  const auto& pairs = network.per_channel.counterparts;
  const auto count = static_cast<size_t>(request.samples);
  std::vector<std::vector<Sums>> sums(count, std::vector<Sums>(pairs.size()));
  std::vector<std::map<size_t, double>> added(count);
  for_each_pair(network.graph, network.per_channel, samples, request,
                [&](size_t sample, const std::vector<Tensor>& inputs, SideBySide& pair) {
                  pair.run(
                      inputs,
                      [&](size_t place, const Tensor& expected, const Tensor& codes) {
                        const ir::Type& type = network.per_channel.graph.type(pairs[place].integer);
                        sums[sample][place] = compare(expected, codes, *type.quant);
                      },
                      [&](const Op& op, const Tensor& operand, const Tensor& result) {
                        const int linear = linear_of[slot(op.output)];
                        if (linear < 0) return;
                        const auto at = static_cast<size_t>(linear);
                        added[sample][at] = noises.at(at).added(operand, result);
                      });
                });
  std::vector<Sums> total(pairs.size());
  for (const std::vector<Sums>& each : sums) {
    for (size_t i = 0; i < total.size(); ++i) total[i].add(each[i]);
  }
  const std::vector<double> factors = Factors(network, total).run();
  NoiseEstimate estimate;
  for (const auto& [op, noise] : noises) {
    double power = 0;
    for (const auto& each : added) power += each.at(op);
    estimate.increase_[op] = power * factors[slot(network.plan.ops[op].result)];
  }
  return estimate;
}

double NoiseEstimate::loss_db(const std::set<size_t>& linears) const {
  double increase = 0;
  for (const size_t op : linears) increase += increase_.at(op);
  return 10 * std::log10(1 + increase);
}

}  // namespace thimble::quant
