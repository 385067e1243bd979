// SPDX-License-Identifier: Apache-2.0
#include "quant/side_by_side.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <memory>

#include "quant/fast_float.h"
#include "quant/parallel.h"
#include "quant/simulate.h"

namespace thimble::quant {

using ir::Graph;
using ir::Op;
using ir::Tensor;

std::vector<Tensor> integer_inputs(const Graph& graph, std::vector<Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type& type = graph.type(graph.inputs()[i]);
    if (type.dtype == ir::DType::kF32 || !type.quant) continue;
    if (inputs[i].dtype != ir::DType::kF32) continue;  // the bytes of a sensor
    const bool wide = type.dtype == ir::DType::kI16;
    Params params = wide ? wide_params(type.quant->scale[0])
                         : Params{type.quant->scale[0], type.quant->zero_point[0]};
    if (type.dtype == ir::DType::kU8) {
      params.min = 0;
      params.max = UINT8_MAX;
    }
    Tensor codes = ir::zeros(type.dtype, type.shape);
    const auto reals = inputs[i].data<float>();
    for (size_t k = 0; k < reals.size(); ++k) {
      const int32_t code = params.code(static_cast<double>(reals[k]));
      if (wide) {
        codes.data<int16_t>()[k] = static_cast<int16_t>(code);
      } else if (type.dtype == ir::DType::kU8) {
        codes.data<uint8_t>()[k] = static_cast<uint8_t>(code);
      } else {
        codes.data<int8_t>()[k] = static_cast<int8_t>(code);
      }
    }
    inputs[i] = std::move(codes);
  }
  return inputs;
}

void Sums::add(const Sums& other) {
  count += other.count;
  reference += other.reference;
  squares += other.squares;
  noise += other.noise;
}

double Sums::signal() const {
  return count > 0 ? without_rounding(squares - reference * reference / count, squares) : 0;
}

namespace {

Sums compare_wide(const Tensor& reference, const Tensor& codes, const Params& params) {
  const auto expected = reference.data<float>();
  const auto got = codes.data<int16_t>();
  Sums sums;
  sums.count = static_cast<double>(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = static_cast<double>(expected[i]);
    const double error = value - params.real(got[i]);
    sums.reference += value;
    sums.squares += value * value;
    sums.noise += error * error;
  }
  return sums;
}

}  // namespace

Sums compare(const Tensor& reference, const Tensor& codes, const ir::Quant& quant) {
  const Params params{quant.scale[0], quant.zero_point[0]};
  if (codes.dtype == ir::DType::kI16) return compare_wide(reference, codes, params);
  std::array<double, 256> real{};
  for (int code = -128; code < 128; ++code) {
    real[static_cast<size_t>(code + 128)] = params.real(code);
  }
  const auto expected = reference.data<float>();
  const auto got = codes.data<int8_t>();
  Sums sums;
  sums.count = static_cast<double>(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = static_cast<double>(expected[i]);
    // A masked element has no number, so it has no error.
    if (value <= kMaskedMax && got[i] == -128 && real[0] > value / 2) continue;
    const double error = value - real[static_cast<size_t>(got[i] + 128)];
    sums.reference += value;
    sums.squares += value * value;
    sums.noise += error * error;
  }
  return sums;
}

double decibels(double signal, double noise) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!std::isfinite(signal) || !std::isfinite(noise)) return -kInfinity;
  if (!(signal > 0)) return std::numeric_limits<double>::quiet_NaN();
  if (!(noise > 0)) return kInfinity;
  return 10 * std::log10(signal / noise);
}

double without_rounding(double signal, double squares) {
  constexpr double kRounding = 1e-12;  // float32 values have a relative error of 6e-8
  return signal > kRounding * squares ? signal : 0;
}

SideBySide::SideBySide(const Graph& float_graph, const LoweredGraph& lowered)
    : lowered_(lowered),
      float_engine_(float_graph, float_kernels()),
      integer_engine_(lowered.graph, integer_kernels()),
      place_of_real_(float_graph.value_count(), -1),
      place_of_codes_(lowered.graph.value_count(), -1),
      references_(lowered.counterparts.size()) {
  for (size_t i = 0; i < lowered.counterparts.size(); ++i) {
    const Counterpart& pair = lowered.counterparts[i];
    place_of_real_[static_cast<size_t>(pair.real)] = static_cast<int>(i);
    place_of_codes_[static_cast<size_t>(pair.integer)] = static_cast<int>(i);
  }
}

void SideBySide::run(const std::vector<Tensor>& inputs, const Seen& seen,
                     const SeenLinear& seen_linear) {
  // The counterpart that the integer graph has computed, and its codes. Other values are copied
  // until they are compared.
  int awaited = -1;
  const Tensor* codes = nullptr;
  const auto keep = [&](const Op& op, const Tensor& result) {
    if (seen_linear && op.kind == ir::OpKind::linear) {
      seen_linear(op, float_engine_.value(op.inputs[0]), result);
    }
    const int place = place_of_real_[static_cast<size_t>(op.output)];
    if (place < 0) return;
    if (place == awaited) {
      seen(static_cast<size_t>(place), result, *codes);
      awaited = -1;
    } else {
      references_[static_cast<size_t>(place)] = result;
    }
  };
  // The float graph runs only as far as needed, so that few of its values are in memory.
  float_engine_.begin(inputs);
  integer_inputs_ = integer_inputs(lowered_.graph, inputs);
  integer_engine_.run(integer_inputs_, [&](const Op& op, const Tensor& result) {
    const int place = place_of_codes_[static_cast<size_t>(op.output)];
    if (place < 0) return;
    std::optional<Tensor>& reference = references_[static_cast<size_t>(place)];
    if (reference) {
      seen(static_cast<size_t>(place), *reference, result);
      reference.reset();
      return;
    }
    awaited = place;
    codes = &result;
    while (awaited >= 0 && float_engine_.step(keep)) {
    }
    assert(awaited < 0);
  });
  while (float_engine_.step(keep)) {
  }
  float_engine_.finish();
  for (std::optional<Tensor>& reference : references_) reference.reset();
}

void for_each_pair(
    const Graph& float_graph, const LoweredGraph& lowered, const Samples& samples,
    const QualityRequest& request,
    const std::function<void(size_t, const std::vector<Tensor>&, SideBySide&)>& body) {
  const int threads = thread_count(request.threads, request.samples, float_graph);
  std::vector<std::unique_ptr<SideBySide>> pairs;
  for (int i = 0; i < threads; ++i) {
    pairs.push_back(std::make_unique<SideBySide>(float_graph, lowered));
  }
  for_each_sample(request.samples, threads, request.progress, "measuring the SQNR",
                  [&](int64_t sample, int thread) {
                    body(static_cast<size_t>(sample), samples.sample(sample),
                         *pairs[static_cast<size_t>(thread)]);
                  });
}

}  // namespace thimble::quant
