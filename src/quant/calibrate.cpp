// SPDX-License-Identifier: Apache-2.0
#include "quant/calibrate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>

#include "base/cancel.h"
#include "base/parallel.h"
#include "quant/fast_float.h"
#include "quant/masked.h"
#include "quant/parallel.h"
#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::DType;
using ir::Graph;
using ir::Tensor;
using ir::ValueId;

double element(const Tensor& tensor, size_t index) {
  switch (tensor.dtype) {
    case DType::kF32:
      return static_cast<double>(tensor.data<float>()[index]);
    case DType::kI8:
      return tensor.data<int8_t>()[index];
    case DType::kU8:
    case DType::kBool:
      return tensor.data<uint8_t>()[index];
    case DType::kI16:
      return tensor.data<int16_t>()[index];
    case DType::kI32:
      return tensor.data<int32_t>()[index];
    case DType::kI64:
      return static_cast<double>(tensor.data<int64_t>()[index]);
  }
  return 0;
}

namespace {

void set_element(Tensor& tensor, size_t index, double value) {
  switch (tensor.dtype) {
    case DType::kF32:
      tensor.data<float>()[index] = static_cast<float>(value);
      return;
    case DType::kI8:
      tensor.data<int8_t>()[index] = static_cast<int8_t>(value);
      return;
    case DType::kU8:
    case DType::kBool:
      tensor.data<uint8_t>()[index] = static_cast<uint8_t>(value);
      return;
    case DType::kI16:
      tensor.data<int16_t>()[index] = static_cast<int16_t>(value);
      return;
    case DType::kI32:
      tensor.data<int32_t>()[index] = static_cast<int32_t>(value);
      return;
    case DType::kI64:
      tensor.data<int64_t>()[index] = static_cast<int64_t>(value);
      return;
  }
}

/// Returns the range of integers of this type that a double represents exactly.
std::pair<double, double> whole_range(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kI8:
      return {-0x1p7, 0x1p7 - 1};
    case DType::kU8:
      return {0, 0x1p8 - 1};
    case DType::kI16:
      return {-0x1p15, 0x1p15 - 1};
    case DType::kI32:
      return {-0x1p31, 0x1p31 - 1};
    default:
      return {-0x1p53, 0x1p53};
  }
}

/// Returns the number of samples in the array for an input of this shape; 0 if the shapes differ.
int64_t sample_count(const ir::Shape& input, const ir::Shape& data) {
  const auto ends_with = [&](const ir::Shape& tail) {
    return data.size() == tail.size() + 1 && std::equal(tail.begin(), tail.end(), data.begin() + 1);
  };
  if (ends_with(input)) return data[0];
  if (input.empty()) return 0;
  return ends_with({input.begin() + 1, input.end()}) ? data[0] / input[0] : 0;
}

/// For an integer input: checks that every element is in the range of the input type.
Status check_whole_elements(const CalibrationInput& input, DType dtype, int64_t per_sample,
                            int64_t samples) {
  const auto [low, high] = whole_range(dtype);
  for (int64_t i = 0; i < per_sample * samples; ++i) {
    const double value = element(input.data, static_cast<size_t>(i));
    if (value >= low && value <= high && value == std::floor(value)) continue;
    return bad_input("calibration data: {}: sample {}, element {} is {}, the input is {}",
                     input.name, i / per_sample, i % per_sample, value, ir::dtype_name(dtype));
  }
  return ok();
}

/// Checks that every element is finite and exact in float32.
Status check_elements(const CalibrationInput& input, int64_t per_sample, int64_t samples) {
  const int64_t count = per_sample * samples;
  for (int64_t i = 0; i < count; ++i) {
    const double value = element(input.data, static_cast<size_t>(i));
    const double single = static_cast<double>(static_cast<float>(value));
    if (std::isfinite(value) && single == value) continue;
    const std::string place = fmt::format("calibration data: {}: sample {}, element {}", input.name,
                                          i / per_sample, i % per_sample);
    if (std::isnan(value)) return bad_input("{} is nan", place);
    if (std::isinf(value)) return bad_input("{} is {}", place, value > 0 ? "inf" : "-inf");
    return bad_input("{} is {}, which float32 cannot represent exactly", place, value);
  }
  return ok();
}

/// The first activation that is not finite, ordered by sample, then by operator.
struct NotFinite {
  int64_t sample = INT64_MAX;
  ValueId value = ir::kNoValue;
};

Error not_finite(const Graph& graph, const NotFinite& found) {
  for (const ir::Op& op : graph.ops()) {
    if (op.output != found.value) continue;
    return ir::located(
        op.source, op.kind,
        unsupported(
            "the result (%{}) is not finite on calibration sample {}, and integers have no "
            "infinity: use a number like -1e9 in place of -inf, argmax of the negated values "
            "in place of argmin, or clamp the operands",
            graph.value(found.value).name, found.sample));
  }
  return bad_input("calibration data: {}: sample {} is not finite", graph.value(found.value).name,
                   found.sample);
}

