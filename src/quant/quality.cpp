// SPDX-License-Identifier: Apache-2.0
#include "quant/quality.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>

#include "quant/fast_float.h"
#include "quant/parallel.h"
#include "quant/simulate.h"

namespace thimble::quant {
namespace {

using ir::Graph;
using ir::Tensor;
using ir::ValueId;

using Outputs = std::vector<std::vector<double>>;  // by sample

/// Returns the share of equal elements.
double share_equal(const Outputs& reference, const Outputs& got) {
  int64_t equal = 0, all = 0;
  for (size_t s = 0; s < reference.size(); ++s) {
    for (size_t i = 0; i < reference[s].size(); ++i) {
      equal += reference[s][i] == got[s][i] ? 1 : 0;
      all += 1;
    }
  }
  return all == 0 ? 1.0 : static_cast<double>(equal) / static_cast<double>(all);
}

/// Runs the graph on samples, in this order, until `take` returns false. `inputs_of` makes its
/// inputs from those of the float graph.
template <typename InputsOf>
void for_each_output(const Graph& graph, const KernelTable& kernels, const Samples& samples,
                     std::span<const int64_t> order, const QualityRequest& request,
                     InputsOf inputs_of,
                     const std::function<bool(size_t, std::vector<std::vector<double>>)>& take) {
  const auto count = static_cast<int64_t>(order.size());
  const int threads = thread_count(request.threads, count, graph);
  std::vector<std::unique_ptr<FastExecutor>> engines;
  for (int i = 0; i < threads; ++i) {
    engines.push_back(std::make_unique<FastExecutor>(graph, kernels));
  }
  std::atomic<bool> stopped = false;
  for_each_sample(count, threads, request.progress, "measuring the SQNR",
                  [&](int64_t place, int thread) {
                    if (stopped) return;
                    const int64_t sample = order[static_cast<size_t>(place)];
                    FastExecutor& engine = *engines[static_cast<size_t>(thread)];
                    const std::vector<Tensor> inputs = inputs_of(samples.sample(sample));
                    engine.run(inputs, {});
                    std::vector<std::vector<double>> outputs;
                    for (const ValueId id : graph.outputs()) {
                      outputs.push_back(real_values(engine.value(id), graph.type(id)));
                    }
                    if (!take(static_cast<size_t>(sample), std::move(outputs))) stopped = true;
                  });
}

template <typename InputsOf>
RealOutputs outputs_of(const Graph& graph, const KernelTable& kernels, const Samples& samples,
                       const QualityRequest& request, InputsOf inputs_of) {
  RealOutputs result(graph.outputs().size(), Outputs(static_cast<size_t>(request.samples)));
  std::vector<int64_t> order(static_cast<size_t>(request.samples));
  std::iota(order.begin(), order.end(), 0);
  for_each_output(graph, kernels, samples, order, request, inputs_of,
                  [&](size_t sample, std::vector<std::vector<double>> outputs) {
                    for (size_t i = 0; i < outputs.size(); ++i) {
                      result[i][sample] = std::move(outputs[i]);
                    }
                    return true;
                  });
  return result;
}

/// The sums of squares of one output, as output_decibels() adds them.
struct OutputSums {
  double signal = 0, noise = 0;
};
OutputSums output_sums(const Outputs& reference, const Outputs& got) {
  const size_t samples = reference.size();
  const size_t elements = reference[0].size();
  double signal = 0, noise = 0, total = 0, squares = 0;
  double unmasked = 0;  // elements, if there is one sample
  for (size_t i = 0; i < elements; ++i) {
    double sum = 0, count = 0;
    for (size_t s = 0; s < samples; ++s) {
      noise += square_of_error(reference[s][i], got[s][i]);
      if (is_masked_output(reference[s][i])) continue;
      sum += reference[s][i];
      ++count;
    }
    if (count == 0) continue;
    ++unmasked;
    const double mean = sum / count;
    for (size_t s = 0; s < samples; ++s) {
      if (is_masked_output(reference[s][i])) continue;
      const double centered = reference[s][i] - mean;
      signal += centered * centered;
      squares += reference[s][i] * reference[s][i];
    }
    total += sum;
  }
  // With one sample, the mean over samples equals the sample; the mean over its elements is used.
  if (samples == 1) signal = squares - total * total / std::max(unmasked, 1.0);
  return {without_rounding(signal, squares), noise};
}

}  // namespace

std::vector<double> real_values(const Tensor& tensor, const ir::Type& type) {
  std::vector<double> result;
  if (!type.quant) {
    const auto count = static_cast<size_t>(ir::element_count(tensor.shape));
    for (size_t i = 0; i < count; ++i) result.push_back(element(tensor, i));
    return result;
  }
  const Params params{type.quant->scale[0], type.quant->zero_point[0]};
  const auto count = static_cast<size_t>(ir::element_count(tensor.shape));
  for (size_t i = 0; i < count; ++i) {
    result.push_back(params.real(static_cast<int64_t>(element(tensor, i))));
  }
  return result;
}

double output_decibels(const std::vector<std::vector<double>>& reference,
                       const std::vector<std::vector<double>>& got) {
  const OutputSums sums = output_sums(reference, got);
  return decibels(sums.signal, sums.noise);
}

double output_signal(const std::vector<std::vector<double>>& reference) {
  return output_sums(reference, reference).signal;
}

RealOutputs float_outputs(const Graph& graph, const Samples& samples,
                          const QualityRequest& request) {
  return outputs_of(graph, float_kernels(), samples, request,
                    [](std::vector<Tensor> inputs) { return inputs; });
}

RealOutputs integer_outputs(const Graph& graph, const Samples& samples,
                            const QualityRequest& request) {
  return outputs_of(graph, integer_kernels(), samples, request, [&](std::vector<Tensor> inputs) {
    return integer_inputs(graph, std::move(inputs));
  });
}

void for_each_integer_output(
    const Graph& graph, const Samples& samples, std::span<const int64_t> order,
    const QualityRequest& request,
    const std::function<bool(size_t, std::vector<std::vector<double>>)>& take) {
  for_each_output(
      graph, integer_kernels(), samples, order, request,
      [&](std::vector<Tensor> inputs) { return integer_inputs(graph, std::move(inputs)); }, take);
}

Quality measure_quality(const Graph& float_graph, const LoweredGraph& lowered,
                        const Samples& samples, const QualityRequest& request) {
  const size_t count = static_cast<size_t>(request.samples);
  const size_t outputs = float_graph.outputs().size();
  std::vector<std::vector<Sums>> sums(count, std::vector<Sums>(lowered.counterparts.size()));
  std::vector<Outputs> reference(outputs, Outputs(count)), got(outputs, Outputs(count));
  for_each_pair(float_graph, lowered, samples, request,
                [&](size_t sample, const std::vector<Tensor>& inputs, SideBySide& pair) {
                  pair.run(inputs, [&](size_t place, const Tensor& expected, const Tensor& codes) {
                    const ValueId id = lowered.counterparts[place].integer;
                    sums[sample][place] = compare(expected, codes, *lowered.graph.type(id).quant);
                  });
                  const auto float_outputs = pair.float_outputs();
                  const auto integer_outputs = pair.integer_outputs();
                  for (size_t i = 0; i < outputs; ++i) {
                    reference[i][sample] = real_values(float_outputs[i], {});
                    got[i][sample] = real_values(integer_outputs[i],
                                                 lowered.graph.type(lowered.graph.outputs()[i]));
                  }
                });
  Quality quality;
  for (size_t place = 0; place < lowered.counterparts.size(); ++place) {
    Sums total;
    for (size_t sample = 0; sample < count; ++sample) total.add(sums[sample][place]);
    quality.op_db.push_back(decibels(total.signal(), total.noise));
  }
  for (size_t i = 0; i < outputs; ++i) {
    quality.output_db.push_back(output_decibels(reference[i], got[i]));
    const bool real = float_graph.type(float_graph.outputs()[i]).dtype == ir::DType::kF32;
    quality.output_agreement.push_back(real ? std::nullopt
                                            : std::optional(share_equal(reference[i], got[i])));
  }
  return quality;
}

}  // namespace thimble::quant