/// Channel means of one sample, by value.
using Means = std::vector<std::vector<double>>;

float plane_sum(const float* x, int64_t count) {
  constexpr int64_t kLanes = 16;  // independent partial sums, which the compiler can vectorize
  float lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += x[i + lane];
  }
  for (; i < count; ++i) lanes[0] += x[i];
  return std::accumulate(lanes, lanes + kLanes, 0.0F);
}

/// Returns the mean for each index of `dim`.
std::vector<double> means_along(const Tensor& value, size_t dim) {
  const size_t channels = static_cast<size_t>(value.shape[dim]);
  const std::vector<int64_t> steps = ir::strides(value.shape, {});
  const size_t plane = static_cast<size_t>(steps[dim]);
  const auto x = value.data<float>();
  std::vector<double> sums(channels, 0);
  for (size_t i = 0; i < x.size() / plane; ++i) {
    sums[i % channels] +=
        static_cast<double>(plane_sum(x.data() + i * plane, static_cast<int64_t>(plane)));
  }
  const size_t count = x.size() / channels;
  for (double& sum : sums) sum /= static_cast<double>(count);
  return sums;
}

/// The observations of one thread.
class Observation {
 public:
  Observation(const Graph& graph, const std::vector<ValueId>& observed, Histogram::Detail detail,
              OperandRows* rows, const std::vector<ValueId>& binned)
      : graph_(graph),
        rows_(rows),
        engine_(graph, float_kernels()),
        detail_(graph.value_count(), detail),
        wanted_(graph.value_count(), false),
        histograms_(graph.value_count()),
        channel_dim_(graph.value_count(), -1),
        mask_limits_(mask_limits(graph)) {
    for (const ValueId id : observed) wanted_[static_cast<size_t>(id)] = true;
    for (const ValueId id : binned) detail_[static_cast<size_t>(id)] = Histogram::Detail::kBins;
    for (const ir::Op& op : graph.ops()) {
      if (!has_trait(op.kind, trait::kConstantWeights)) continue;
      const int last = static_cast<int>(graph.type(op.inputs[0]).shape.size()) - 1;
      channel_dim_[static_cast<size_t>(op.inputs[0])] = op.kind == ir::OpKind::linear ? last : 1;
    }
  }

  /// Runs one sample. Fills `means` unless it is empty.
  void run(int64_t sample, const std::vector<Tensor>& inputs, Means& means) {
    for (size_t i = 0; i < graph_.states().size(); ++i) {
      see(sample, graph_.states()[i].value, engine_.state()[i], means);
    }
    for (size_t i = 0; i < inputs.size(); ++i) see(sample, graph_.inputs()[i], inputs[i], means);
    engine_.run(inputs, [&](const ir::Op& op, const Tensor& result) {
      see(sample, op.output, result, means);
      if (rows_ == nullptr || !has_trait(op.kind, trait::kConstantWeights)) return;
      rows_->add(graph_, static_cast<size_t>(&op - graph_.ops().data()), sample,
                 engine_.value(op.inputs[0]));
    });
  }

  [[nodiscard]] const std::vector<Histogram>& histograms() const { return histograms_; }
  [[nodiscard]] const NotFinite& not_finite() const { return not_finite_; }

 private:
  void see(int64_t sample, ValueId id, const Tensor& value, Means& means) {
    const size_t index = static_cast<size_t>(id);
    if (channel_dim_[index] >= 0 && !means.empty()) {
      means[index] = means_along(value, static_cast<size_t>(channel_dim_[index]));
    }
    if (!wanted_[index] || histograms_[index].add(unmasked(index, value), detail_[index])) return;
    if (sample < not_finite_.sample) not_finite_ = {sample, id};
  }

  /// Returns the elements that determine the range: all except masked elements.
  std::span<const float> unmasked(size_t index, const Tensor& value) {
    const auto all = value.data<float>();
    const double limit = mask_limits_[index];
    if (std::isnan(limit)) return all;
    const auto is_masked = [&](float x) { return static_cast<double>(x) <= limit; };
    if (std::none_of(all.begin(), all.end(), is_masked)) return all;
    histograms_[index].mark_masked();
    unmasked_.clear();
    std::remove_copy_if(all.begin(), all.end(), std::back_inserter(unmasked_), is_masked);
    return unmasked_;
  }

  const Graph& graph_;
  OperandRows* const rows_;  // may be null
  FastExecutor engine_;
  std::vector<Histogram::Detail> detail_;  // by value
  std::vector<bool> wanted_;
  std::vector<Histogram> histograms_;
  std::vector<int> channel_dim_;     // by value; -1 if channel means are not needed
  std::vector<double> mask_limits_;  // by value: mask_limits()
  std::vector<float> unmasked_;
  NotFinite not_finite_;
};

/// Returns the mean over samples. Samples are added in order.
Means average(const std::vector<Means>& by_sample) {
  Means total = by_sample[0];
  for (size_t sample = 1; sample < by_sample.size(); ++sample) {
    for (size_t id = 0; id < total.size(); ++id) {
      for (size_t c = 0; c < total[id].size(); ++c) total[id][c] += by_sample[sample][id][c];
    }
  }
  for (auto& means : total) {
    for (double& mean : means) mean /= static_cast<double>(by_sample.size());
  }
  return total;
}

}  // namespace

Result<Samples> Samples::check(const Graph& graph, const CalibrationData& data) {
  if (data.inputs.size() != graph.inputs().size()) {
    return bad_input("calibration data: {} arrays, expected {}, one per input", data.inputs.size(),
                     graph.inputs().size());
  }
  Samples samples;
  samples.graph_ = &graph;
  samples.data_ = &data;
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    const CalibrationInput& input = data.inputs[i];
    const ir::Shape& shape = graph.type(graph.inputs()[i]).shape;
    const int64_t count = sample_count(shape, input.data.shape);
    if (count < 1) {
      return bad_input("calibration data: {} is {}, expected samples of {}", input.name,
                       ir::type_text(input.data.dtype, input.data.shape), ir::list_text(shape));
    }
    if (i > 0 && count != samples.count_) {
      return bad_input("calibration data: {} has {} samples, {} has {}", input.name, count,
                       data.inputs[0].name, samples.count_);
    }
    samples.count_ = count;
    const DType dtype = graph.type(graph.inputs()[i]).dtype;
    const int64_t per_sample = ir::element_count(shape);
    THIMBLE_CHECK(dtype == DType::kF32 ? check_elements(input, per_sample, count)
                                       : check_whole_elements(input, dtype, per_sample, count));
  }
  if (data.inputs.empty()) samples.count_ = 1;
  return samples;
}

std::vector<Tensor> Samples::sample(int64_t index) const {
  std::vector<Tensor> result;
  for (size_t i = 0; i < data_->inputs.size(); ++i) {
    const Tensor& data = data_->inputs[i].data;
    const ir::Type& type = graph_->type(graph_->inputs()[i]);
    Tensor tensor = ir::zeros(type.dtype, type.shape);
    const size_t count = static_cast<size_t>(type.elements());
    const size_t first = static_cast<size_t>(index) * count;
    if (data.dtype == type.dtype) {
      const size_t width = ir::dtype_bytes(type.dtype);
      std::memcpy(tensor.bytes.data(), data.bytes.data() + first * width, count * width);
    } else {
      for (size_t k = 0; k < count; ++k) set_element(tensor, k, element(data, first + k));
    }
    result.push_back(std::move(tensor));
  }
  return result;
}

Result<Observations> calibrate(const Graph& graph, const Samples& samples,
                               const std::vector<ValueId>& observed, Histogram::Detail detail,
                               int threads, const ProgressFunction& progress, OperandRows* rows,
                               const std::vector<ValueId>& binned) {
  constexpr int64_t kMeanSamples = 64;  // means converge quickly and need memory per sample
  const int used = thread_count(threads, samples.count(), graph);
  std::vector<std::unique_ptr<Observation>> parts;
  for (int i = 0; i < used; ++i) {
    parts.push_back(std::make_unique<Observation>(graph, observed, detail, rows, binned));
  }
  std::vector<Means> means(static_cast<size_t>(std::min(samples.count(), kMeanSamples)),
                           Means(graph.value_count()));
  for_each_sample(samples.count(), used, progress, "calibrating", [&](int64_t sample, int thread) {
    if (is_cancelled()) return;
    Means none;
    const bool wanted = sample < static_cast<int64_t>(means.size());
    parts[static_cast<size_t>(thread)]->run(sample, samples.sample(sample),
                                            wanted ? means[static_cast<size_t>(sample)] : none);
  });
  THIMBLE_CHECK(check_cancelled());
  NotFinite first;
  Observations result{std::vector<Histogram>(graph.value_count()), average(means)};
  for (const auto& part : parts) {
    if (part->not_finite().sample < first.sample) first = part->not_finite();
    for (const ValueId id : observed) {
      result.histograms[static_cast<size_t>(id)].merge(part->histograms()[static_cast<size_t>(id)]);
    }
  }
  if (first.value != ir::kNoValue) return not_finite(graph, first);
  for (const ValueId id : observed) {
    // A graph input has the range of its format or sensor, so its range is not extrapolated.
    if (graph.is_input(id)) continue;
    result.histograms[static_cast<size_t>(id)].extrapolate(static_cast<uint64_t>(samples.count()));
  }
  for (const ir::Op& op : graph.ops()) {
    Histogram& histogram = result.histograms[static_cast<size_t>(op.output)];
    if (op.kind == ir::OpKind::clamp) {
      histogram.limit(op.get(ir::attr::float_min), op.get(ir::attr::float_max));
    }
    if (op.kind == ir::OpKind::sigmoid) histogram.limit(0, 1);
    if (op.kind == ir::OpKind::tanh) histogram.limit(-1, 1);
  }
  return result;
}

}  // namespace thimble::quant
